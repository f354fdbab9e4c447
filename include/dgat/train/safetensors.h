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
/// What we write has a checksum in `__metadata__` ("dgat.sha256"), which is checked on reading;
/// files without one are read, too.
struct SafeTensors {
  std::vector<NamedTensor> tensors;             ///< in the order of the bytes
  std::map<std::string, std::string> metadata;  ///< `__metadata__`

  /// nullptr when there is no tensor of that name.
  const NamedTensor* find(std::string_view name) const;
};

/// Reads F32, and F64, F16, BF16 (converted to float32).
///
/// Throws: InputError beginning with `source` when the bytes are not such a file. The file may be
///         cut short, the header not JSON or of wrong sizes, tensors may overlap or leave a gap,
///         a dtype or checksum may be wrong. The header alone never decides how much is
///         allocated.
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
