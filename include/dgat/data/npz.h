#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// NumPy's .npz: a zip archive of .npy arrays. Read: members stored or deflated, zip64, format
/// versions 1 to 3, C and Fortran order, both byte orders, bool, every integer width, float16 to
/// float64. Pickles (object arrays) are not read: unpickling runs code.
namespace dgat::data {

enum class DType {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kFloat32,
  kFloat64
};
int64_t item_size(DType dtype);    ///< bytes per element
const char* name_of(DType dtype);  ///< "float32"

/// What the header of one array says.
struct ArrayInfo {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  bool fortran_order = false;
  bool big_endian = false;
  int64_t size() const;            ///< number of elements
  std::string shape_text() const;  ///< "[3, 4]"
};

/// Opens an archive; arrays are inflated when asked for.
///
/// A header alone never decides how much is allocated. A shape must agree with the bytes in the
/// archive, and these with what deflate can make of the size of the file. read() compares what it
/// allocates with limits.h.
/// Throws: InputError that names the file and the key.
class NpzReader {
 public:
  explicit NpzReader(const std::filesystem::path& path);
  ~NpzReader();
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) noexcept;

  const std::vector<std::string>& keys() const { return keys_; }
  bool contains(std::string_view key) const;
  ArrayInfo info(std::string_view key) const;

  /// The elements in C order, converted to T: float, double, int64_t or uint8_t. An integer T
  /// takes floating-point arrays of whole numbers; a value that T cannot hold is refused by its
  /// index. Doubles are rounded to float.
  template <class T>
  std::vector<T> read(std::string_view key) const;

  /// The elements in the order of the file, `elements` at a time (the last block may be shorter).
  /// Memory: one block.
  template <class T>
  void read_blocks(std::string_view key, int64_t elements,
                   const std::function<void(std::span<const T>)>& take) const;

  const std::string& path() const { return path_; }
  int64_t file_bytes() const { return file_bytes_; }

 private:
  struct Archive;
  std::string path_;
  int64_t file_bytes_ = 0;
  std::unique_ptr<Archive> archive_;
  std::vector<std::string> keys_;
};

struct NpzWriteOptions {
  int level = 4;             ///< of deflate, 1 fast to 9 small; 0 stores
  bool force_zip64 = false;  ///< the large-file form even where it is not needed
};

/// Writes an archive; it appears whole at finish() or not at all. The same arrays give the same
/// bytes.
///   NpzWriter out("spectrum.npz");
///   out.add("eigenvalues", {k}, values);
///   out.finish();
/// Throws: InputError when the place is not writable, ComputeError when the disk is full.
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path, const NpzWriteOptions& options = {});
  ~NpzWriter();
  NpzWriter(const NpzWriter&) = delete;
  NpzWriter& operator=(const NpzWriter&) = delete;

  void add(std::string_view key, const std::vector<int64_t>& shape, std::span<const double> values);
  void add(std::string_view key, const std::vector<int64_t>& shape, std::span<const float> values);
  void add(std::string_view key, const std::vector<int64_t>& shape,
           std::span<const int64_t> values);
  void add(std::string_view key, const std::vector<int64_t>& shape,
           std::span<const int32_t> values);
  void add(std::string_view key, const std::vector<int64_t>& shape,
           std::span<const uint8_t> values);
  /// Zero is false.
  void add_bools(std::string_view key, const std::vector<int64_t>& shape,
                 std::span<const uint8_t> values);

  /// An array that is made piece by piece: the pieces' bytes follow one another and together have
  /// the size that `info` states.
  void begin(std::string_view key, const ArrayInfo& info);
  void append(std::span<const std::byte> bytes);
  void end();

  void finish();

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

}  // namespace dgat::data
