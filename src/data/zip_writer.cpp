#include "zip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "dgat/core/error.h"
#include "zip_format.h"

namespace dgat::data {
namespace {

constexpr uint16_t kVersion = 20, kVersion64 = 45;  // needed to extract
constexpr uint32_t kNoTime = 0x00210000;            // 1 January 1980, the first date zip knows
constexpr uint64_t kAttributes = uint64_t{0100644} << 16;
constexpr size_t kChunk = 1 << 18;

/// Appends little-endian fields.
class Record {
 public:
  Record& u16(uint64_t value) { return put(value, 2); }
  Record& u32(uint64_t value) { return put(value, 4); }
  Record& u64(uint64_t value) { return put(value, 8); }
  Record& text(const std::string& value) {
    bytes_ += value;
    return *this;
  }
  std::string bytes() && { return std::move(bytes_); }

 private:
  Record& put(uint64_t value, int bytes) {
    for (int b = 0; b < bytes; ++b) bytes_ += static_cast<char>(value >> (8 * b) & 0xFF);
    return *this;
  }
  std::string bytes_;
};

}  // namespace

struct ZipWriter::Deflater {
  z_stream stream{};
  std::vector<unsigned char> out = std::vector<unsigned char>(kChunk);
  explicit Deflater(int level) {
    if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw_compute("zlib: cannot start deflating");
    }
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
};

ZipWriter::ZipWriter(const std::filesystem::path& path, int level, bool force_zip64)
    : file_(path), level_(level), force_zip64_(force_zip64) {}

ZipWriter::~ZipWriter() = default;

uint64_t ZipWriter::position() {
  return static_cast<uint64_t>(static_cast<std::streamoff>(file_.stream().tellp()));
}

std::string ZipWriter::local_header(const Member& member) const {
  Record record;
  record.u32(zip::kLocalSignature).u16(member.zip64 ? kVersion64 : kVersion).u16(0);
  record.u16(level_ > 0 ? zip::kDeflated : zip::kStored).u32(kNoTime).u32(member.crc);
  record.u32(member.zip64 ? zip::kMax32 : member.packed);
  record.u32(member.zip64 ? zip::kMax32 : member.size);
  record.u16(member.name.size()).u16(member.zip64 ? 20 : 0).text(member.name);
  if (member.zip64) record.u16(zip::kZip64Extra).u16(16).u64(member.size).u64(member.packed);
  return std::move(record).bytes();
}

std::string ZipWriter::central_header(const Member& member) const {
  const bool far = member.zip64 || member.offset >= zip::kMax32;
  const bool large = member.zip64;
  Record record;
  record.u32(zip::kCentralSignature).u16(0x0300 | kVersion64).u16(far ? kVersion64 : kVersion);
  record.u16(0).u16(level_ > 0 ? zip::kDeflated : zip::kStored).u32(kNoTime).u32(member.crc);
  record.u32(large ? zip::kMax32 : member.packed).u32(large ? zip::kMax32 : member.size);
  record.u16(member.name.size()).u16(far ? (large ? 28 : 12) : 0).u16(0).u16(0).u16(0);
  record.u32(kAttributes).u32(far ? zip::kMax32 : member.offset).text(member.name);
  if (far) {
    record.u16(zip::kZip64Extra).u16(large ? 24 : 8);
    if (large) record.u64(member.size).u64(member.packed);
    record.u64(member.offset);
  }
  return std::move(record).bytes();
}

std::string ZipWriter::end_records(uint64_t directory, uint64_t size) const {
  const uint64_t count = members_.size();
  const bool large =
      force_zip64_ || count >= zip::kMax16 || directory >= zip::kMax32 || size >= zip::kMax32;
  Record record;
  if (large) {
    record.u32(zip::kEnd64Signature).u64(zip::kEnd64Size - 12);
    record.u16(kVersion64).u16(kVersion64).u32(0).u32(0);
    record.u64(count).u64(count).u64(size).u64(directory);
    record.u32(zip::kLocatorSignature).u32(0).u64(directory + size).u32(1);
  }
  record.u32(zip::kEndSignature).u16(0).u16(0);
  for (int twice = 0; twice < 2; ++twice) record.u16(large ? zip::kMax16 : count);
  record.u32(large ? zip::kMax32 : size).u32(large ? zip::kMax32 : directory).u16(0);
  return std::move(record).bytes();
}

void ZipWriter::begin(const std::string& name, uint64_t size) {
  // Deflate may lengthen what it cannot shorten; the margin covers that.
  const bool zip64 = force_zip64_ || size + size / 1000 + 64 >= zip::kMax32;
  members_.push_back({.name = name, .size = size, .offset = position(), .zip64 = zip64});
  file_.stream() << local_header(members_.back());  // sizes and checksum are filled in by end()
  written_ = 0;
  members_.back().crc = static_cast<uint32_t>(crc32_z(0, nullptr, 0));
  if (level_ > 0) deflater_ = std::make_unique<Deflater>(level_);
}

void ZipWriter::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;  // and zlib takes a null pointer for "start a new checksum"
  Member& member = members_.back();
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  member.crc = static_cast<uint32_t>(crc32_z(member.crc, data, bytes.size()));
  written_ += bytes.size();
  if (deflater_ != nullptr) {
    deflate_some(bytes, false);
  } else {
    file_.stream().write(reinterpret_cast<const char*>(data),
                         static_cast<std::streamsize>(bytes.size()));
    member.packed += bytes.size();
  }
}

void ZipWriter::deflate_some(std::span<const std::byte> bytes, bool last) {
  z_stream& stream = deflater_->stream;
  do {
    const auto piece = bytes.first(std::min(bytes.size(), size_t{1} << 30));
    bytes = bytes.subspan(piece.size());
    stream.next_in = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = deflater_->out.data();
      stream.avail_out = static_cast<uInt>(deflater_->out.size());
      const int status = deflate(&stream, last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      expects(status != Z_STREAM_ERROR, "deflate keeps its state");
      const size_t made = deflater_->out.size() - stream.avail_out;
      file_.stream().write(reinterpret_cast<const char*>(deflater_->out.data()),
                           static_cast<std::streamsize>(made));
      members_.back().packed += made;
    } while (stream.avail_out == 0);
  } while (!bytes.empty());
}

void ZipWriter::end() {
  Member& member = members_.back();
  expects(written_ == member.size, "a zip member gets the bytes it was announced with");
  if (deflater_ != nullptr) deflate_some({}, true);
  deflater_.reset();
  const uint64_t after = position();
  file_.stream().seekp(static_cast<std::streamoff>(member.offset));
  file_.stream() << local_header(member);
  file_.stream().seekp(static_cast<std::streamoff>(after));
}

void ZipWriter::finish() {
  const uint64_t directory = position();
  for (const Member& member : members_) file_.stream() << central_header(member);
  file_.stream() << end_records(directory, position() - directory);
  file_.commit();
}

}  // namespace dgat::data
