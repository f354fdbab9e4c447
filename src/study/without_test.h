#pragma once

#include "dgat/data/dataset.h"

namespace dgat::study {

/// The data set without its test parts: what searches see, so that test labels choose nothing.
inline data::Dataset without_test(const data::Dataset& dataset) {
  data::Dataset copy = dataset;
  for (data::Split& split : copy.splits) split.test.clear();
  return copy;
}

}  // namespace dgat::study
