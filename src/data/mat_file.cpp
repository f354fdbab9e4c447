#include "mat_file.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/interrupt.h"
#include "dgat/data/limits.h"
#include "names.h"
#include "printable.h"

namespace dgat::data {
namespace {

constexpr size_t kMatHeader = 128, kMatTag = 8, kMatWord = 4;
/// Enough for the flags, the shape and the name of a variable.
constexpr size_t kMatHead = 1 << 10;

enum MatType : uint32_t {
  kInt8 = 1,
  kUInt8 = 2,
  kInt16 = 3,
  kUInt16 = 4,
  kInt32 = 5,
  kUInt32 = 6,
  kSingle = 7,
  kDouble = 9,
  kInt64 = 12,
  kUInt64 = 13,
  kMatrix = 14,
  kCompressed = 15
};
constexpr uint32_t kSparseClass = 5, kFirstNumeric = 6, kLastNumeric = 15, kComplexFlag = 0x800;

/// MAT-files are little-endian here (big-endian ones are refused), and so is x86-64.
template <class T>
T load_as(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

struct MatElement {
  uint32_t type = 0;
  std::string_view bytes;
  size_t whole = 0;  ///< with tag and padding
};

/// The element at the front of `bytes`. `complete`: whether its bytes must all be there.
MatElement element_of(std::string_view bytes, const std::string& where, bool complete = true) {
  const auto cut_off = [&] {
    throw_input("{}: ends inside an element; the file is truncated, copy it again", where);
  };
  if (bytes.size() < kMatTag) cut_off();
  const auto word = load_as<uint32_t>(bytes.data());
  if (word >> 16 != 0) {  // up to four bytes inside the tag
    const size_t size = word >> 16;
    if (size > kMatWord) throw_input("{}: an element states {} bytes in its tag", where, size);
    return {word & 0xFFFF, bytes.substr(kMatWord, size), kMatTag};
  }
  const size_t size = load_as<uint32_t>(bytes.data() + kMatWord);
  if (size > bytes.size() - kMatTag && complete) cut_off();
  const size_t padded = word == kCompressed ? size : (size + kMatTag - 1) / kMatTag * kMatTag;
  return {word, bytes.substr(kMatTag, size), std::min(kMatTag + padded, bytes.size())};
}

/// At most `limit` bytes of what a deflated element holds.
std::string inflated(std::string_view packed, const std::string& where, int64_t file_bytes,
                     size_t limit) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> guard(&stream, &inflateEnd);
  // zlib does not write through next_in; its interface predates const. Elements are below 4 GB.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  std::array<char, 1 << 16> chunk;
  int status = Z_OK;
  while (status != Z_STREAM_END && out.size() < limit) {
    throw_if_interrupted("matlab");
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(std::min(chunk.size(), limit - out.size()));
    const size_t room = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    const size_t made = room - stream.avail_out;
    if ((status != Z_OK && status != Z_STREAM_END) || (made == 0 && status == Z_OK)) {
      throw_input("{}: the deflated data is damaged; copy the file again", where);
    }
    out.append(chunk.data(), made);
    check_memory(static_cast<int64_t>(out.size()), file_bytes, where, "its deflated data");
  }
  return out;
}

template <class From, class To>
void convert_all(std::string_view bytes, const std::string& where, std::vector<To>& out) {
  constexpr bool kRounds = std::is_floating_point_v<From> && std::is_integral_v<To>;
  constexpr double kLimit = 9e18;  // of To, which counts rows and entries
  for (size_t at = 0; at + sizeof(From) <= bytes.size(); at += sizeof(From)) {
    const auto value = load_as<From>(bytes.data() + at);
    if constexpr (kRounds) {
      if (!(std::abs(value) < kLimit) || value != std::trunc(value)) {
        throw_input("{}: has {} where a whole number was expected", where, value);
      }
    }
    out.push_back(static_cast<To>(value));
  }
}

size_t mat_size(uint32_t type) {
  switch (type) {
    case kInt8:
    case kUInt8:
      return 1;
    case kInt16:
    case kUInt16:
      return 2;
    case kInt32:
    case kUInt32:
    case kSingle:
      return 4;
    case kDouble:
    case kInt64:
    case kUInt64:
      return 8;
    default:
      return 0;
  }
}

/// The numbers of an element, which MATLAB stores in the smallest type that holds them.
template <class To>
std::vector<To> numbers(const MatElement& element, const std::string& where, int64_t file_bytes) {
  const size_t size = mat_size(element.type);
  if (size == 0 || element.bytes.size() % size != 0) {
    throw_input("{}: has {} bytes of type {} where numbers were expected", where,
                element.bytes.size(), element.type);
  }
  const size_t count = element.bytes.size() / size;
  check_memory(static_cast<int64_t>(count * sizeof(To)), file_bytes, where, "its array");
  std::vector<To> out;
  out.reserve(count);
  switch (element.type) {
    case kInt8:
      convert_all<int8_t>(element.bytes, where, out);
      break;
    case kUInt8:
      convert_all<uint8_t>(element.bytes, where, out);
      break;
    case kInt16:
      convert_all<int16_t>(element.bytes, where, out);
      break;
    case kUInt16:
      convert_all<uint16_t>(element.bytes, where, out);
      break;
    case kInt32:
      convert_all<int32_t>(element.bytes, where, out);
      break;
    case kUInt32:
      convert_all<uint32_t>(element.bytes, where, out);
      break;
    case kSingle:
      convert_all<float>(element.bytes, where, out);
      break;
    case kDouble:
      convert_all<double>(element.bytes, where, out);
      break;
    case kInt64:
      convert_all<int64_t>(element.bytes, where, out);
      break;
    default:
      convert_all<uint64_t>(element.bytes, where, out);
  }
  return out;
}

/// The parts of a matrix, one after another.
class MatParts {
 public:
  MatParts(std::string_view bytes, std::string where) : rest_(bytes), where_(std::move(where)) {}
  MatElement next() {
    const MatElement part = element_of(rest_, where_);
    rest_.remove_prefix(part.whole);
    return part;
  }

 private:
  std::string_view rest_;
  std::string where_;
};

/// Fills everything but the bytes.
void read_head(MatParts parts, const std::string& where, MatFile::Variable& variable) {
  const MatElement flags = parts.next();
  if (flags.bytes.size() < kMatTag) throw_input("{}: a variable has no flags", where);
  const auto word = load_as<uint32_t>(flags.bytes.data());
  const uint32_t kind = word & 0xFF;
  const MatElement shape = parts.next();
  variable.name = parts.next().bytes;
  if (shape.type != kInt32) return;
  const bool matrix = shape.bytes.size() == 2 * kMatWord;
  for (size_t axis = 0; axis < 2 && matrix; ++axis) {
    variable.shape[axis] = load_as<int32_t>(shape.bytes.data() + axis * kMatWord);
  }
  variable.sparse = kind == kSparseClass;
  variable.readable = matrix && (word & kComplexFlag) == 0 && variable.shape[0] >= 0 &&
                      variable.shape[1] >= 0 &&
                      (variable.sparse || (kind >= kFirstNumeric && kind <= kLastNumeric));
}

void check_sparse(const MatMatrix& matrix, const std::string& where) {
  const auto entries = static_cast<int64_t>(matrix.values.size());
  if (matrix.offsets.size() != static_cast<size_t>(matrix.cols) + 1 ||
      matrix.offsets.front() != 0 || matrix.offsets.back() != entries ||
      !std::is_sorted(matrix.offsets.begin(), matrix.offsets.end())) {
    throw_input("{}: the {} column ends do not fit {} columns of {} entries", where,
                matrix.offsets.size(), matrix.cols, entries);
  }
  for (const int64_t row : matrix.row_of) {
    if (row < 0 || row >= matrix.rows) {
      throw_input("{}: has an entry in row {} of {}", where, row, matrix.rows);
    }
  }
}

}  // namespace

MatFile::MatFile(const std::filesystem::path& path)
    : path_(path.string()), bytes_(read_whole_file(path)) {
  constexpr size_t kVersion = 124, kOrder = 126;
  constexpr uint16_t kFive = 0x0100, kSeven = 0x0200;
  const bool header = bytes_.size() >= kMatHeader;
  const std::string_view order = header ? std::string_view(bytes_).substr(kOrder, 2) : "";
  if (order == "MI") {
    throw_input("{}: is a big-endian MAT-file; save it on a little-endian machine", path_);
  }
  const uint16_t version = order == "IM" ? load_as<uint16_t>(bytes_.data() + kVersion) : 0;
  if (version == kSeven || bytes_.starts_with("\x89HDF")) {
    throw_input("{}: is a MAT-file of version 7.3 (HDF5); save it with `save -v7`", path_);
  }
  if (version != kFive) {
    throw_input("{}: is not a MAT-file of version 5; save it with `save -v7`", path_);
  }
  std::string_view rest = std::string_view(bytes_).substr(kMatHeader);
  while (!rest.empty()) {
    const MatElement element = element_of(rest, path_);
    rest.remove_prefix(element.whole);
    Variable variable;
    variable.packed = element.type == kCompressed;
    variable.bytes = element.bytes;
    std::string head;
    std::string_view body = element.bytes;
    if (variable.packed) {
      head = inflated(element.bytes, path_, file_bytes(), kMatHead);
      const MatElement inner = element_of(head, path_, false);
      if (inner.type != kMatrix) continue;
      body = inner.bytes;
    } else if (element.type != kMatrix) {
      continue;
    }
    if (body.empty()) continue;  // an empty element stands for the subsystem
    read_head(MatParts(body, path_), path_, variable);
    variables_.push_back(std::move(variable));
  }
}

const MatFile::Variable* MatFile::find(std::span<const std::string_view> names) const {
  for (const std::string_view name : names) {
    const std::string_view one[] = {name};
    const auto found = std::find_if(variables_.begin(), variables_.end(), [&](const Variable& v) {
      return v.readable && is_one_of(v.name, one);
    });
    if (found != variables_.end()) return &*found;
  }
  return nullptr;
}

MatMatrix MatFile::read(const Variable& variable) const {
  const std::string where = path_ + ": " + printable(variable.name);
  std::string unpacked;
  std::string_view body = variable.bytes;
  if (variable.packed) {
    unpacked = inflated(variable.bytes, where, file_bytes(), std::string::npos);
    body = element_of(unpacked, where).bytes;
  }
  MatParts parts(body, where);
  for (int head = 0; head < 3; ++head) parts.next();
  MatMatrix matrix;
  matrix.rows = variable.shape[0];
  matrix.cols = variable.shape[1];
  matrix.sparse = variable.sparse;
  if (matrix.sparse) {
    matrix.row_of = numbers<int64_t>(parts.next(), where, file_bytes());
    matrix.offsets = numbers<int64_t>(parts.next(), where, file_bytes());
    matrix.values = numbers<double>(parts.next(), where, file_bytes());
    // Room for more entries than there are is allowed.
    const size_t entries = std::min(matrix.row_of.size(), matrix.values.size());
    if (!matrix.offsets.empty() && matrix.offsets.back() >= 0) {
      const size_t used = std::min(entries, static_cast<size_t>(matrix.offsets.back()));
      matrix.row_of.resize(used);
      matrix.values.resize(used);
    }
    check_sparse(matrix, where);
  } else {
    matrix.values = numbers<double>(parts.next(), where, file_bytes());
    if (static_cast<int64_t>(matrix.values.size()) != matrix.rows * matrix.cols) {
      throw_input("{}: states {} x {} and has {} numbers", where, matrix.rows, matrix.cols,
                  matrix.values.size());
    }
  }
  return matrix;
}

}  // namespace dgat::data
