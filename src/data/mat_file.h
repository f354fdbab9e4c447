#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// MAT-files of version 5 (MATLAB's -v6 and -v7, scipy.io.savemat): a header of 128 bytes, then one
/// element per variable, deflated or not. Read: real matrices of numbers, dense or sparse. Cells,
/// structures, texts and complex numbers are listed, but not read.
namespace dgat::data {

/// A matrix as MATLAB keeps it, by columns.
struct MatMatrix {
  int64_t rows = 0, cols = 0;
  bool sparse = false;
  std::vector<double> values;    ///< rows * cols, or one per entry
  std::vector<int64_t> row_of;   ///< sparse: row of every entry
  std::vector<int64_t> offsets;  ///< sparse: where every column begins, cols + 1
};

/// Holds the bytes of the file; variables are inflated when asked for. Sizes that the file states
/// are held against its bytes and limits.h before anything is allocated.
/// Throws: InputError that names the file and the variable.
class MatFile {
 public:
  explicit MatFile(const std::filesystem::path& path);

  struct Variable {
    std::string name;
    std::array<int64_t, 2> shape{};
    bool readable = false;  ///< a real matrix of numbers
    bool sparse = false;
    bool packed = false;
    std::string_view bytes;  ///< of the element, deflated if packed
  };
  const std::vector<Variable>& variables() const { return variables_; }
  /// The first of these names that is there (in any case), or null.
  const Variable* find(std::span<const std::string_view> names) const;
  MatMatrix read(const Variable& variable) const;

  const std::string& path() const { return path_; }
  int64_t file_bytes() const { return static_cast<int64_t>(bytes_.size()); }

 private:
  std::string path_, bytes_;
  std::vector<Variable> variables_;
};

}  // namespace dgat::data
