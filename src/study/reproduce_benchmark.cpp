#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/nn/registry.h"
#include "dgat/study/ablation.h"
#include "dgat/study/rows.h"
#include "percent.h"
#include "reproduce_parts.h"

namespace dgat::study {
namespace {

constexpr double kFarBelow = -2;  // deviations

/// What the four tables with real data sets differ in.
struct Kind {
  bool small, ablation, tuned;
  std::span<const char*const> datasets, models;
};

Kind kind_of(const std::string& table) {
  Kind kind{table == "small" || table == "ablation-small",
            table.starts_with("ablation"),
            table == "tuned",
            {},
            {}};
  if (kind.tuned) {
    kind.datasets = tuned_datasets();
    kind.models = tuned_models();
    return kind;
  }
  kind.datasets = kind.small ? small_datasets() : heterophily_datasets();
  if (!kind.ablation) kind.models = kind.small ? small_models() : heterophily_models();
  return kind;
}

/// NAME.yaml or NAME/config.yaml, also with the underscores that files of data sets have.
std::optional<std::filesystem::path> tuned_file(const std::filesystem::path& folder,
                                                const std::string& dataset) {
  std::string as_file = dataset;
  std::replace(as_file.begin(), as_file.end(), '-', '_');
  for (const std::string& name : {dataset, as_file}) {
    for (const auto& path : {folder / (name + ".yaml"), folder / name / "config.yaml"}) {
      if (std::filesystem::exists(path)) return path;
    }
  }
  return std::nullopt;
}

/// What `dgat tune` found for a data set, then what was given; only options of the training itself.
train::Settings tuned_settings(const ReproduceOptions& options, const std::string& dataset) {
  train::Settings settings;
  if (!options.tuned.empty()) {
    const std::optional<std::filesystem::path> file = tuned_file(options.tuned, dataset);
    if (file) {
      settings = train::for_any_model(settings_from(*file));
    } else {
      notice(fmt::format(
          "reproduce: {} has no options for {}; its directional rows use the default options",
          options.tuned.string(), dataset));
    }
  }
  for (const auto& [key, value] : options.settings) settings[key] = value;
  return settings;
}

Row model_row(const std::string& model, const ReproduceOptions& options,
              const train::Settings& tuned, bool small, const std::string& dataset) {
  const auto known = nn::all_models();
  const auto info = std::find_if(known.begin(), known.end(),
                                 [&](const nn::ModelInfo& each) { return each.name == model; });
  if (info == known.end()) return {model, {}, "this build does not have the model"};
  const bool ours = !plain_form(model).empty();
  train::Settings settings = ours ? tuned : options.settings;
  if (small && info->has_classic) settings.emplace("recipe", "classic");
  settings = with_paper_defaults(std::move(settings), model);
  const bool gridded = ours && !options.grid.empty();
  Row row = row_of(gridded ? fmt::format("{}:{}", model, options.grid) : model, settings, dataset);
  row.name = model;
  return row;
}

std::vector<Row> rows_for(const Kind& kind, const ReproduceOptions& options,
                          const std::string& dataset) {
  if (kind.tuned) return tuned_rows(options, dataset);
  train::Settings settings = tuned_settings(options, dataset);
  if (kind.ablation) {
    if (kind.small) settings.emplace("recipe", "classic");
    for (const char* key : {"laplacian", "directional"}) settings.erase(key);  // what it switches
    if (settings.contains("rewire") && settings.at("rewire") == "none") settings.erase("rewire");
    return rows_of_ablation(with_paper_defaults(std::move(settings), "dgat"), options.grid,
                            dataset);
  }
  std::vector<Row> rows;
  for (const char* model : kind.models) {
    const bool wanted =
        options.models.empty() ||
        std::find(options.models.begin(), options.models.end(), model) != options.models.end();
    if (wanted) rows.push_back(model_row(model, options, settings, kind.small, dataset));
  }
  return rows;
}

void check_models(const Kind& kind, const ReproduceOptions& options) {
  for (const std::string& model : options.models) {
    if (std::find(kind.models.begin(), kind.models.end(), model) == kind.models.end()) {
      throw_input("reproduce: the table {} has no row for model {}", options.table, model);
    }
  }
}

std::optional<Published> paper_value(const Kind& kind, const StudyResult& result, size_t row) {
  if (kind.tuned) return tuned_published(result.dataset, result.rows[row].name);
  return kind.ablation ? published_ablation(result.dataset, ablation_rows()[row])
                       : published_result(result.dataset, result.rows[row].name);
}

/// Check marks (ablation) or nothing, in front of the numbers.
std::vector<Cell> lead_of(const Kind& kind, const RowResult& row, size_t index) {
  if (kind.ablation) return ablation_cells(row.name, ablation_rows()[index]);
  return {Cell(row.name)};
}

std::vector<Table::Column> lead_columns(const Kind& kind) {
  if (kind.ablation) return ablation_columns();
  return {{"model", "model"}};
}

/// As the paper prints it: a row per model, a column per data set.
Table wide_table(const Kind& kind, const std::vector<StudyResult>& results,
                 const std::string& title) {
  Table table;
  table.title = title;
  table.columns = lead_columns(kind);
  for (const StudyResult& result : results) {
    table.columns.push_back({result.dataset, result.dataset});
  }
  for (size_t r = 0; !results.empty() && r < results.front().rows.size(); ++r) {
    std::vector<Cell> cells = lead_of(kind, results.front().rows[r], r);
    for (const StudyResult& result : results) {
      const RowResult& row = result.rows[r];
      cells.push_back(row.finished() ? percent_cell(row, row.test)
                                     : Cell(row.failure.empty() ? "not run" : "failed"));
    }
    table.rows.push_back(std::move(cells));
  }
  for (const StudyResult& result : results) {
    if (const auto best = result.best_row()) mark(table, result.dataset, *best);
  }
  return table;
}

struct Verdict {
  int64_t compared = 0, at_least_equal = 0;
  std::string far_below;
};

Table long_table(const Kind& kind, const std::vector<StudyResult>& results, Verdict& verdict) {
  Table table;
  table.title = "Beside the published numbers";
  table.columns = {{"dataset", "data set"},
                   {"model", kind.ablation ? "row" : "model"},
                   {"test", "test"},
                   {"published", "published"},
                   {"difference", "difference"},
                   {"deviations", "σ"},
                   {"layers", "layers"},
                   {"splits", "splits"},
                   {"seconds_per_step", "s/step"},
                   {"seconds", "time s"}};
  for (const StudyResult& result : results) {
    for (size_t r = 0; r < result.rows.size(); ++r) {
      const RowResult& row = result.rows[r];
      const std::optional<Published> paper = paper_value(kind, result, r);
      std::vector<Cell> cells(table.columns.size());
      cells[0] = result.dataset;
      cells[1] = row.name;
      if (paper) cells[3] = Cell::mean_std(paper->mean, paper->std);
      if (!row.finished()) {
        cells[2] = row.failure.empty() ? "not run" : "failed";
        table.rows.push_back(std::move(cells));
        continue;
      }
      const double mean = kPercent * row.test.mean, std = kPercent * row.test.std;
      cells[2] = percent_cell(row, row.test);
      if (paper) {
        const double deviations = difference_in_deviations(mean, std, *paper);
        cells[4] = Cell::difference(mean - paper->mean);
        cells[5] = Cell::difference(deviations, 1);
        ++verdict.compared;
        if (mean >= paper->mean) ++verdict.at_least_equal;
        if (deviations < kFarBelow) {
          verdict.far_below += fmt::format("{}{} on {}", verdict.far_below.empty() ? "" : ", ",
                                           row.name, result.dataset);
        }
      }
      cells[6] = Cell::number(static_cast<double>(row.choice().layers), 0);
      cells[7] = Cell::number(static_cast<double>(row.splits.size()), 0);
      cells[8] = Cell::number(row.seconds_per_step, 4);
      cells[9] = Cell::number(row.seconds, 0);
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

Json studies_json(const Kind& kind, const std::vector<StudyResult>& results) {
  Json studies = Json::array();
  for (const StudyResult& result : results) {
    Json study = frame_json(result);
    study["rows"] = Json::array();
    for (size_t r = 0; r < result.rows.size(); ++r) {
      Json row = to_json(result.rows[r]);
      row["published"] = to_json(paper_value(kind, result, r));
      if (kind.ablation) {
        const AblationSwitches& on = ablation_rows()[r];
        row["switches"] = {
            {"laplacian", on.laplacian}, {"directional", on.directional}, {"rewire", on.rewire}};
      }
      study["rows"].push_back(std::move(row));
    }
    studies.push_back(std::move(study));
  }
  return studies;
}

}  // namespace

Reproduction reproduce_benchmark(const ReproduceOptions& options, Ledger& ledger,
                                 spectral::SpectralCache& cache) {
  const Kind kind = kind_of(options.table);
  check_models(kind, options);
  std::vector<Skipped> skipped;
  std::vector<Study> studies;
  std::vector<std::string> editions;
  for (const Found& found : find_datasets(options, kind.datasets, false, skipped)) {
    const TrialData data = trial_data(load_found(found, options.settings));
    if (data.dataset->features.empty()) {
      skipped.push_back({found.entry->name, "the file has no node features"});
      continue;
    }
    std::ranges::copy(edition_notes(*data.dataset), std::back_inserter(editions));
    studies.push_back(study_on(data, rows_for(kind, options, found.entry->name)));
  }
  InputStore inputs(cache);
  const std::vector<StudyResult> results = run_studies(studies, ledger, inputs, options.study);

  Reproduction result;
  for (const StudyResult& study : results) result.trials_left += study.trials_left();
  Verdict verdict;
  if (!kind.tuned) {  // there, every data set has rows of its own
    result.tables.push_back(wide_table(
        kind, results, fmt::format("The paper's table {}: test metric in percent", options.table)));
  }
  result.tables.push_back(long_table(kind, results, verdict));
  std::vector<std::string>& notes = result.tables.back().notes;
  notes.push_back(
      fmt::format("Mean ± sample standard deviation over the splits; depth by {}; σ: difference in "
                  "standard deviations of the paper (of ours where it gives none).",
                  results.empty() ? "mean validation" : chosen_by(results.front())));
  notes.push_back(
      fmt::format("{} of {} means are at or above the paper's; more than two standard "
                  "deviations below: {}.",
                  verdict.at_least_equal, verdict.compared,
                  verdict.far_below.empty() ? "none" : verdict.far_below));
  if (kind.tuned) {
    notes.push_back(
        "Published: Luo, Shi and Wu 2024 for gcn, sage and gat, the DGAT paper for dgat. Rows "
        "called searched have the options of --tuned DIR/DATASET-MODEL/config.yaml.");
  }
  notes.push_back(time_note(results));
  std::vector<std::string> said;
  for (const StudyResult& study : results) {
    for (const RowResult& row : study.rows) {
      const std::string text = fmt::format("{}: {}", row.name, row.failure);
      if (row.failure.empty() || std::find(said.begin(), said.end(), text) != said.end()) continue;
      said.push_back(text);
    }
  }
  notes.insert(notes.end(), said.begin(), said.end());
  notes.insert(notes.end(), editions.begin(), editions.end());
  if (result.trials_left > 0) {
    notes.push_back(
        fmt::format("{} trials are not run yet; the same command continues.", result.trials_left));
  }
  add_notes(result.tables.back(), skipped);
  Json json = {{"study", "reproduce"},
               {"table", options.table},
               {"studies", studies_json(kind, results)},
               {"skipped", to_json(skipped)},
               {"trials_left", result.trials_left},
               {"machine", machine_description()},
               {"tables", Json::array()}};
  for (const Table& table : result.tables) json["tables"].push_back(Json::parse(table.json()));
  result.json = dump(json);
  return result;
}

}  // namespace dgat::study
