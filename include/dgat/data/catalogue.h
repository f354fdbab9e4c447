#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dgat/data/dataset.h"

namespace dgat::data {

/// One file of a data set: its path below a cache or mirror, and its source.
struct CatalogueFile {
  const char* path;    ///< "actor.npz", "cornell_old/out1_graph_edges.txt"
  const char* url;     ///< pinned to a commit
  const char* sha256;  ///< "" where it is not known
  int64_t bytes;       ///< 0 where it is not known
};

/// Homophily as the paper prints it, two decimals.
struct PublishedHomophily {
  double node, edge, class_, aggregation, adjusted_edge, label_informativeness;
};

/// One data set of the paper, with the statistics of its two data-set tables.
struct CatalogueEntry {
  const char* name;
  const char* stem;  ///< of its file or folder: STEM.npz or STEM/
  int64_t nodes, edges, features;
  int32_t classes;
  Metric metric;
  PublishedHomophily homophily;
  const char* origin;
  const char* licence;
  const char* note;                      ///< a remark for users, or ""
  std::span<const CatalogueFile> files;  ///< empty: no source in a format that dgat reads
};

/// The paper's 16 data sets.
std::span<const CatalogueEntry> catalogue();

/// Case does not matter, '_' is '-', and film is actor; nullptr when there is no such name.
const CatalogueEntry* find_in_catalogue(std::string_view name);

/// The path of a data set on this machine: STEM.npz, or a folder STEM/ with all its files. Looks in
/// the folders of $DGAT_DATA (separated by ':'), then in <cache>/datasets.
std::optional<std::filesystem::path> find_locally(const CatalogueEntry& entry);

/// One line of a comparison with the catalogue.
struct CatalogueCheck {
  std::string quantity, published, found;
  bool agrees = false;
};
/// Counts exactly, homophily rounded to the two decimals of the paper.
/// Cost: that of graph::measure_homophily.
std::vector<CatalogueCheck> compare_with_catalogue(const Dataset& dataset,
                                                   const CatalogueEntry& entry);

}  // namespace dgat::data
