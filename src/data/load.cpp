#include "dgat/data/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/data/catalogue.h"
#include "dgat/data/csv.h"
#include "dgat/data/edge_list.h"
#include "dgat/data/geom_gcn.h"
#include "dgat/data/gml.h"
#include "dgat/data/graphml.h"
#include "dgat/data/matlab.h"
#include "dgat/data/matrix_market.h"
#include "dgat/data/npz_dataset.h"
#include "dgat/data/ogb.h"
#include "dgat/data/parts.h"
#include "dgat/data/scipy_npz.h"

namespace dgat::data {
namespace fs = std::filesystem;
namespace {

/// What one format can do. A path is given to the first format that recognises it.
struct Format {
  const char* name;                        ///< as in --from and --to
  const char* looks_like;                  ///< how its paths are recognised, for help and errors
  bool (*is_input)(const fs::path& path);  ///< asked for paths that exist
  Dataset (*read)(const fs::path& path, const LoadOptions& options);
  bool (*is_output)(const fs::path& path);  ///< asked for paths that may not exist yet
  void (*write)(const Dataset& dataset, const fs::path& path);  ///< null: only read
};

constexpr char kNpz[] = ".npz";

/// Whether a path ends so, in either case. (A template, so that it fits into the table.)
template <const char* extension>
bool has_extension(const fs::path& path) {
  std::string text = path.extension().string();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text == extension;
}

constexpr char kGz[] = ".gz", kMtx[] = ".mtx", kGraphml[] = ".graphml", kGml[] = ".gml",
               kMat[] = ".mat";

/// The extension, or the extension followed by .gz.
template <const char* extension>
bool has_text_extension(const fs::path& path) {
  return has_extension<extension>(path) ||
         (has_extension<kGz>(path) && has_extension<extension>(path.stem()));
}
constexpr auto is_matrix_market = has_text_extension<kMtx>;
constexpr auto is_graphml = has_text_extension<kGraphml>;
constexpr auto is_gml = has_text_extension<kGml>;

/// For formats that have to be named, or that another one recognises.
bool never(const fs::path&) {
  return false;
}

/// Every format. Folder layouts come before extensions.
const std::vector<Format>& formats() {
  static const std::vector<Format> table{
      // A new folder becomes a CSV pair unless the format is named.
      {"geom-gcn", "a folder with out1_graph_edges.txt", is_geom_gcn_folder, read_geom_gcn, never,
       write_geom_gcn},
      // Written by `dgat partition`, which knows the parts.
      {"parts", "a folder with meta.json, from `dgat partition`", is_parts_folder, read_parts,
       never, nullptr},
      {"ogb", "a folder with raw/edge.csv.gz", is_ogb_folder, read_ogb, never, nullptr},
      {"csv", "a folder with nodes.csv and edges.csv, or one of these files",
       [](const fs::path& path) { return find_csv_files(path).has_value(); }, read_csv,
       [](const fs::path& path) { return !path.has_extension() || fs::is_directory(path); },
       write_csv},
      {"mtx", ".mtx, .mtx.gz", is_matrix_market, read_matrix_market, is_matrix_market,
       write_matrix_market},
      {"npz", ".npz", has_extension<kNpz>, read_npz, has_extension<kNpz>, write_npz},
      {"scipy", ".npz with adj_indptr", never,
       [](const fs::path& path, const LoadOptions& options) {
         return read_scipy_npz(NpzReader(path), options);
       },
       never, write_scipy_npz},
      {"graphml", ".graphml, .graphml.gz", is_graphml, read_graphml, is_graphml, write_graphml},
      {"gml", ".gml, .gml.gz", is_gml, read_gml, never, nullptr},
      {"matlab", ".mat of version 5", has_extension<kMat>, read_matlab, never, nullptr},
      {"edgelist", ".txt, .edgelist, .edges, each with .gz", is_edge_list, read_edge_list,
       is_edge_list, write_edge_list},
  };
  return table;
}

const Format& format_named(std::string_view name) {
  for (const Format& format : formats()) {
    if (name == format.name) return format;
  }
  throw_input("format {} is not known; the formats are {}", name, known_formats());
}

const Format& input_format(const fs::path& path, const LoadOptions& options) {
  if (!options.format.empty()) return format_named(options.format);
  for (const Format& format : formats()) {
    if (format.is_input(path)) return format;
  }
  throw_input("{}: not a data set in any known format; these are {}", path.string(),
              known_formats());
}

const Format& output_format(const fs::path& path, std::string_view name) {
  if (!name.empty()) {
    const Format& format = format_named(name);
    if (format.write == nullptr) throw_input("{}: the format {} is only read", path.string(), name);
    return format;
  }
  for (const Format& format : formats()) {
    if (format.is_output(path)) return format;
  }
  throw_input("{}: the name does not show which format to write; known formats: {}", path.string(),
              known_formats());
}

/// The file or folder that a user's argument means.
fs::path resolve(const std::string& path_or_name) {
  fs::path path(path_or_name);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status)) {
    if (fs::is_regular_file(status) || fs::is_directory(status)) return path;
    throw_input("{}: is a pipe or a device; copy the data to a file and name that", path_or_name);
  }
  if (fs::is_symlink(path, error)) {
    throw_input("{}: is a symbolic link to {}, which does not exist", path_or_name,
                fs::read_symlink(path, error).string());
  }
  if (const CatalogueEntry* entry = find_in_catalogue(path_or_name)) {
    if (auto found = find_locally(*entry)) return *found;
    throw_input("{}: this data set is not on this machine; {} (or name a file)", path_or_name,
                entry->files.empty() ? entry->note
                                     : fmt::format("run `dgat datasets fetch {}`", entry->name));
  }
  throw_input(
      "{}: no such file or folder, and no data set of that name is known; "
      "`dgat datasets` lists the names",
      path_or_name);
}

std::string stem_of(const fs::path& path) {
  const fs::path clean = path.has_filename() ? path : path.parent_path();  // "folder/"
  return fs::is_directory(clean) ? clean.filename().string() : clean.stem().string();
}

void report_dropped(const Dataset& dataset) {
  if (dataset.dropped_self_loops == 0 && dataset.dropped_duplicates == 0) return;
  notice(fmt::format("{}: dropped {} self loops and {} duplicate edges", dataset.name,
                     dataset.dropped_self_loops, dataset.dropped_duplicates));
}

/// Classes are numbers from 0; a missing one still has its column in every network.
void report_missing_class(const Dataset& dataset) {
  std::vector<bool> there(static_cast<size_t>(dataset.classes), false);
  for (const int32_t label : dataset.labels) {
    if (label >= 0) there[static_cast<size_t>(label)] = true;
  }
  const auto missing = std::find(there.begin(), there.end(), false);
  if (missing == there.end()) return;
  notice(
      fmt::format("{}: labels go up to {}, but no node has label {}; it counts as one of {} "
                  "classes: number them from 0 without gaps",
                  dataset.name, dataset.classes - 1, missing - there.begin(), dataset.classes));
}

}  // namespace

Dataset load_dataset(const std::string& path_or_name, const LoadOptions& options) {
  const fs::path path = resolve(path_or_name);
  Dataset dataset = input_format(path, options).read(path, options);
  if (dataset.name.empty()) dataset.name = stem_of(path);
  if (path != fs::path(path_or_name)) dataset.name = find_in_catalogue(path_or_name)->name;
  apply_split_options(dataset, options.splits);
  validate(dataset, path.string());
  report_dropped(dataset);
  report_missing_class(dataset);
  return dataset;
}

void save_dataset(const Dataset& dataset, const fs::path& path, std::string_view format) {
  output_format(path, format).write(dataset, path);
}

std::string known_formats() {
  std::string text;
  for (const Format& format : formats()) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} ({})", format.name, format.looks_like);
  }
  return text;
}

}  // namespace dgat::data
