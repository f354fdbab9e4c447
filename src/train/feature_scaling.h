#pragma once

#include <string>

#include "dgat/data/features.h"
#include "dgat/train/config.h"

namespace dgat::train {

/// The features as Config::feature_scaling says that models see them:
///   raw          as they are
///   row-sum      every row divided by its sum; rows that sum to 0 stay. Sparse features stay
///   sparse.
///                With a negative value anywhere this is not defined: raw, and a notice says so.
///   standardise  every column minus its mean, over its standard deviation, both over all nodes of
///                this graph (labels are not looked at); constant columns become 0.
/// Throws: InputError for standardise on sparse features (it would fill them); `name` is the data
///         set's.
data::Features scaled_features(const data::Features& features, FeatureScaling scaling,
                               const std::string& name);

}  // namespace dgat::train
