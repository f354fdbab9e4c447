#pragma once

#include <string>

#include "dgat/train/config.h"

/// Defaults that depend on the recipe, on the data set and on its size.
namespace dgat::train {

/// Recipe `classic`: the setting of the paper's synthetic graphs (two layers, 8 heads of 8,
/// Adam with L2).
Settings classic_defaults();

/// Recipe `deep`: the middle of what tuned classic networks use (Luo, Shi and Wu 2024).
Settings deep_defaults();

/// The paper's hyper-parameters of DGAT for its nine small data sets (table "Hyperparameters of
/// DGAT on geom datasets", the printed hidden sizes taken as those of one head) with the rewiring
/// that they were printed for; empty for any other name.
Settings paper_values(const std::string& dataset);

/// `auto` is paper for data sets of the catalogue and where the size is not known, otherwise quick.
Preset preset_for(Preset asked, const DataFacts& data);
/// Width, depth and rates of a preset. The defaults of a model or a recipe replace them.
Settings preset_shape(Preset preset, const DataFacts& data);
/// Steps, patience and number of splits of a preset, for every model and recipe.
Settings preset_budget(Preset preset, const DataFacts& data);

}  // namespace dgat::train
