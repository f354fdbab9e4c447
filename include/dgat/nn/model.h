#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dgat/nn/graph_input.h"
#include "dgat/nn/options.h"
#include "dgat/nn/parameters.h"
#include "dgat/tensor/ops.h"

/// A model is a forward function over the tape plus named parameters.
namespace dgat::nn {

/// Intermediate results that a forward pass can keep for inspection.
template <class T>
struct Inspection {
  std::vector<tensor::Matrix<T>> attention;  ///< per attention layer: [arcs, heads]
  tensor::Matrix<T> embeddings;              ///< what the last linear map reads, [nodes, width]
};

/// A matrix that is part of a model's state but not trained (running means).
template <class T>
struct NamedBuffer {
  std::string name;
  tensor::Matrix<T>* values;
};

/// Base of all models. Templated so that gradients can be checked in double; training uses float.
///
/// To add one: derive in src/nn/baselines/, declare parameters in the constructor, write forward(),
/// and add one line to src/nn/model_list.cpp (docs/add-a-baseline.md).
template <class T>
class Model {
 public:
  explicit Model(ModelOptions options) : options_(std::move(options)), parameters_(options_.seed) {}
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Called once before the first forward pass on an input: the place to precompute what depends on
  /// the graph and not on parameters. Large parts that are the same for every split go through
  /// input.precomputed.
  virtual void prepare(const GraphInput<T>& /*input*/) {}

  /// Logits [nodes, options().outputs()]. Dropout acts when the tape is in training. Otherwise the
  /// pass must leave the model as it is: a training pass may run at the same time.
  virtual tensor::Var<T> forward(tensor::Tape<T>& tape, const GraphInput<T>& input,
                                 Inspection<T>* inspection = nullptr) = 0;

  /// The logits of some nodes only, [rows.size(), options().outputs()]: what the loss of a training
  /// step reads. A model may leave out what they do not depend on; this one picks them at the end.
  virtual tensor::Var<T> forward_rows(tensor::Tape<T>& tape, const GraphInput<T>& input,
                                      std::span<const int32_t> rows) {
    return tensor::gather_rows(tape, forward(tape, input), rows);
  }

  /// The logits of all nodes, [nodes, options().outputs()], outside training. `parts` are lists of
  /// increasing nodes; every node is in one. A model may go through them one after another in every
  /// layer, so that beside the input and the output of the layer only the values of one part are in
  /// memory; this one does not. The numbers are those of forward() up to the rounding of products
  /// of other sizes.
  virtual tensor::Matrix<T> forward_by_parts(tensor::Tape<T>& tape, const GraphInput<T>& input,
                                             const std::vector<std::vector<int32_t>>& /*parts*/) {
    return forward(tape, input).value().clone();
  }

  /// A term added to the loss, 1 x 1, or an empty Var; called after forward_rows() on the same tape
  /// in training. (tape.options().step says which step this is, for schedules.)
  virtual tensor::Var<T> auxiliary_loss(tensor::Tape<T>& /*tape*/, const GraphInput<T>& /*input*/) {
    return {};
  }

  /// Models that train in two stages: the share of the steps that belongs to the first one. There
  /// pretraining() is true and forward() gives the logits of that stage, which loss and
  /// evaluation then use; patience counts from the second stage.
  virtual double pretraining_share() const { return 0; }
  /// Called between the stages, when the weights of the best step of pre-training are in place:
  /// may set parameters from what they predict. The second stage starts with a fresh optimiser, and
  /// only its steps can be the best one of the run.
  virtual void end_pretraining(const GraphInput<T>& /*input*/) {}
  bool pretraining() const { return pretraining_; }
  void set_pretraining(bool on) { pretraining_ = on; }

  virtual std::vector<NamedBuffer<T>> buffers() { return {}; }

  const ModelOptions& options() const { return options_; }
  ParameterSet<T>& parameters() { return parameters_; }
  const ParameterSet<T>& parameters() const { return parameters_; }

 private:
  ModelOptions options_;
  ParameterSet<T> parameters_;
  bool pretraining_ = false;
};

}  // namespace dgat::nn
