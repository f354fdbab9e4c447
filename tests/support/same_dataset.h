#pragma once

#include <gtest/gtest.h>

#include "dgat/data/dataset.h"

namespace dgat::test {

/// Expects all but the name to be the same: what a format that keeps everything gives back.
inline void expect_same(const data::Dataset& after, const data::Dataset& before) {
  EXPECT_EQ(after.graph, before.graph);
  EXPECT_EQ(after.features, before.features);
  EXPECT_EQ(after.labels, before.labels);
  EXPECT_EQ(after.classes, before.classes);
  EXPECT_EQ(after.splits, before.splits);
  EXPECT_EQ(after.node_ids, before.node_ids);
  EXPECT_EQ(after.class_names, before.class_names);
  EXPECT_EQ(after.feature_names, before.feature_names);
}

}  // namespace dgat::test
