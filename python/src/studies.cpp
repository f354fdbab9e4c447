// Comparisons, ablations, searches, tables of the paper, and pages.
#include <fmt/format.h>

#include "bindings.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/fingerprint.h"
#include "dgat/report/run_page.h"
#include "dgat/report/study_page.h"
#include "dgat/study/ablation.h"
#include "dgat/study/comparison.h"
#include "dgat/study/reproduce.h"
#include "dgat/study/rows.h"
#include "dgat/study/tune.h"
#include "dgat/train/option_table.h"
#include "dgat/train/run_directory.h"

namespace py = pybind11;

namespace dgat::python {
namespace {
namespace fs = std::filesystem;
using Holder = std::shared_ptr<data::Dataset>;

/// What a study needs beside its rows. Without a folder nothing is kept.
struct Place {
  std::string out, budget;
  size_t choose_on = 0;

  std::unique_ptr<study::Ledger> ledger() const {
    if (out.empty()) return std::make_unique<study::Ledger>();
    if (train::RunDirectory::is_run(out)) {
      throw_input("{}: holds a run of `dgat train`; choose another folder", out);
    }
    return std::make_unique<study::Ledger>(fs::path(out) / "ledger.jsonl");
  }
  study::StudyOptions options(const std::string& label, const train::Settings& settings) const {
    study::StudyOptions how;
    how.engine.label = label;
    if (!out.empty()) how.engine.keeper = study::keep_long_trials(fs::path(out) / "checkpoints");
    if (settings.contains("jobs")) how.engine.jobs = std::stoll(settings.at("jobs"));
    if (!budget.empty()) {
      const std::chrono::duration<double> time(study::parse_duration(budget));
      how.engine.deadline = std::chrono::steady_clock::now() +
                            std::chrono::duration_cast<std::chrono::steady_clock::duration>(time);
    }
    how.folds_first = how.engine.deadline.has_value();
    how.choose_on = choose_on;
    return how;
  }
};

/// A table for people and its rows for programs.
py::dict table_dict(const study::Table& table) {
  py::dict out;
  out["text"] = table.terminal();
  out["markdown"] = table.markdown();
  out["latex"] = table.latex();
  out["csv"] = table.csv();
  return out;
}

py::dict answer(const std::vector<study::Table>& tables, const std::string& json) {
  py::list list;
  for (const study::Table& table : tables) list.append(table_dict(table));
  py::dict out;
  out["tables"] = list;
  out["json"] = json;
  return out;
}

/// Writes the tables and the page of a study that has a folder.
void keep(const Place& place, const std::string& stem, const std::vector<study::Table>& tables,
          const std::string& json) {
  if (place.out.empty()) return;
  study::write_tables(place.out, stem, tables, json);
  report::write_study_page(place.out);
}

/// Runs the rows of one data set and says how they stand.
py::dict run_rows(const Holder& dataset, const train::Settings& settings, const Place& place,
                  const std::string& verb, const std::string& models, const std::string& grid) {
  struct Answer {
    study::Table table;
    std::string json;
  };
  const bool ablation = verb == "ablate";
  Answer a = watched([&] {
    const DatasetPointer used = with_features(with_splits(dataset, settings, /*required=*/true),
                                              train::resolve(settings).features);
    const study::TrialData data{used, data::fingerprint(*used)};
    const study::Study plan =
        study::study_on(data, ablation ? study::rows_of_ablation(settings, grid, *used)
                                       : study::rows_of(models, settings, *used));
    spectral::SpectralCache cache(spectral::default_cache_folder());
    study::InputStore inputs(cache);
    const auto ledger = place.ledger();
    const study::StudyResult result =
        study::run_studies({&plan, 1}, *ledger, inputs, place.options(verb, settings)).front();
    study::Comparison comparison =
        ablation ? study::compare_ablation(result) : study::compare_models(plan, result, *used);
    if (ablation) {
      for (std::string& note : study::edition_notes(*used)) {
        comparison.notes.push_back(std::move(note));
      }
    }
    Answer out{study::comparison_table(comparison), study::to_json(comparison)};
    keep(place, verb, {out.table}, out.json);
    return out;
  });
  return answer({a.table}, a.json);
}

py::dict tune(const Holder& dataset, const train::Settings& settings, const Place& place,
              const std::map<std::string, std::vector<std::string>>& search, bool advised) {
  struct Answer {
    study::TuneResult result;
    std::string json, markdown;
  };
  const double seconds = study::parse_duration(place.budget);
  Answer a = watched([&] {
    const DatasetPointer used = with_features(with_splits(dataset, settings, /*required=*/true),
                                              train::resolve(settings).features);
    study::TuneOptions request;
    request.settings = settings;
    request.search = search;
    request.budget_seconds = seconds;
    request.advised = advised;
    request.jobs = train::resolve(settings, *used).jobs;
    if (!place.out.empty()) request.folder = fs::path(place.out) / "checkpoints";
    spectral::SpectralCache cache(spectral::default_cache_folder());
    const auto ledger = place.ledger();
    Answer out{study::tune(*used, request, *ledger, cache), {}, {}};
    out.json = study::to_json(out.result);
    out.markdown = study::to_markdown(out.result);
    if (!place.out.empty()) {
      const auto write = [&](const char* name, const std::string& text) {
        write_atomically(fs::path(place.out) / name, [&](std::ostream& o) { o << text; });
      };
      write("config.yaml", train::to_yaml(out.result.winner));
      write("tune.json", out.json);
      write("tune.md", out.markdown);
      report::write_study_page(place.out);
    }
    if (out.result.interrupted) throw Interrupted("tune: stopped by the user");
    return out;
  });
  py::dict out;
  out["json"] = a.json;
  out["markdown"] = a.markdown;
  py::dict winner;
  for (const train::OptionInfo& option : train::config_options()) {
    winner[py::str(option.key)] = option.get(a.result.winner);
  }
  out["winner"] = winner;
  return out;
}

py::dict reproduce(const std::string& table, const std::string& data_dir,
                   const std::vector<std::string>& datasets, const std::vector<std::string>& models,
                   const std::string& grid, const std::string& tuned, int64_t nodes,
                   const train::Settings& settings, const Place& place) {
  study::Reproduction result = watched([&] {
    study::ReproduceOptions options{.table = table,
                                    .data_dir = data_dir,
                                    .datasets = datasets,
                                    .models = models,
                                    .grid = grid,
                                    .tuned = tuned,
                                    .settings = settings,
                                    .nodes = nodes,
                                    .study = place.options("reproduce " + table, settings)};
    options.study.folds_first = true;
    spectral::SpectralCache cache(spectral::default_cache_folder());
    const auto ledger = place.ledger();
    study::Reproduction out = study::reproduce(options, *ledger, cache);
    keep(place, table, out.tables, out.json);
    return out;
  });
  py::dict out = answer(result.tables, result.json);
  out["trials_left"] = result.trials_left;
  return out;
}

/// As `dgat report`.
void write_page(const std::vector<std::string>& paths, const std::string& page,
                std::optional<int64_t> split) {
  watched([&] {
    std::vector<fs::path> runs, studies;
    for (const std::string& path : paths) {
      (fs::exists(fs::path(path) / "summary.json") ? runs : studies).emplace_back(path);
    }
    if (!runs.empty() && !studies.empty()) {
      throw_input("report: {} is a run and {} is none; make a page of each", runs[0].string(),
                  studies[0].string());
    }
    spectral::SpectralCache cache(spectral::default_cache_folder());
    report::write_page(runs.empty()       ? report::study_page(studies)
                       : runs.size() == 1 ? report::run_page(runs[0], cache, {.split = split})
                                          : report::runs_page(runs),
                       page);
  });
}

}  // namespace

void add_studies(py::module_& module) {
  py::class_<Place>(module, "Place")
      .def(py::init([](const std::string& out, const std::string& budget, size_t choose_on) {
             return Place{out, budget, choose_on};
           }),
           py::arg("out"), py::arg("budget"), py::arg("choose_on"));
  module.def("run_rows", &run_rows, py::arg("dataset"), py::arg("settings"), py::arg("place"),
             py::arg("verb"), py::arg("models"), py::arg("grid"));
  module.def("tune", &tune, py::arg("dataset"), py::arg("settings"), py::arg("place"),
             py::arg("search"), py::arg("advised"));
  module.def("reproduce", &reproduce, py::arg("table"), py::arg("data_dir"), py::arg("datasets"),
             py::arg("models"), py::arg("grid"), py::arg("tuned"), py::arg("nodes"),
             py::arg("settings"), py::arg("place"));
  module.def("write_page", &write_page, py::arg("paths"), py::arg("page"), py::arg("split"));
}

}  // namespace dgat::python
