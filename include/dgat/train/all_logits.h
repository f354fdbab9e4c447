#pragma once

#include "dgat/nn/model.h"
#include "dgat/train/config.h"

namespace dgat::train {

/// The logits of all nodes of an input (on ranks: of this rank's), outside training. An input with
/// cells is gone through part by part, as many cells at a time as a step reads
/// (Model::forward_by_parts()). What evaluates, predicts or verifies a network calls this, so that
/// all see the same bits. Needs: a model prepared for this input.
tensor::Var<float> all_logits(tensor::Tape<float>& tape, nn::Model<float>& model,
                              const nn::GraphInput<float>& input, const Config& config);

}  // namespace dgat::train
