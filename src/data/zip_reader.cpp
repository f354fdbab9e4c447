#include "zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "dgat/core/error.h"
#include "dgat/core/open_file.h"
#include "printable.h"
#include "zip_format.h"

namespace dgat::data {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMaxDeflateRatio = 1032;
constexpr size_t kBuffer = 1 << 17;

/// Little-endian fields of a record that is known to be long enough.
uint64_t field(const unsigned char* at, int bytes) {
  uint64_t value = 0;
  for (int b = bytes; b-- > 0;) value = (value << 8) | at[b];
  return value;
}
uint16_t u16(const unsigned char* at) {
  return static_cast<uint16_t>(field(at, 2));
}
uint32_t u32(const unsigned char* at) {
  return static_cast<uint32_t>(field(at, 4));
}
uint64_t u64(const unsigned char* at) {
  return field(at, 8);
}

/// Random access to the bytes of the archive, with its size known.
class File {
 public:
  explicit File(const fs::path& path) : path_(path.string()) {
    in_ = open_file(path);
    size_ = fs::file_size(path);
  }
  uint64_t size() const { return size_; }
  std::vector<unsigned char> bytes(uint64_t offset, uint64_t count) {
    std::vector<unsigned char> out(count);
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count));
    if (!in_) throw_input("{}: reading failed at byte {}", path_, offset);
    return out;
  }
  [[noreturn]] void broken(const char* what) const {
    throw_input("{}: damaged zip archive: {}; fetch or write the file again", path_, what);
  }

 private:
  std::string path_;
  std::ifstream in_;
  uint64_t size_ = 0;
};

/// Where the directory is and how many members it lists.
struct Directory {
  uint64_t offset = 0, size = 0, count = 0;
};

[[noreturn]] void throw_no_directory(File& file, const fs::path& path) {
  const auto start = file.bytes(0, std::min<uint64_t>(file.size(), 6));
  const std::string_view head(reinterpret_cast<const char*>(start.data()), start.size());
  if (file.size() == 0) throw_input("{}: is empty, an .npz archive was expected", path.string());
  if (head.starts_with("PK")) file.broken("its directory is missing, so the end was cut off");
  if (head == "\x93NUMPY") {
    throw_input("{}: is a single .npy array; an .npz archive with named arrays was expected",
                path.string());
  }
  throw_input("{}: is not an .npz archive: it is not a zip file", path.string());
}

Directory find_directory(File& file, const fs::path& path) {
  // The end record stands at the end, before a comment of at most 65535 bytes.
  const uint64_t tail_size = std::min<uint64_t>(file.size(), zip::kEndSize + 0xFFFF);
  const uint64_t tail_at = file.size() - tail_size;
  const auto tail = file.bytes(tail_at, tail_size);
  if (tail.size() < zip::kEndSize) throw_no_directory(file, path);
  size_t end = tail.size() - zip::kEndSize + 1;
  while (end-- > 0) {
    if (u32(&tail[end]) == zip::kEndSignature &&
        end + zip::kEndSize + u16(&tail[end + 20]) <= tail.size()) {
      break;
    }
  }
  if (end == SIZE_MAX) throw_no_directory(file, path);
  Directory directory{
      .offset = u32(&tail[end + 16]), .size = u32(&tail[end + 12]), .count = u16(&tail[end + 10])};
  uint64_t limit = tail_at + end;
  const bool large = directory.offset == zip::kMax32 || directory.size == zip::kMax32 ||
                     directory.count == zip::kMax16;
  if (large && limit >= zip::kLocatorSize) {
    const auto locator = file.bytes(limit - zip::kLocatorSize, zip::kLocatorSize);
    if (u32(locator.data()) == zip::kLocatorSignature) {
      const uint64_t at = u64(&locator[8]);
      if (at > file.size() || file.size() - at < zip::kEnd64Size) {
        file.broken("its zip64 end record lies outside the file");
      }
      const auto record = file.bytes(at, zip::kEnd64Size);
      if (u32(record.data()) != zip::kEnd64Signature) file.broken("no zip64 end record");
      directory = {.offset = u64(&record[48]), .size = u64(&record[40]), .count = u64(&record[32])};
      limit = at;
    }
  }
  if (directory.offset > limit || directory.size > limit - directory.offset) {
    file.broken("its directory lies outside the file");
  }
  if (directory.count > directory.size / zip::kCentralSize) {
    file.broken("its directory is shorter than the number of members it states");
  }
  return directory;
}

/// Takes the 64-bit values that stand in the extra field for those that are all ones.
void apply_zip64(ZipEntry& entry, std::span<const unsigned char> extra, const File& file) {
  while (extra.size() >= 4) {
    const uint16_t id = u16(extra.data()), length = u16(&extra[2]);
    if (length > extra.size() - 4) file.broken("an extra field is too long");
    auto body = extra.subspan(4, length);
    extra = extra.subspan(4 + length);
    if (id != zip::kZip64Extra) continue;
    for (uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
      if (*value != zip::kMax32) continue;
      if (body.size() < 8) file.broken("a zip64 field is too short");
      *value = u64(body.data());
      body = body.subspan(8);
    }
  }
}

void check_entry(const ZipEntry& entry, const File& file, const fs::path& path) {
  const std::string where = path.string() + ": member " + printable(entry.name);
  if ((entry.flags & zip::kEncrypted) != 0) {
    throw_input("{} is encrypted; write the archive without a password", where);
  }
  if (entry.method != zip::kStored && entry.method != zip::kDeflated) {
    throw_input("{} uses compression method {}; only 0 (stored) and 8 (deflate) are read", where,
                entry.method);
  }
  if (entry.offset > file.size() || file.size() - entry.offset < zip::kLocalSize ||
      entry.packed > file.size() - entry.offset - zip::kLocalSize) {
    throw_input("{} lies outside the file of {} bytes; fetch or write the file again", where,
                file.size());
  }
  const bool possible = entry.method == zip::kStored
                            ? entry.size == entry.packed
                            : entry.size / kMaxDeflateRatio <= entry.packed;
  if (!possible) {
    throw_input("{} claims {} bytes, which cannot come from the {} bytes it has in the file", where,
                entry.size, entry.packed);
  }
}

}  // namespace

ZipArchive::ZipArchive(const fs::path& path) : path_(path) {
  File file(path);
  const Directory directory = find_directory(file, path);
  const auto bytes = file.bytes(directory.offset, directory.size);
  std::span<const unsigned char> rest(bytes);
  for (uint64_t k = 0; k < directory.count; ++k) {
    if (rest.size() < zip::kCentralSize || u32(rest.data()) != zip::kCentralSignature) {
      file.broken("its directory is not where it should be");
    }
    const size_t name = u16(&rest[28]), extra = u16(&rest[30]), comment = u16(&rest[32]);
    if (rest.size() - zip::kCentralSize < name + extra + comment) {
      file.broken("its directory ends inside an entry");
    }
    ZipEntry entry{.name = {reinterpret_cast<const char*>(&rest[0]) + zip::kCentralSize, name},
                   .flags = u16(&rest[8]),
                   .method = u16(&rest[10]),
                   .crc = u32(&rest[16]),
                   .packed = u32(&rest[20]),
                   .size = u32(&rest[24]),
                   .offset = u32(&rest[42])};
    apply_zip64(entry, rest.subspan(zip::kCentralSize + name, extra), file);
    check_entry(entry, file, path);
    entries_.push_back(std::move(entry));
    rest = rest.subspan(zip::kCentralSize + name + extra + comment);
  }
}

struct ZipMember::Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw_compute("zlib: cannot start inflating");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

ZipMember::ZipMember(const ZipArchive& archive, const ZipEntry& entry)
    : entry_(entry),
      where_(archive.path().string() + ": member " + printable(entry.name)),
      in_(archive.path(), std::ios::binary),
      packed_left_(entry.packed),
      size_left_(entry.size) {
  if (!in_) throw_input("{}: cannot be opened: {}", where_, std::strerror(errno));
  std::array<unsigned char, zip::kLocalSize> local{};
  in_.seekg(static_cast<std::streamoff>(entry.offset));
  in_.read(reinterpret_cast<char*>(local.data()), local.size());
  if (!in_ || u32(local.data()) != zip::kLocalSignature) {
    throw_input("{} does not begin where the directory states; fetch or write the file again",
                where_);
  }
  in_.seekg(u16(&local[26]) + u16(&local[28]), std::ios::cur);
  if (entry.method == zip::kDeflated) {
    inflater_ = std::make_unique<Inflater>();
    buffer_.resize(kBuffer);
  }
}

ZipMember::~ZipMember() = default;

void ZipMember::read(std::span<std::byte> out) {
  if (out.empty()) return;  // and zlib takes a null pointer for "start a new checksum"
  if (out.size() > size_left_) {
    throw_input("{} ends after {} bytes; the file is damaged", where_, entry_.size);
  }
  if (inflater_ != nullptr) {
    read_deflated(out);
  } else {
    read_stored(out);
  }
  crc_ = static_cast<uint32_t>(
      crc32_z(crc_, reinterpret_cast<const unsigned char*>(out.data()), out.size()));
  size_left_ -= out.size();
}

void ZipMember::read_stored(std::span<std::byte> out) {
  in_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (!in_) throw_input("{}: reading failed; the file is shorter than its header states", where_);
  packed_left_ -= out.size();
}

void ZipMember::refill() {
  const auto count = static_cast<size_t>(std::min<uint64_t>(kBuffer, packed_left_));
  in_.read(reinterpret_cast<char*>(buffer_.data()), static_cast<std::streamsize>(count));
  if (!in_) throw_input("{}: reading failed; the file is shorter than its header states", where_);
  packed_left_ -= count;
  inflater_->stream.next_in = buffer_.data();
  inflater_->stream.avail_in = static_cast<uInt>(count);
}

void ZipMember::read_deflated(std::span<std::byte> out) {
  z_stream& stream = inflater_->stream;
  while (!out.empty()) {
    if (stream.avail_in == 0 && packed_left_ > 0) refill();
    const auto chunk = static_cast<uInt>(std::min<size_t>(out.size(), size_t{1} << 30));
    stream.next_out = reinterpret_cast<unsigned char*>(out.data());
    stream.avail_out = chunk;
    const int status = inflate(&stream, Z_NO_FLUSH);
    const size_t made = chunk - stream.avail_out;
    out = out.subspan(made);
    const bool starved = made == 0 && stream.avail_in == 0 && packed_left_ == 0;
    if (status == Z_STREAM_END && !out.empty()) {
      throw_input("{} inflates to fewer bytes than the {} it states; the file is damaged", where_,
                  entry_.size);
    }
    if ((status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) || starved) {
      throw_input("{} cannot be inflated: {}; the file is damaged", where_,
                  stream.msg != nullptr ? stream.msg : "compressed data ends too early");
    }
  }
}

void ZipMember::finish() {
  if (size_left_ != 0) {
    throw_input("{} holds {} bytes more than its array needs", where_, size_left_);
  }
  if (crc_ != entry_.crc) {
    throw_input("{} has checksum {:08x}, its directory has {:08x}; the file is damaged", where_,
                crc_, entry_.crc);
  }
}

}  // namespace dgat::data
