// Which files belong to a CSV data set.
#include <array>
#include <string_view>

#include "dgat/data/csv.h"
#include "output_folder.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 4> kExtensions = {".csv", ".tsv", ".csv.gz", ".tsv.gz"};

fs::path existing(const fs::path& folder, const std::string& base) {
  for (const std::string_view extension : kExtensions) {
    fs::path path = folder / (base + std::string(extension));
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

/// "x_nodes.csv.gz" -> "x_nodes"; empty when the name has none of the extensions.
std::string base_name(const std::string& file) {
  for (const std::string_view extension : kExtensions) {
    if (file.size() > extension.size() && file.ends_with(extension)) {
      return file.substr(0, file.size() - extension.size());
    }
  }
  return {};
}

}  // namespace

std::optional<CsvFiles> find_csv_files(const fs::path& path) {
  std::error_code ignored;
  CsvFiles files;
  const auto find_all = [&](const fs::path& folder, const std::string& prefix) {
    files.nodes = existing(folder, prefix + "nodes");
    files.edges = existing(folder, prefix + "edges");
    files.splits = existing(folder, prefix + "splits");
  };
  if (fs::is_directory(path, ignored)) {
    find_all(path, "");
    files.name = folder_name(path);
    if (files.nodes.empty() && files.edges.empty()) return std::nullopt;
    return files;
  }
  const std::string base = base_name(path.filename().string());
  if (base.empty()) return std::nullopt;
  const fs::path folder = path.parent_path();
  if (!base.ends_with("nodes") && !base.ends_with("edges")) {
    files.edges = path;
    files.name = base;
    return files;
  }
  std::string prefix = base.substr(0, base.size() - std::string_view("nodes").size());
  find_all(folder, prefix);
  // The file that was named takes precedence over a sibling with another extension.
  (base.ends_with("nodes") ? files.nodes : files.edges) = path;
  prefix.erase(prefix.find_last_not_of("_-.") + 1);
  files.name = prefix.empty() ? folder_name(folder.empty() ? fs::path(".") : folder) : prefix;
  return files;
}

}  // namespace dgat::data
