#include <fmt/format.h>

#include <array>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/data/npz.h"
#include "geom_gcn_files.h"
#include "output_folder.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {

std::string split_file(const std::string& name, size_t k) {
  return fmt::format("{}_split_0.6_0.2_{}.npz", name, k);
}

/// The folder and name under which the first split file exists.
std::pair<fs::path, std::string> find_splits(const fs::path& folder) {
  const fs::path clean = folder.has_filename() ? folder : folder.parent_path();
  const std::array<fs::path, 4> places = {clean, clean / "splits", clean / ".." / "splits",
                                          clean / ".." / ".." / "splits"};
  std::string name = folder_name(folder);
  std::vector<std::string> names = {name};
  constexpr std::string_view kOld = "_old";
  if (name.ends_with(kOld)) names.push_back(name.substr(0, name.size() - kOld.size()));
  for (const std::string& candidate : names) {
    for (const fs::path& place : places) {
      std::error_code ignored;
      if (fs::exists(place / split_file(candidate, 0), ignored)) return {place, candidate};
    }
  }
  return {};
}

/// Labelled nodes of a mask; unlabelled ones are counted.
std::vector<graph::NodeId> read_mask(const NpzReader& file, const char* key,
                                     const std::vector<int32_t>& labels, int64_t& unlabelled) {
  const auto nodes = static_cast<int64_t>(labels.size());
  if (!file.contains(key)) {
    throw_input("{}: has no array {}; a split file holds train_mask, val_mask and test_mask",
                file.path(), key);
  }
  const ArrayInfo info = file.info(key);
  if (info.shape.size() != 1 || info.shape[0] != nodes) {
    throw_input(
        "{}: {} has shape {}, but the graph has {} nodes; is it the split of another graph?",
        file.path(), key, info.shape_text(), nodes);
  }
  const std::vector<uint8_t> mask = file.read<uint8_t>(key);
  std::vector<graph::NodeId> members;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] > 1) {
      throw_input("{}: {} entry {} is {}; a mask holds 0 and 1", file.path(), key, i, int{mask[i]});
    }
    if (mask[i] == 0) continue;
    if (labels[i] < 0) {
      ++unlabelled;
    } else {
      members.push_back(static_cast<graph::NodeId>(i));
    }
  }
  return members;
}

}  // namespace

std::vector<Split> read_geom_gcn_splits(const fs::path& folder, const Dataset& dataset) {
  std::vector<Split> splits;
  const auto [place, name] = find_splits(folder);
  if (name.empty()) return splits;
  std::error_code ignored;
  int64_t unlabelled = 0;
  for (size_t k = 0; fs::exists(place / split_file(name, k), ignored); ++k) {
    const NpzReader file(place / split_file(name, k));
    Split split;
    split.train = read_mask(file, "train_mask", dataset.labels, unlabelled);
    split.val = read_mask(file, "val_mask", dataset.labels, unlabelled);
    split.test = read_mask(file, "test_mask", dataset.labels, unlabelled);
    splits.push_back(std::move(split));
  }
  if (unlabelled > 0) {
    notice(fmt::format("{}: left out {} unlabelled entries of the splits", folder.string(),
                       unlabelled));
  }
  return splits;
}

void write_geom_gcn_splits(const Dataset& dataset, const fs::path& folder,
                           const std::string& name) {
  const size_t nodes = dataset.labels.size();
  for (size_t k = 0; k < dataset.splits.size(); ++k) {
    NpzWriter file(folder / split_file(name, k));
    const auto add = [&](const char* key, const std::vector<graph::NodeId>& members) {
      std::vector<uint8_t> mask(nodes, 0);
      for (const graph::NodeId i : members) mask[static_cast<size_t>(i)] = 1;
      file.add(key, {static_cast<int64_t>(nodes)}, std::span<const uint8_t>(mask));
    };
    add("train_mask", dataset.splits[k].train);
    add("val_mask", dataset.splits[k].val);
    add("test_mask", dataset.splits[k].test);
    file.finish();
  }
  // Files of an earlier data set with more splits would be read back as this one's.
  for (size_t k = dataset.splits.size(); fs::remove(folder / split_file(name, k)); ++k) {
  }
}

}  // namespace dgat::data
