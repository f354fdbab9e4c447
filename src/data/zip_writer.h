#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dgat/core/files.h"

namespace dgat::data {

/// Writes a zip archive, member after member; whole at finish() or not at all. Large members and
/// archives get zip64 records. No clock is read: equal content gives equal bytes.
class ZipWriter {
 public:
  /// level 0 stores, 1 to 9 deflate.
  ZipWriter(const std::filesystem::path& path, int level, bool force_zip64);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  /// `size` is the number of bytes that write() will be given before end().
  void begin(const std::string& name, uint64_t size);
  void write(std::span<const std::byte> bytes);
  void end();
  void finish();

 private:
  struct Member {
    std::string name;
    uint64_t size = 0, packed = 0, offset = 0;
    uint32_t crc = 0;
    bool zip64 = false;
  };
  struct Deflater;
  void deflate_some(std::span<const std::byte> bytes, bool last);
  std::string local_header(const Member& member) const;
  std::string central_header(const Member& member) const;
  std::string end_records(uint64_t directory, uint64_t size) const;
  uint64_t position();

  AtomicFile file_;
  int level_;
  bool force_zip64_;
  std::vector<Member> members_;
  std::unique_ptr<Deflater> deflater_;
  uint64_t written_ = 0;  ///< bytes given for the open member
};

}  // namespace dgat::data
