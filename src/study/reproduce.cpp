#include "dgat/study/reproduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/core/suggest.h"
#include "dgat/data/load.h"
#include "dgat/train/inputs.h"
#include "reproduce_parts.h"

namespace dgat::study {
namespace fs = std::filesystem;

namespace {

constexpr PaperTable kTables[] = {
    {"heterophily", "16 models on the 7 heterophily data sets"},
    {"small", "GAT, DGN and DGAT on the 9 small data sets"},
    {"ablation", "the seven ablation rows on the 7 heterophily data sets"},
    {"ablation-small", "the seven ablation rows on the 9 small data sets"},
    {"tuned", "tuned classic networks of 2024 in recipe deep, and searched ones of --tuned"},
    {"synthetic", "GAT, GATv2 and DGAT over gamma on synthetic graphs of homophily 0 .. 0.9"},
    {"gamma-gcn", "one layer with P(1, gamma) on the same graphs: the figure over mu and gamma"},
    {"homophily", "homophily measures of the 16 data sets"},
    {"statistics", "nodes, edges, features and classes of the 16 data sets"},
};

std::optional<fs::path> in_folder(const fs::path& folder, const data::CatalogueEntry& entry,
                                  bool graph_only) {
  std::vector<std::string> names = {std::string(entry.stem) + ".npz", entry.stem};
  if (graph_only) names.push_back(std::string(entry.stem) + "_nofeatures.npz");
  std::error_code ignored;
  for (const std::string& name : names) {
    if (fs::exists(folder / name, ignored)) return folder / name;
  }
  return std::nullopt;
}

std::string how_to_get(const data::CatalogueEntry& entry) {
  return fmt::format(
      "not on this machine; {}, or put {}.npz into the folder of --data-dir",
      entry.files.empty() ? entry.note : fmt::format("run `dgat datasets fetch {}`", entry.name),
      entry.stem);
}

Cell text_cell(const data::CatalogueCheck& check, bool published) {
  return {published ? check.published : check.found};
}

}  // namespace

std::span<const PaperTable> paper_tables() {
  return kTables;
}

std::vector<Found> find_datasets(const ReproduceOptions& options,
                                 std::span<const char* const> names, bool graph_only,
                                 std::vector<Skipped>& skipped) {
  std::vector<const data::CatalogueEntry*> wanted;
  for (const std::string& name : options.datasets) {
    const data::CatalogueEntry* entry = data::find_in_catalogue(name);
    const bool in_table =
        entry != nullptr && std::any_of(names.begin(), names.end(), [entry](const char* each) {
          return std::string_view(entry->name) == each;
        });
    if (!in_table) {
      throw_input("reproduce: {} is not in the table {}{}", name, options.table,
                  did_you_mean(name, {names.begin(), names.end()}));
    }
    wanted.push_back(entry);
  }
  std::vector<Found> found;
  for (const char* name : names) {
    const data::CatalogueEntry* entry = data::find_in_catalogue(name);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), entry) == wanted.end()) {
      continue;
    }
    std::optional<fs::path> path;
    if (!options.data_dir.empty()) path = in_folder(options.data_dir, *entry, graph_only);
    if (!path) path = data::find_locally(*entry);
    if (path) {
      found.push_back({entry, *path});
    } else {
      skipped.push_back({entry->name, how_to_get(*entry)});
    }
  }
  return found;
}

data::Dataset load_found(const Found& found, const train::Settings& settings) {
  train::Settings request = {{"data", found.path.string()}, {"preset", "paper"}};
  for (const char* key : {"splits", "seed"}) {
    if (settings.contains(key)) request[key] = settings.at(key);
  }
  data::Dataset dataset = train::load_for(request);
  dataset.name = found.entry->name;
  return dataset;
}

Json to_json(const std::vector<Skipped>& skipped) {
  Json json = Json::array();
  for (const Skipped& each : skipped) {
    json.push_back({{"dataset", each.dataset}, {"reason", each.reason}});
  }
  return json;
}

void add_notes(Table& table, const std::vector<Skipped>& skipped) {
  for (const Skipped& each : skipped) {
    table.notes.push_back(fmt::format("Skipped {}: {}", each.dataset, each.reason));
  }
}

std::string time_note(const std::vector<StudyResult>& results) {
  double seconds = 0;
  StudyResult all;
  for (const StudyResult& result : results) {
    seconds += result.seconds();
    all.side_by_side = std::max(all.side_by_side, result.side_by_side);
    all.threads = std::max(all.threads, result.threads);
  }
  return fmt::format("{} of training; {}.", format_duration(seconds), circumstances(all));
}

Reproduction reproduce_measures(const ReproduceOptions& options) {
  const bool homophily = options.table == "homophily";
  const std::vector<std::string> quantities =
      homophily ? std::vector<std::string>{"node",        "edge",          "class",
                                           "aggregation", "adjusted_edge", "label_informativeness"}
                : std::vector<std::string>{"nodes", "edges", "features", "classes"};
  std::vector<const char*> names;
  for (const data::CatalogueEntry& entry : data::catalogue()) names.push_back(entry.name);
  std::vector<Skipped> skipped;
  Table table;
  table.title = homophily ? "Homophily measures, ours beside the paper's"
                          : "Data set statistics, ours beside the paper's";
  table.columns = {{"dataset", "data set"}};
  for (const std::string& quantity : quantities) {
    table.columns.push_back({quantity, quantity == "label_informativeness" ? "LI"
                                       : quantity == "adjusted_edge"       ? "adj. edge"
                                       : quantity == "aggregation"         ? "aggr."
                                                                           : quantity});
    table.columns.push_back({quantity + "_paper", "paper"});
  }
  table.columns.push_back({"agrees", "agrees"});
  Json datasets = Json::array();
  for (const Found& found : find_datasets(options, names, true, skipped)) {
    const data::Dataset dataset = data::load_dataset(found.path.string());
    const auto checks = data::compare_with_catalogue(dataset, *found.entry);
    std::vector<Cell> row = {found.entry->name};
    Json json = {{"dataset", found.entry->name}, {"checks", Json::array()}};
    bool agrees = true;
    for (const std::string& quantity : quantities) {
      const auto at = std::find_if(checks.begin(), checks.end(),
                                   [&](const auto& check) { return check.quantity == quantity; });
      const bool no_features = quantity == "features" && dataset.features.empty();
      row.push_back(no_features ? Cell("-") : text_cell(*at, false));
      row.push_back(text_cell(*at, true));
      agrees = agrees && (at->agrees || no_features);
      json["checks"].push_back({{"quantity", quantity},
                                {"found", at->found},
                                {"published", at->published},
                                {"agrees", at->agrees}});
    }
    row.push_back(Cell::check(agrees));
    table.rows.push_back(std::move(row));
    datasets.push_back(std::move(json));
  }
  add_notes(table, skipped);
  Json json = {{"study", "reproduce"},
               {"table", options.table},
               {"datasets", std::move(datasets)},
               {"skipped", to_json(skipped)},
               {"trials_left", 0},
               {"tables", Json::array({Json::parse(table.json())})}};
  return {{table}, dump(json), 0};
}

Reproduction reproduce(const ReproduceOptions& options, Ledger& ledger,
                       spectral::SpectralCache& cache) {
  const std::string& table = options.table;
  if (table == "homophily" || table == "statistics") return reproduce_measures(options);
  if (table == "synthetic" || table == "gamma-gcn") {
    return reproduce_synthetic(options, ledger, cache);
  }
  std::vector<std::string> known;
  for (const PaperTable& each : kTables) known.emplace_back(each.name);
  if (std::find(known.begin(), known.end(), table) == known.end()) {
    throw_input("reproduce: there is no table {}{}", table, did_you_mean(table, known));
  }
  return reproduce_benchmark(options, ledger, cache);
}

}  // namespace dgat::study
