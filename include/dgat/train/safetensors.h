#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dgat::train {

/// A named array of float32, row by row.
struct NamedTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};

/// A file of weights in the safetensors format: 8 bytes little-endian length of a JSON header
/// {"name": {"dtype", "shape", "data_offsets": [begin, end]}, ..., "__metadata__": {text: text}},
/// then the bytes of the tensors. PyTorch's `safetensors.torch.load_file` reads what we write.
struct SafeTensors {
  std::vector<NamedTensor> tensors;             ///< in the order of the bytes
  std::map<std::string, std::string> metadata;  ///< `__metadata__`

  /// nullptr when there is no tensor of that name.
  const NamedTensor* find(std::string_view name) const;
};

/// Reads F32, and F64, F16, BF16 (converted to float32).
///
/// Throws: InputError beginning with `source` when the bytes are not such a file: cut short, a
/// header
///         that is not JSON or lies about sizes, tensors that overlap or leave a gap, another
///         dtype. Nothing is allocated on the word of the header alone.
SafeTensors parse_safetensors(std::string_view bytes, const std::string& source);
SafeTensors read_safetensors(const std::filesystem::path& path);

/// A tensor to write; the values stay where they are.
struct TensorView {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> values;
};
void write_safetensors(std::ostream& out, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace dgat::train
