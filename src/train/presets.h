#pragma once

#include <string>

#include "dgat/train/config.h"

/// Defaults that depend on the recipe and on the data set.
namespace dgat::train {

/// Recipe `classic`: the setting of the paper's synthetic graphs (two layers, 8 heads of 8,
/// Adam with L2).
Settings classic_defaults();

/// The paper's hyper-parameters of DGAT for its nine small data sets (table "Hyperparameters of
/// DGAT on geom datasets"); empty for any other name.
Settings paper_preset(const std::string& dataset);

}  // namespace dgat::train
