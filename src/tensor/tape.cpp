#include "dgat/tensor/tape.h"

#include <algorithm>
#include <utility>

#include "dgat/core/error.h"

namespace dgat::tensor {

template <class T>
void Tape<T>::begin(const TapeOptions& options) {
  finish_side_work();  // of a pass that failed
  if (options.weights == 0 || options.weights != options_.weights) kept_.clear();
  options_ = options;
  random_operations_ = 0;
  entries_.clear();
}

template <class T>
Var<T> Tape<T>::constant(Matrix<T> value) {
  Var<T> result;
  result.content_ = std::make_shared<typename Var<T>::Content>();
  result.content_->own = std::move(value);
  result.content_->view = &result.content_->own;
  return result;
}

template <class T>
Var<T> Tape<T>::reference(const Matrix<T>& value) {
  Var<T> result = constant({});
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
void Tape<T>::keep(const Parameter<T>& parameter, const Var<T>& product) {
  if (options_.weights != 0) kept_.push_back({&parameter, product});
}

template <class T>
Matrix<T> Tape<T>::take_kept(const Parameter<T>& parameter) {
  for (Kept& kept : kept_) {
    if (kept.parameter != &parameter || !kept.product) continue;
    const Var<T> product = std::exchange(kept.product, {});
    const bool unshared = product.content_.use_count() == 1;
    return unshared ? std::move(product.content_->own) : product.value().clone();
  }
  return {};
}

template <class T>
void Tape<T>::copy_kept(const Tape& other) {
  kept_.clear();
  options_.weights = other.options_.weights;
  for (const Kept& kept : other.kept_) {
    if (kept.product) kept_.push_back({kept.parameter, constant(kept.product.value().clone())});
  }
}

template <class T>
bool Tape<T>::may_go_aside(int32_t slot) const {
  return options_.gradients_aside && slot >= 0 &&
         entries_[static_cast<size_t>(slot)].parameter != nullptr;
}

template <class T>
void Tape<T>::aside(std::initializer_list<int32_t> slots, std::function<void()> work) {
  for (const int32_t slot : slots) {
    if (slot >= 0) unfinished_.push_back(entries_[static_cast<size_t>(slot)].parameter);
  }
  if (side_tasks_ == side_work_.size()) side_work_.emplace_back();
  side_work_[side_tasks_++].start(std::move(work));
}

template <class T>
bool Tape<T>::may_come_late(int32_t slot) const {
  if (!options_.late_gradients || slot < 0) return false;
  const Parameter<T>* parameter = entries_[static_cast<size_t>(slot)].parameter;
  return parameter != nullptr && !parameter->has_grad;
}

template <class T>
void Tape<T>::come_late(int32_t slot, std::unique_ptr<LateGradient<T>> gradient) {
  Parameter<T>& parameter = *entries_[static_cast<size_t>(slot)].parameter;
  parameter.late = std::move(gradient);
  parameter.has_grad = true;
}

template <class T>
void Tape<T>::finish_side_work() {
  for (size_t i = 0; i < side_tasks_; ++i) side_work_[i].wait();
  side_tasks_ = 0;
  unfinished_.clear();
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
  entries_.push_back({std::move(note), nullptr, {}});
}

template <class T>
typename Tape<T>::Target Tape<T>::target(int32_t slot, int64_t rows, int64_t cols) {
  Entry& entry = entries_[static_cast<size_t>(slot)];
  Parameter<T>* parameter = entry.parameter;
  Matrix<T>& gradient = parameter != nullptr ? parameter->grad : entry.gradient;
  const bool fresh = parameter != nullptr ? !parameter->has_grad : gradient.empty();
  if (parameter != nullptr && !fresh &&
      std::find(unfinished_.begin(), unfinished_.end(), parameter) != unfinished_.end()) {
    finish_side_work();  // contributions are added in the order of the notes
  }
  const bool late = parameter != nullptr && parameter->late != nullptr;
  if (gradient.rows() != rows || gradient.cols() != cols) {
    expects(fresh || late, "Tape: all gradients of a value have its shape");
    gradient = Matrix<T>(rows, cols);
  }
  if (late) {  // another term is to be added
    parameter->late->rows(0, rows, gradient.data());
    parameter->late.reset();
  }
  if (parameter != nullptr) parameter->has_grad = true;
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
  if (loss.wants_gradient()) accumulate(loss.slot(), Matrix<T>::filled(1, 1, T{1}));
  while (!entries_.empty()) {
    Entry entry = std::move(entries_.back());
    entries_.pop_back();
    if (entry.note && !entry.gradient.empty()) entry.note->run(*this, std::move(entry.gradient));
  }
  finish_side_work();
}

template class Tape<float>;
template class Tape<double>;

}  // namespace dgat::tensor
