#include "dgat/core/error.h"
#include "dgat/data/npz.h"
#include "npy_header.h"
#include "zip_writer.h"

namespace dgat::data {

struct NpzWriter::Archive {
  ZipWriter zip;
};

NpzWriter::NpzWriter(const std::filesystem::path& path, const NpzWriteOptions& options)
    : archive_(new Archive{ZipWriter(path, options.level, options.force_zip64)}) {}

NpzWriter::~NpzWriter() = default;

void NpzWriter::begin(std::string_view key, const ArrayInfo& info) {
  const std::string preamble = npy_preamble(info);
  const int64_t data = info.size() * item_size(info.dtype);
  archive_->zip.begin(std::string(key) + ".npy", preamble.size() + static_cast<uint64_t>(data));
  append(std::as_bytes(std::span(preamble)));
}

void NpzWriter::append(std::span<const std::byte> bytes) {
  archive_->zip.write(bytes);
}

void NpzWriter::end() {
  archive_->zip.end();
}

void NpzWriter::finish() {
  archive_->zip.finish();
}

namespace {

template <class T>
void add_whole(NpzWriter& writer, std::string_view key, DType dtype,
               const std::vector<int64_t>& shape, std::span<const T> values) {
  const ArrayInfo info{.dtype = dtype, .shape = shape};
  expects(info.size() == static_cast<int64_t>(values.size()), "an array fills its shape");
  writer.begin(key, info);
  writer.append(std::as_bytes(values));
  writer.end();
}

}  // namespace

void NpzWriter::add(std::string_view key, const std::vector<int64_t>& shape,
                    std::span<const double> values) {
  add_whole(*this, key, DType::kFloat64, shape, values);
}
void NpzWriter::add(std::string_view key, const std::vector<int64_t>& shape,
                    std::span<const float> values) {
  add_whole(*this, key, DType::kFloat32, shape, values);
}
void NpzWriter::add(std::string_view key, const std::vector<int64_t>& shape,
                    std::span<const int64_t> values) {
  add_whole(*this, key, DType::kInt64, shape, values);
}
void NpzWriter::add(std::string_view key, const std::vector<int64_t>& shape,
                    std::span<const int32_t> values) {
  add_whole(*this, key, DType::kInt32, shape, values);
}
void NpzWriter::add(std::string_view key, const std::vector<int64_t>& shape,
                    std::span<const uint8_t> values) {
  add_whole(*this, key, DType::kUInt8, shape, values);
}

void NpzWriter::add_bools(std::string_view key, const std::vector<int64_t>& shape,
                          std::span<const uint8_t> values) {
  std::vector<uint8_t> bools(values.size());
  for (size_t i = 0; i < values.size(); ++i) bools[i] = values[i] != 0 ? 1 : 0;
  add_whole<uint8_t>(*this, key, DType::kBool, shape, bools);
}

}  // namespace dgat::data
