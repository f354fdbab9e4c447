#pragma once

#include <filesystem>

namespace dgat::data {

/// A folder that appears whole: filled under a temporary name and renamed by commit(). A folder
/// that exists is filled in place, file by file. Without commit() a new folder leaves no trace.
/// Throws: InputError when it cannot be created.
class OutputFolder {
 public:
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  std::filesystem::path operator/(const std::string& file) const { return working_ / file; }
  void commit();

 private:
  std::filesystem::path final_, working_;
  bool committed_ = false;
};

/// The name a folder goes by: its last component, also for "x/", "." and "..".
std::string folder_name(const std::filesystem::path& folder);

}  // namespace dgat::data
