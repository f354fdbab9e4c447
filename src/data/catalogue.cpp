#include "dgat/data/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "dgat/core/cache_dir.h"
#include "dgat/graph/homophily.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {

std::string normal(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return c == '_' ? '-' : static_cast<char>(std::tolower(c));
  });
  return out;
}

std::optional<fs::path> find_below(const fs::path& folder, const CatalogueEntry& entry) {
  std::error_code ignored;
  fs::path file = folder / (std::string(entry.stem) + ".npz");
  if (fs::exists(file, ignored)) return file;
  const bool complete =
      entry.files.size() > 1 &&
      std::all_of(entry.files.begin(), entry.files.end(), [&](const CatalogueFile& part) {
        return fs::exists(folder / part.path, ignored);
      });
  if (complete) return folder / entry.stem;
  return std::nullopt;
}

CatalogueCheck check_count(const char* quantity, int64_t published, int64_t found) {
  return {quantity, std::to_string(published), std::to_string(found), published == found};
}

CatalogueCheck check_measure(const char* quantity, double published, double found) {
  const auto rounded = [](double x) {
    return fmt::format("{:.2f}", std::round(x * 100) / 100 + 0.0);
  };
  const std::string a = rounded(published), b = rounded(found);
  return {quantity, a, b, a == b};
}

}  // namespace

const CatalogueEntry* find_in_catalogue(std::string_view name) {
  const std::string wanted = normal(name) == "film" ? "actor" : normal(name);
  for (const CatalogueEntry& entry : catalogue()) {
    if (wanted == entry.name || wanted == normal(entry.stem)) return &entry;
  }
  return nullptr;
}

std::optional<fs::path> find_locally(const CatalogueEntry& entry) {
  if (const char* folders = std::getenv("DGAT_DATA")) {
    std::string_view rest = folders;
    while (!rest.empty()) {
      const size_t colon = std::min(rest.find(':'), rest.size());
      if (colon > 0) {
        if (auto found = find_below(rest.substr(0, colon), entry)) return found;
      }
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
  }
  return find_below(cache_dir() / "datasets", entry);
}

std::vector<CatalogueCheck> compare_with_catalogue(const Dataset& dataset,
                                                   const CatalogueEntry& entry) {
  const graph::Homophily measured =
      graph::measure_homophily(dataset.graph, dataset.labels, dataset.classes);
  const PublishedHomophily& published = entry.homophily;
  return {
      check_count("nodes", entry.nodes, dataset.graph.nodes()),
      check_count("edges", entry.edges, dataset.graph.edges()),
      check_count("features", entry.features, dataset.features.cols()),
      check_count("classes", entry.classes, dataset.classes_present()),
      check_measure("node", published.node, measured.node),
      check_measure("edge", published.edge, measured.edge),
      check_measure("class", published.class_, measured.class_),
      check_measure("adjusted_edge", published.adjusted_edge, measured.adjusted_edge),
      check_measure("label_informativeness", published.label_informativeness,
                    measured.label_informativeness),
      check_measure("aggregation", published.aggregation, measured.aggregation),
  };
}

}  // namespace dgat::data
