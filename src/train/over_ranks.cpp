#include "over_ranks.h"

#include "dgat/core/error.h"
#include "dgat/nn/registry.h"

namespace dgat::train {

void check_over_ranks(const Config& config) {
  // Masks of fused dropout, which the recipes have, are made for 64 numbers at a time; the rows of
  // a rank are multiples of 16.
  if (!nn::find_model(config.model).own_recipe && config.hidden % 4 != 0) {
    throw_input("train: on several ranks --hidden is a multiple of 4, got {}", config.hidden);
  }
}

}  // namespace dgat::train
