#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/data/limits.h"
#include "dgat/data/npz.h"
#include "npy_convert.h"
#include "npy_header.h"
#include "printable.h"
#include "zip_reader.h"

namespace dgat::data {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr uint64_t kMaxHeader = 1 << 20;
constexpr int64_t kBlockElements = 1 << 17;

/// One array of the archive, positioned at its first element.
struct OpenArray {
  ZipMember member;
  ArrayInfo info;

  OpenArray(const ZipArchive& archive, const ZipEntry& entry) : member(archive, entry) {
    const auto fail = [&](const char* what) {
      throw_input("{} is not a .npy array: {}", member.where(), what);
    };
    std::array<unsigned char, 8> magic{};
    if (member.size() < magic.size() + 4) fail("it is too short");
    member.read(std::as_writable_bytes(std::span(magic)));
    if (!std::equal(kNpyMagic.begin(), kNpyMagic.end(), magic.begin(),
                    [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; })) {
      fail("it does not begin with the NUMPY mark");
    }
    const int version = magic[6];
    if (version < 1 || version > 3) fail("its format version is not 1, 2 or 3");
    std::array<unsigned char, 4> raw{};
    const size_t length_bytes = version == 1 ? 2 : 4;
    member.read(std::as_writable_bytes(std::span(raw).first(length_bytes)));
    const uint64_t length = raw[0] | raw[1] << 8 | raw[2] << 16 | uint64_t{raw[3]} << 24;
    const uint64_t before = magic.size() + length_bytes;
    if (length > kMaxHeader || length > member.size() - before) fail("its header is too long");
    std::string header(length, '\0');
    member.read(std::as_writable_bytes(std::span(header)));
    info = parse_npy_header(header, member.where());
    const auto held = member.size() - before - length;
    const auto needed = static_cast<uint64_t>(info.size() * item_size(info.dtype));
    if (held != needed) {
      throw_input("{} has shape {} of {}, which takes {} bytes, but holds {}", member.where(),
                  info.shape_text(), name_of(info.dtype), needed, held);
    }
  }

  /// Index of an element as text, "[3, 1]", from its position in the file.
  std::string index_text(int64_t position) const {
    ArrayInfo index;
    index.shape.resize(info.shape.size());
    for (size_t k = 0; k < info.shape.size(); ++k) {
      const size_t d = info.fortran_order ? k : info.shape.size() - 1 - k;
      index.shape[d] = position % info.shape[d];
      position /= info.shape[d];
    }
    return index.shape_text();
  }
};

template <class T>
constexpr const char* kExpected = "a whole number";
template <>
constexpr const char* kExpected<float> = "a number that fits in float32";
template <>
constexpr const char* kExpected<double> = "a number";
template <>
constexpr const char* kExpected<uint8_t> = "a whole number from 0 to 255";

void reverse_items(std::span<std::byte> bytes, int64_t item) {
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(item)) {
    std::reverse(bytes.begin() + static_cast<int64_t>(at),
                 bytes.begin() + static_cast<int64_t>(at) + item);
  }
}

/// Converts a block of elements; `first` is the position of its first one in the file.
template <class Stored, class T>
void convert_block(const OpenArray& array, std::span<const std::byte> bytes, int64_t first,
                   std::span<T> out) {
  for (size_t k = 0; k < out.size(); ++k) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + k * sizeof(Stored), sizeof(Stored));
    const auto value = widen(stored);
    const std::optional<T> result = converted<T>(value);
    if (!result) {
      throw_input("{}: element {} is {}, expected {}", array.member.where(),
                  array.index_text(first + static_cast<int64_t>(k)), value, kExpected<T>);
    }
    out[k] = *result;
  }
}

/// Streams an open array: take(first position, values) for every block, then the CRC check.
template <class T, class Take>
void stream(OpenArray& array, int64_t elements, Take&& take) {
  const int64_t count = array.info.size(), item = item_size(array.info.dtype);
  const bool swapped = array.info.big_endian && item > 1;
  const int64_t block = std::max<int64_t>(1, std::min(elements, count));
  std::vector<std::byte> bytes(static_cast<size_t>(block * item));
  std::vector<T> values(static_cast<size_t>(block));
  for (int64_t first = 0; first < count; first += block) {
    throw_if_interrupted("read npz");
    const auto here = static_cast<size_t>(std::min(block, count - first));
    const auto raw = std::span(bytes).first(here * static_cast<size_t>(item));
    array.member.read(raw);
    if (swapped) reverse_items(raw, item);
    const auto out = std::span(values).first(here);
    with_stored_type(array.info.dtype,
                     [&]<class Stored>() { convert_block<Stored, T>(array, raw, first, out); });
    take(first, std::span<const T>(out));
  }
  array.member.finish();
}

/// Column-major values of a shape, row-major.
template <class T>
std::vector<T> to_c_order(const std::vector<T>& values, const std::vector<int64_t>& shape) {
  std::vector<T> out(values.size());
  std::vector<int64_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * shape[d - 1];
  int64_t from = 0;
  for (T& value : out) {
    value = values[static_cast<size_t>(from)];
    for (size_t d = shape.size(); d-- > 0;) {  // the last index runs fastest
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

struct NpzReader::Archive {
  ZipArchive zip;
  std::unordered_map<std::string_view, const ZipEntry*> arrays = {};  ///< by key

  const ZipEntry& entry(std::string_view key) const {
    const auto place = arrays.find(key);
    if (place == arrays.end()) throw_input("{}: has no array {}", zip.path().string(), key);
    return *place->second;
  }
  OpenArray open(std::string_view key) const { return OpenArray(zip, entry(key)); }
};

NpzReader::NpzReader(const std::filesystem::path& path)
    : path_(path.string()), archive_(std::make_unique<Archive>(Archive{ZipArchive(path)})) {
  for (const ZipEntry& entry : archive_->zip.entries()) {
    if (!entry.name.ends_with(kSuffix)) continue;
    const auto key = std::string_view(entry.name).substr(0, entry.name.size() - kSuffix.size());
    if (!archive_->arrays.emplace(key, &entry).second) {
      throw_input("{}: holds the array {} twice", path_, printable(key));
    }
    keys_.emplace_back(key);
  }
  file_bytes_ = static_cast<int64_t>(std::filesystem::file_size(path));
}
NpzReader::~NpzReader() = default;
NpzReader::NpzReader(NpzReader&&) noexcept = default;
NpzReader& NpzReader::operator=(NpzReader&&) noexcept = default;

bool NpzReader::contains(std::string_view key) const {
  return archive_->arrays.contains(key);
}

ArrayInfo NpzReader::info(std::string_view key) const {
  return archive_->open(key).info;
}

template <class T>
std::vector<T> NpzReader::read(std::string_view key) const {
  OpenArray array = archive_->open(key);
  check_memory(array.info.size() * static_cast<int64_t>(sizeof(T)), file_bytes_,
               array.member.where(), "its array");
  std::vector<T> values(static_cast<size_t>(array.info.size()));
  stream<T>(array, kBlockElements, [&](int64_t first, std::span<const T> block) {
    std::copy(block.begin(), block.end(), values.begin() + first);
  });
  const bool rearrange = array.info.fortran_order && array.info.shape.size() > 1;
  return rearrange ? to_c_order(values, array.info.shape) : values;
}

template <class T>
void NpzReader::read_blocks(std::string_view key, int64_t elements,
                            const std::function<void(std::span<const T>)>& take) const {
  OpenArray array = archive_->open(key);
  stream<T>(array, elements, [&](int64_t, std::span<const T> block) { take(block); });
}

#define DGAT_INSTANTIATE(T)                                           \
  template std::vector<T> NpzReader::read<T>(std::string_view) const; \
  template void NpzReader::read_blocks<T>(std::string_view, int64_t,  \
                                          const std::function<void(std::span<const T>)>&) const;
DGAT_INSTANTIATE(float)
DGAT_INSTANTIATE(double)
DGAT_INSTANTIATE(int64_t)
DGAT_INSTANTIATE(uint8_t)
#undef DGAT_INSTANTIATE

}  // namespace dgat::data
