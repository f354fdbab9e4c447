#include "over_ranks.h"

#include "dgat/core/error.h"
#include "dgat/nn/registry.h"

namespace dgat::train {

void check_over_ranks(const Config& config) {
  if (!nn::find_model(config.model).over_ranks) {
    std::string names;
    for (const nn::ModelInfo& model : nn::all_models()) {
      if (model.over_ranks) names += (names.empty() ? "" : ", ") + model.name;
    }
    throw_input("train: several ranks cannot train {}; run it on one rank, or choose one of {}",
                config.model, names);
  }
  // Masks of dropout are made for 64 numbers at a time; the rows of a rank are multiples of 16.
  if (config.hidden % 4 != 0) {
    throw_input("train: on several ranks --hidden is a multiple of 4, got {}", config.hidden);
  }
}

}  // namespace dgat::train
