#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

/// Fuzz targets: one per reader. A program has several; the environment variable DGAT_FUZZ names
/// the one to run.
namespace dgat::fuzz {

struct Target {
  std::string_view name;
  /// Reads the bytes as a file would be read. May throw dgat::Error and nothing else.
  void (*read)(std::string_view bytes);
};

/// Every program defines its own.
std::span<const Target> targets();

/// A folder in memory for the files of this process.
const std::filesystem::path& folder();
/// Writes a file there and returns its path.
std::filesystem::path file(std::string_view name, std::string_view bytes);

/// Cuts the bytes at the first line that is "----": inputs of readers that take several files.
std::pair<std::string_view, std::string_view> halves(std::string_view bytes);

}  // namespace dgat::fuzz
