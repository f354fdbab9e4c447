#include "dgat/nn/parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "dgat/nn/parameter_limit.h"

namespace dgat::nn {
namespace {

/// FNV-1a: the stream of a parameter's initial values.
uint64_t hash_name(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return hash;
}

/// The k-th value of uniform(-bound, bound) of a stream.
double uniform_at(const Philox& philox, int64_t k, double bound) {
  const Philox::Block words = philox(static_cast<uint64_t>(k));
  return bound * (2 * to_unit(words[0], words[1]) - 1);
}

/// The k-th value of a normal distribution around 0 of a stream (Box-Muller).
double normal_at(const Philox& philox, int64_t k, double deviation) {
  const Philox::Block words = philox(static_cast<uint64_t>(k));
  const double radius = std::sqrt(-2 * std::log(1 - to_unit(words[0], words[1])));
  return deviation * radius * std::cos(2 * std::numbers::pi * to_unit(words[2], words[3]));
}

}  // namespace

template <class T>
typename ParameterSet<T>::Entry& ParameterSet<T>::declare(const std::string& name,
                                                          const std::vector<int64_t>& shape,
                                                          int64_t rows, int64_t cols) {
  expects(find(name) == nullptr, "parameter names are unique");
  ParameterLimit::check(count(), name, rows, cols);
  Entry& entry = entries_.emplace_back();
  entry.parameter.name = name;
  entry.parameter.value = tensor::Matrix<T>(rows, cols);
  entry.shape = shape;
  return entry;
}

template <class T>
tensor::Parameter<T>& ParameterSet<T>::weight(const std::string& name, int64_t out, int64_t in,
                                              const Initializer& initializer) {
  tensor::Parameter<T>& p = declare(name, {out, in}, out, in).parameter;
  const Philox philox(seed_, hash_name(name));
  const auto inputs = static_cast<double>(in), both = static_cast<double>(in + out);
  const double uniform_bound = initializer.kind == Initializer::Kind::kGlorotUniform
                                   ? initializer.gain * std::sqrt(6 / both)
                                   : 1 / std::sqrt(inputs);
  const double deviation = initializer.gain * std::sqrt(2 / both);
  const bool normal = initializer.kind == Initializer::Kind::kXavierNormal;
  for (int64_t k = 0; k < p.value.size(); ++k) {
    p.value.data()[k] = static_cast<T>(normal ? normal_at(philox, k, deviation)
                                              : uniform_at(philox, k, uniform_bound));
  }
  return p;
}

template <class T>
tensor::Parameter<T>& ParameterSet<T>::bias(const std::string& name, int64_t size, int64_t in) {
  tensor::Parameter<T>& p = declare(name, {size}, 1, size).parameter;
  p.weight_decay = false;
  const Philox philox(seed_, hash_name(name));
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  for (int64_t j = 0; j < size; ++j) {
    p.value(0, j) = static_cast<T>(uniform_at(philox, j, bound));
  }
  return p;
}

template <class T>
tensor::Parameter<T>& ParameterSet<T>::constant(const std::string& name, int64_t rows, int64_t cols,
                                                double value, bool weight_decay) {
  std::vector<int64_t> shape = {rows, cols};
  if (rows == 1) shape = {cols};
  tensor::Parameter<T>& p = declare(name, shape, rows, cols).parameter;
  p.weight_decay = weight_decay;
  std::ranges::fill(p.value.values(), static_cast<T>(value));
  return p;
}

template <class T>
typename ParameterSet<T>::Entry* ParameterSet<T>::find(std::string_view name) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& e) { return e.parameter.name == name; });
  return at == entries_.end() ? nullptr : &*at;
}

template <class T>
int64_t ParameterSet<T>::count() const {
  int64_t sum = 0;
  for (const Entry& e : entries_) sum += e.parameter.value.size();
  return sum;
}

template <class T>
std::vector<float> file_values(const tensor::Parameter<T>& like, const tensor::Matrix<T>& values) {
  std::vector<float> out(static_cast<size_t>(values.size()));
  if (!like.transposed) {
    std::ranges::transform(values.values(), out.begin(), [](T v) { return static_cast<float>(v); });
    return out;
  }
  for (int64_t i = 0; i < values.rows(); ++i) {
    for (int64_t j = 0; j < values.cols(); ++j) {
      out[static_cast<size_t>(j * values.rows() + i)] = static_cast<float>(values(i, j));
    }
  }
  return out;
}

template <class T>
void assign_file_values(const tensor::Parameter<T>& like, std::span<const float> values,
                        tensor::Matrix<T>& out) {
  expects(static_cast<int64_t>(values.size()) == out.size(), "values fill the parameter");
  if (!like.transposed) {
    std::ranges::transform(values, out.values().begin(), [](float v) { return static_cast<T>(v); });
    return;
  }
  for (int64_t i = 0; i < out.rows(); ++i) {
    for (int64_t j = 0; j < out.cols(); ++j) {
      out(i, j) = static_cast<T>(values[static_cast<size_t>(j * out.rows() + i)]);
    }
  }
}

template class ParameterSet<DGAT_SCALAR>;
template std::vector<float> file_values(const tensor::Parameter<DGAT_SCALAR>&,
                                        const tensor::Matrix<DGAT_SCALAR>&);
template void assign_file_values(const tensor::Parameter<DGAT_SCALAR>&, std::span<const float>,
                                 tensor::Matrix<DGAT_SCALAR>&);

}  // namespace dgat::nn
