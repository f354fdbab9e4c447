#include "dgat/train/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "dgat/core/error.h"
#include "dgat/core/files.h"

namespace dgat::train {
namespace {

std::vector<int64_t> without_leading_ones(std::vector<int64_t> shape) {
  const auto first = std::find_if(shape.begin(), shape.end(), [](int64_t n) { return n != 1; });
  shape.erase(shape.begin(), first);
  return shape;
}

const NamedTensor& require(const SafeTensors& file, const std::string& name,
                           const std::vector<int64_t>& shape, const std::string& source) {
  const NamedTensor* tensor = file.find(name);
  if (tensor == nullptr)
    throw_input("{}: tensor {} is missing; weights of another model?", source, name);
  if (without_leading_ones(tensor->shape) != without_leading_ones(shape)) {
    throw_input("{}: tensor {} has shape [{}], the model needs [{}]; trained with other options?",
                source, name, fmt::join(tensor->shape, ", "), fmt::join(shape, ", "));
  }
  return *tensor;
}

}  // namespace

Snapshot::Snapshot(nn::Model<float>& model) {
  for (const auto& entry : model.parameters().entries()) {
    values_.push_back(entry.parameter.value.clone());
  }
  for (const auto& buffer : model.buffers()) values_.push_back(buffer.values->clone());
}

void Snapshot::restore(nn::Model<float>& model) const {
  size_t next = 0;
  for (auto& entry : model.parameters().entries()) {
    entry.parameter.value = values_.at(next++).clone();
  }
  for (const auto& buffer : model.buffers()) *buffer.values = values_.at(next++).clone();
}

void TensorList::add(std::string name, std::vector<int64_t> shape, std::vector<float> values) {
  tensors_.push_back({std::move(name), std::move(shape), std::move(values)});
}

void TensorList::add_model(nn::Model<float>& model, const std::string& prefix) {
  for (const auto& entry : model.parameters().entries()) {
    add(prefix + entry.parameter.name, entry.shape,
        nn::file_values(entry.parameter, entry.parameter.value));
  }
  for (const auto& buffer : model.buffers()) {
    const auto values = buffer.values->values();
    add(prefix + buffer.name, {buffer.values->rows(), buffer.values->cols()},
        std::vector<float>(values.begin(), values.end()));
  }
}

void TensorList::write(std::ostream& out,
                       const std::map<std::string, std::string>& metadata) const {
  std::vector<TensorView> views;
  views.reserve(tensors_.size());
  for (const NamedTensor& t : tensors_) views.push_back({t.name, t.shape, t.values});
  write_safetensors(out, views, metadata);
}

void save_weights(const std::filesystem::path& path, nn::Model<float>& model,
                  const std::map<std::string, std::string>& metadata) {
  TensorList tensors;
  tensors.add_model(model);
  write_atomically(path, [&](std::ostream& out) { tensors.write(out, metadata); });
}

void load_weights(const SafeTensors& file, nn::Model<float>& model, const std::string& source,
                  const std::string& prefix) {
  std::set<std::string> known;
  for (auto& entry : model.parameters().entries()) {
    const std::string name = prefix + entry.parameter.name;
    known.insert(name);
    nn::assign_file_values(entry.parameter, require(file, name, entry.shape, source).values,
                           entry.parameter.value);
  }
  for (const auto& buffer : model.buffers()) {
    const std::string name = prefix + buffer.name;
    known.insert(name);
    const std::vector<int64_t> shape = {buffer.values->rows(), buffer.values->cols()};
    *buffer.values =
        tensor::Matrix<float>::from(shape[0], shape[1], require(file, name, shape, source).values);
  }
  if (!prefix.empty()) return;
  for (const NamedTensor& tensor : file.tensors) {
    if (!known.contains(tensor.name)) {
      throw_input("{}: the model has no tensor {}; weights of another model?", source, tensor.name);
    }
  }
}

}  // namespace dgat::train
