#pragma once

#include "dgat/data/dataset.h"

namespace dgat::test {

/// Equal in everything a generator makes.
inline bool same_dataset(const data::Dataset& a, const data::Dataset& b) {
  return a.graph == b.graph && a.labels == b.labels && a.classes == b.classes &&
         a.features == b.features && a.splits == b.splits;
}

}  // namespace dgat::test
