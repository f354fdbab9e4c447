#pragma once

#include <filesystem>
#include <string>

namespace dgat::test {

/// A fresh folder that is removed at the end of the test.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, const std::string& text);

/// tests/data, the files that tests read.
std::filesystem::path data_folder();

/// Folder of the real data sets, or an empty path on a machine that has none: a test then says
///   if (shared_datasets().empty()) GTEST_SKIP() << kNoDatasets;
std::filesystem::path shared_datasets();
inline constexpr const char* kNoDatasets = "no ../shared/datasets beside the repository: skipped";

}  // namespace dgat::test
