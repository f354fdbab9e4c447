#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dgat/dist/rows.h"
#include "dgat/tensor/matrix.h"
#include "dgat/tensor/precision.h"
#include "dgat/tensor/profile.h"

/// A model is a forward function over Vars. Operations (ops.h, sparse.h, edge_ops.h, attention.h,
/// loss.h) compute their value at once and record a note with their backward step on the tape.
/// backward() runs the notes in reverse order and adds to Parameter::grad. Both stop at Ctrl-C.
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

/// A shared handle of an intermediate value. Its matrix exists as long as a Var or a later backward
/// step needs it, so `x = op(tape, x)` frees the old x as early as possible. Without training,
/// every intermediate is freed with its last Var.
///
/// With TapeOptions::save_memory, a value that can be computed again (Tape::record with `make`) is
/// freed when the last Var that holds it is gone, and made again for a backward step that captured
/// `x.for_backward()`. It has the same bits then.
template <class T>
class Var {
 public:
  Var() = default;
  /// Makes a freed value again. So a backward step that reads it in a parallel loop calls this once
  /// before.
  const Matrix<T>& value() const {
    if (content_->view == nullptr) content_->make_again();
    return *content_->view;
  }
  int64_t rows() const {
    return content_->view != nullptr ? content_->view->rows() : content_->rows;
  }
  int64_t cols() const {
    return content_->view != nullptr ? content_->view->cols() : content_->cols;
  }
  explicit operator bool() const { return content_ != nullptr; }
  /// Position of its gradient on the tape; negative when none is needed.
  int32_t slot() const { return content_ ? content_->slot : -1; }
  bool wants_gradient() const { return slot() >= 0; }
  /// Which of its rows are on this rank; none when all are.
  const dist::RowShare& share() const { return content_->share; }
  int64_t all_rows() const { return share() ? share().all() : rows(); }  ///< on all ranks together
  /// Marks the value as whole on every rank, which a sum over all rows is.
  Var whole() && {
    content_->share = {};
    return std::move(*this);
  }
  /// The same value without keeping it in memory: for a backward step that can wait until it is
  /// made again.
  Var for_backward() const {
    Var result;
    result.content_ = content_;
    return result;
  }
  /// Frees a value that can be made again; for the backward pass, where nothing else reads it.
  void forget() const { content_->forget(); }

 private:
  template <class>
  friend class Tape;
  struct Content {
    Matrix<T> own;
    const Matrix<T>* view = nullptr;  // null: freed
    int32_t slot = -1;
    dist::RowShare share;
    std::function<Matrix<T>()> make;  // empty: it cannot be made again
    int64_t rows = 0, cols = 0;       // of a freed value

    void forget() {
      if (!make || view == nullptr) return;
      rows = own.rows();
      cols = own.cols();
      view = nullptr;
      own = Matrix<T>();
    }
    void make_again() {
      own = make();
      view = &own;
    }
  };
  /// From now on the value is freed with the last Var made from this one by copying.
  void free_early(std::function<Matrix<T>()> make) {
    content_->make = std::move(make);
    holder_ = std::shared_ptr<void>(nullptr, [content = content_](void*) { content->forget(); });
  }
  std::shared_ptr<Content> content_;
  std::shared_ptr<void> holder_;  // its end frees a value that can be made again
};

struct TapeOptions {
  bool training = false;  ///< record for backward(), and apply dropout
  uint64_t seed = 0;      ///< dropout masks are a function of (seed, step, operation, position)
  uint64_t step = 0;
  /// Frees values that are cheap to compute (norms, activations, linear maps) after the forward
  /// pass and computes them again in the backward pass. No number depends on it.
  bool save_memory = false;
  Precision precision = Precision::kF32;  ///< of products with a weight
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

  Var<T> constant(Matrix<T> value, dist::RowShare share = {});  ///< owned by the result
  /// Not copied: must outlive every use.
  Var<T> reference(const Matrix<T>& value, dist::RowShare share = {});
  Var<T> parameter(Parameter<T>& parameter);  ///< not copied; receives a gradient
  /// A constant that `make()` computes again, with the same bits; freed early where memory is
  /// saved.
  template <class Make>
  Var<T> constant_made_again(Make make) {
    Var<T> result = constant(make());
    if (saves_memory()) result.free_early(std::move(make));
    return result;
  }

  /// Adds d(loss)/d(parameter) to every parameter the loss depends on. Each note and the values
  /// it holds are released once it has run. Needs: loss is 1 x 1, recorded in training mode.
  void backward(const Var<T>& loss);

  // For operations ------------------------------------------------------------------------------

  /// Wraps a result. `backward(tape, gradient)` is kept only when training and one of the inputs
  /// needs a gradient. It receives d(loss)/d(value), may overwrite it, and calls accumulate() or
  /// target() once per input slot. Capture Vars only if their values are needed. The result has
  /// the rows of its inputs where these are split over ranks.
  template <class Backward>
  Var<T> record(Matrix<T> value, std::initializer_list<Var<T>> inputs, Backward backward) {
    return record(constant(std::move(value), share_of(inputs)), inputs, std::move(backward));
  }
  /// The same for a result made by constant(), which `backward` may hold too.
  template <class Backward>
  Var<T> record(Var<T> result, std::initializer_list<Var<T>> inputs, Backward backward) {
    count_operation(typeid(Backward), PassPart::kForward);
    if (!records(inputs)) return result;
    attach(result, std::make_unique<NoteOf<Backward>>(std::move(backward)));
    return result;
  }
  /// The same for a value that `make()` computes again from its inputs, with the same bits. It
  /// captures them for_backward().
  template <class Backward, class Make>
  Var<T> record(Matrix<T> value, std::initializer_list<Var<T>> inputs, Backward backward,
                Make make) {
    Var<T> result = record(std::move(value), inputs, std::move(backward));
    if (saves_memory() && records(inputs)) result.free_early(std::move(make));
    return result;
  }
  bool saves_memory() const { return training() && options_.save_memory; }
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
    virtual const std::type_info& type() const = 0;  // of the backward step
  };
  template <class Backward>
  struct NoteOf final : Note {
    explicit NoteOf(Backward f) : function(std::move(f)) {}
    void run(Tape& tape, Matrix<T> gradient) override { function(tape, std::move(gradient)); }
    const std::type_info& type() const override { return typeid(Backward); }
    Backward function;
  };
  struct Entry {
    std::unique_ptr<Note> note;  // null for a parameter
    Parameter<T>* parameter = nullptr;
    Matrix<T> gradient;
    bool reached = false;  // has a gradient, if only one without rows
  };
  void attach(Var<T>& result, std::unique_ptr<Note> note);
  static dist::RowShare share_of(std::initializer_list<Var<T>> inputs) {
    for (const Var<T>& input : inputs) {
      if (input && input.share()) return input.share();
    }
    return {};
  }

  TapeOptions options_;
  uint64_t random_operations_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace dgat::tensor
