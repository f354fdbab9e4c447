#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dgat/nn/model.h"
#include "dgat/train/safetensors.h"

namespace dgat::train {

/// Copies of all trained matrices and buffers of a model, in its order: the best step so far.
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(nn::Model<float>& model);
  void restore(nn::Model<float>& model) const;
  bool empty() const { return values_.empty(); }

 private:
  std::vector<tensor::Matrix<float>> values_;
};

/// Owns the numbers of the tensors that will be written, each in the shape of the weight file.
class TensorList {
 public:
  void add(std::string name, std::vector<int64_t> shape, std::vector<float> values);
  /// Every parameter and buffer as PREFIX + name.
  void add_model(nn::Model<float>& model, const std::string& prefix = "");
  void write(std::ostream& out, const std::map<std::string, std::string>& metadata) const;

 private:
  std::vector<NamedTensor> tensors_;
};

/// Writes parameters and buffers under their names; whole or not at all.
void save_weights(const std::filesystem::path& path, nn::Model<float>& model,
                  const std::map<std::string, std::string>& metadata);

/// Sets every parameter and buffer from PREFIX + name. Leading extents of 1 may differ.
/// Throws: InputError beginning with `source` for a missing tensor or another shape, and (without
///         prefix) for a tensor that the model does not have.
void load_weights(const SafeTensors& file, nn::Model<float>& model, const std::string& source,
                  const std::string& prefix = "");

}  // namespace dgat::train
