#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "dgat/tensor/tape.h"

namespace dgat::nn {

/// How the entries of a weight [out, in] start.
struct Initializer {
  enum class Kind {
    kUniform,        ///< uniform(-1/sqrt(in), 1/sqrt(in))
    kGlorotUniform,  ///< uniform(-b, b), b = gain sqrt(6 / (in + out))
    kXavierNormal    ///< normal with deviation gain sqrt(2 / (in + out))
  };
  Kind kind = Kind::kUniform;
  double gain = 1;
  static Initializer glorot_uniform() { return {Kind::kGlorotUniform, 1}; }
  static Initializer xavier_normal(double gain) { return {Kind::kXavierNormal, gain}; }
};

/// The trained matrices of a model, in the order in which the model declares them. Names and shapes
/// are those of the weight file ([out, in], like PyTorch).
///
/// Initial values are a function of (seed, name, position), so two models have the same initial
/// values in the parameters that both have. Addresses stay valid.
template <class T>
class ParameterSet {
 public:
  struct Entry {
    tensor::Parameter<T> parameter;
    std::vector<int64_t> shape;  ///< in the weight file
  };

  explicit ParameterSet(uint64_t seed) : seed_(seed) {}
  ParameterSet(const ParameterSet&) = delete;
  ParameterSet& operator=(const ParameterSet&) = delete;

  /// [out, in].
  tensor::Parameter<T>& weight(const std::string& name, int64_t out, int64_t in,
                               const Initializer& initializer = {});
  /// [size], uniform(-1/sqrt(in), 1/sqrt(in)), not decayed.
  tensor::Parameter<T>& bias(const std::string& name, int64_t size, int64_t in);
  /// [rows, cols] (a vector when rows is 1), all equal to `value`.
  tensor::Parameter<T>& constant(const std::string& name, int64_t rows, int64_t cols, double value,
                                 bool weight_decay);

  std::deque<Entry>& entries() { return entries_; }
  const std::deque<Entry>& entries() const { return entries_; }
  Entry* find(std::string_view name);
  int64_t count() const;  ///< numbers to train

 private:
  Entry& declare(const std::string& name, const std::vector<int64_t>& shape, int64_t rows,
                 int64_t cols);
  uint64_t seed_;
  std::deque<Entry> entries_;
};

/// The values row by row in the shape of the weight file (transposed parameters turned back).
template <class T>
std::vector<float> file_values(const tensor::Parameter<T>& like, const tensor::Matrix<T>& values);
/// The inverse. Needs: as many values as `out` has entries.
template <class T>
void assign_file_values(const tensor::Parameter<T>& like, std::span<const float> values,
                        tensor::Matrix<T>& out);

}  // namespace dgat::nn
