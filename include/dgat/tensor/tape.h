#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dgat/tensor/matrix.h"

/// A model is a forward function over Vars. Operations (ops.h, sparse.h, edge_ops.h, attention.h,
/// loss.h) compute their value at once and leave a note on the tape; backward() walks the notes in
/// reverse and adds to Parameter::grad.
///
///   tape.begin({.training = true, .seed = 7, .step = 12});
///   Var<float> loss = ...;             // forward
///   tape.backward(loss);               // parameter.grad filled; every intermediate released
namespace dgat::tensor {

/// A named matrix that is trained.
template <class T>
struct Parameter {
  std::string name;                        ///< as in the weight file, "layers.0.lin.weight"
  Matrix<T> value, grad;                   ///< grad is valid when has_grad
  bool weight_decay = true;                ///< false for biases and norms
  double lr_scale = 1;                     ///< times AdamOptions::lr
  std::optional<double> own_weight_decay;  ///< instead of AdamOptions::weight_decay
  bool transposed = false;                 ///< value is the transpose of what a weight file holds
  bool has_grad = false;  ///< false: the next gradient overwrites instead of adding
  void clear_grad() { has_grad = false; }
};

/// A value in flight: a cheap handle, shared. Its matrix lives as long as a Var or a later
/// operation's backward step needs it; so `x = op(tape, x)` frees the old x as early as possible,
/// and without training every intermediate goes when its last Var does.
template <class T>
class Var {
 public:
  Var() = default;
  const Matrix<T>& value() const { return *content_->view; }
  int64_t rows() const { return value().rows(); }
  int64_t cols() const { return value().cols(); }
  explicit operator bool() const { return content_ != nullptr; }
  /// Where its gradient goes on the tape; negative when none is wanted.
  int32_t slot() const { return content_ ? content_->slot : -1; }
  bool wants_gradient() const { return slot() >= 0; }

 private:
  template <class>
  friend class Tape;
  struct Content {
    Matrix<T> own;
    const Matrix<T>* view = nullptr;
    int32_t slot = -1;
  };
  std::shared_ptr<Content> content_;
};

struct TapeOptions {
  bool training = false;  ///< record for backward(), and let dropout drop
  uint64_t seed = 0;      ///< dropout masks are a function of (seed, step, operation, position)
  uint64_t step = 0;
};

template <class T>
class Tape {
 public:
  Tape() = default;
  explicit Tape(const TapeOptions& options) { begin(options); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Forgets what was recorded and starts a new pass.
  void begin(const TapeOptions& options);
  bool training() const { return options_.training; }
  const TapeOptions& options() const { return options_; }

  Var<T> constant(Matrix<T> value);           ///< owned by the result
  Var<T> reference(const Matrix<T>& value);   ///< not copied: must outlive every use
  Var<T> parameter(Parameter<T>& parameter);  ///< not copied; receives a gradient

  /// Adds d(loss)/d(parameter) to every parameter the loss depends on. Notes and the values they
  /// hold are released one by one on the way. Needs: loss is 1 x 1, recorded in training mode.
  void backward(const Var<T>& loss);

  // For operations ------------------------------------------------------------------------------

  /// Wraps a result. `backward(tape, gradient)` is kept only when training and one of the inputs
  /// wants a gradient; it receives d(loss)/d(value), may overwrite it, and calls accumulate() or
  /// target() once per input slot. Capture Vars only if their values are needed.
  template <class Backward>
  Var<T> record(Matrix<T> value, std::initializer_list<Var<T>> inputs, Backward backward) {
    return record(constant(std::move(value)), inputs, std::move(backward));
  }
  /// The same for a result made by constant(), which `backward` may hold too.
  template <class Backward>
  Var<T> record(Var<T> result, std::initializer_list<Var<T>> inputs, Backward backward) {
    if (!records(inputs)) return result;
    attach(result, std::make_unique<NoteOf<Backward>>(std::move(backward)));
    return result;
  }
  /// Whether record() would keep a note for these inputs.
  bool records(std::initializer_list<Var<T>> inputs) const;

  /// Adds a gradient to a slot; nothing happens when slot < 0.
  void accumulate(int32_t slot, Matrix<T> gradient);
  /// The slot's gradient for adding in place. `fresh`: entries are not set yet, so overwrite.
  struct Target {
    Matrix<T>& gradient;
    bool fresh;
  };
  Target target(int32_t slot, int64_t rows, int64_t cols);

  /// A stream number for Philox(options().seed, stream): one per random operation of a pass.
  uint64_t next_random_stream() { return (options_.step << 16) + random_operations_++; }

 private:
  struct Note {
    virtual ~Note() = default;
    virtual void run(Tape& tape, Matrix<T> gradient) = 0;
  };
  template <class Backward>
  struct NoteOf final : Note {
    explicit NoteOf(Backward f) : function(std::move(f)) {}
    void run(Tape& tape, Matrix<T> gradient) override { function(tape, std::move(gradient)); }
    Backward function;
  };
  struct Entry {
    std::unique_ptr<Note> note;  // null for a parameter
    Parameter<T>* parameter = nullptr;
    Matrix<T> gradient;
  };
  void attach(Var<T>& result, std::unique_ptr<Note> note);

  TapeOptions options_;
  uint64_t random_operations_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace dgat::tensor
