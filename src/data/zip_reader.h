#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dgat::data {

/// One member, as the directory at the end of the archive describes it.
struct ZipEntry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, offset = 0;
};

/// The directory of a zip archive (with zip64).
///
/// Every size is checked against the file before anything relies on it: members lie inside the
/// file and claim no more bytes than deflate can make of them (1032 to one).
/// Throws: InputError that names the file.
class ZipArchive {
 public:
  explicit ZipArchive(const std::filesystem::path& path);
  const std::filesystem::path& path() const { return path_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }

 private:
  std::filesystem::path path_;
  std::vector<ZipEntry> entries_;
};

/// The content of one member, front to back; stored or deflated.
class ZipMember {
 public:
  ZipMember(const ZipArchive& archive, const ZipEntry& entry);
  ~ZipMember();
  ZipMember(const ZipMember&) = delete;
  ZipMember& operator=(const ZipMember&) = delete;

  /// Fills `out`. Throws InputError when the member ends before.
  void read(std::span<std::byte> out);
  /// To be called after the last byte: checks length and CRC.
  void finish();
  uint64_t size() const { return entry_.size; }
  const std::string& where() const { return where_; }  ///< "file: member name", for errors

 private:
  struct Inflater;
  void refill();
  void read_stored(std::span<std::byte> out);
  void read_deflated(std::span<std::byte> out);

  ZipEntry entry_;
  std::string where_;
  std::ifstream in_;
  std::unique_ptr<Inflater> inflater_;
  std::vector<unsigned char> buffer_;
  uint64_t packed_left_ = 0, size_left_ = 0;
  uint32_t crc_ = 0;
};

}  // namespace dgat::data
