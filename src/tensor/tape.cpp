#include "dgat/tensor/tape.h"

#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"
#include "dgat/dist/communicator.h"
#include "dgat/tensor/spill.h"

namespace dgat::tensor {
namespace {

/// Several ranks stop together, between two steps: one that stopped here would leave the others
/// waiting.
void stop_if_interrupted() {
  if (dist::current().size() == 1) throw_if_interrupted("network");
}

}  // namespace

template <class T>
void Tape<T>::begin(const TapeOptions& options) {
  options_ = options;
  random_operations_ = 0;
  entries_.clear();
  mark_operations();
}

template <class T>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved, where the type depends on T
Var<T> Tape<T>::constant(Matrix<T> value, dist::RowShare share) {
  stop_if_interrupted();  // every operation passes here
  Var<T> result;
  result.content_ = std::make_shared<typename Var<T>::Content>();
  result.content_->own = std::move(value);
  result.content_->view = &result.content_->own;
  result.content_->share = std::move(share);
  return result;
}

template <class T>
Var<T> Tape<T>::reference(const Matrix<T>& value, dist::RowShare share) {
  Var<T> result = constant({}, std::move(share));
  result.content_->view = &value;
  return result;
}

template <class T>
Var<T> Tape<T>::parameter(Parameter<T>& parameter) {
  Var<T> result = reference(parameter.value);
  if (training()) {
    attach(result, nullptr);
    entries_.back().parameter = &parameter;
  }
  return result;
}

template <class T>
bool Tape<T>::records(std::initializer_list<Var<T>> inputs) const {
  if (!training()) return false;
  for (const Var<T>& input : inputs) {
    if (input.wants_gradient()) return true;
  }
  return false;
}

template <class T>
void Tape<T>::attach(Var<T>& result, std::unique_ptr<Note> note) {
  result.content_->slot = static_cast<int32_t>(entries_.size());
  entries_.push_back({std::move(note), nullptr, {}, false});
}

template <class T>
typename Tape<T>::Target Tape<T>::target(int32_t slot, int64_t rows, int64_t cols) {
  Entry& entry = entries_[static_cast<size_t>(slot)];
  Parameter<T>* parameter = entry.parameter;
  Matrix<T>& gradient = parameter != nullptr ? parameter->grad : entry.gradient;
  const bool fresh = parameter != nullptr ? !parameter->has_grad : !entry.reached;
  if (gradient.rows() != rows || gradient.cols() != cols) {
    expects(fresh, "Tape: all gradients of a value have its shape");
    gradient = Matrix<T>(rows, cols);
  }
  if (parameter != nullptr) parameter->has_grad = true;
  entry.reached = true;
  return {gradient, fresh};
}

template <class T>
void Tape<T>::accumulate(int32_t slot, Matrix<T> gradient) {
  if (slot < 0) return;
  const Target into = target(slot, gradient.rows(), gradient.cols());
  if (into.fresh) {
    into.gradient = std::move(gradient);
    return;
  }
  T* sum = into.gradient.data();
  const T* term = gradient.data();
  parallel_for(gradient.size(), 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum[i] += term[i];
  });
}

template <class T>
void Tape<T>::backward(const Var<T>& loss) {
  expects(loss.rows() == 1 && loss.cols() == 1, "Tape::backward: the loss is 1 x 1");
  expects(training(), "Tape::backward: the tape was recording");
  const ReadBackwards reading;
  if (loss.wants_gradient()) accumulate(loss.slot(), Matrix<T>::filled(1, 1, T{1}));
  while (!entries_.empty()) {
    stop_if_interrupted();
    Entry entry = std::move(entries_.back());
    entries_.pop_back();
    if (!entry.note || !entry.reached) continue;
    entry.note->run(*this, std::move(entry.gradient));
    count_operation(entry.note->type(), PassPart::kBackward);
  }
}

template class Tape<float>;
template class Tape<double>;

}  // namespace dgat::tensor
