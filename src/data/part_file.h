#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace dgat::data {

/// The unfinished file of a download: PATH.part, and PATH.part.from with the URL and the server's
/// name of the version that its bytes belong to. Locked while it lives. A part of another URL is
/// emptied. Destroyed without keep() or discard(), it stays for the next attempt (unless empty).
/// Throws: InputError when it cannot be written or another process holds it.
class PartFile {
 public:
  PartFile(const std::filesystem::path& path, const std::string& url);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  int64_t size() const { return size_; }
  const std::string& version() const { return version_; }
  const std::filesystem::path& path() const { return part_; }
  int error() const { return error_; }  ///< errno of the last failure

  /// Cuts the part at `offset` and notes which version the following bytes belong to.
  bool restart_at(int64_t offset, const std::string& version);
  bool append(std::string_view bytes);
  std::string sha256() const;
  void discard();
  /// Flushes and renames to PATH. Throws ComputeError when that fails.
  void keep();

 private:
  std::filesystem::path final_, part_, from_;
  std::string url_, version_;
  int file_ = -1;
  int error_ = 0;
  int64_t size_ = 0;
};

}  // namespace dgat::data
