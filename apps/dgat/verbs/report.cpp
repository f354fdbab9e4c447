// dgat report: one self-contained HTML page of one or several runs or studies.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "../option_flags.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/report/run_page.h"
#include "dgat/report/study_page.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Report {
  CommonOptions common;
  std::vector<std::string> runs;
  std::string out;
  std::optional<int64_t> split;
};

report::Page page_of(const std::vector<fs::path>& paths, const Report& options) {
  std::error_code ignored;
  std::vector<fs::path> runs, studies;
  for (const fs::path& path : paths) {
    (fs::exists(path / "summary.json", ignored) ? runs : studies).push_back(path);
  }
  if (runs.empty()) return report::study_page(studies);
  if (!studies.empty() && report::holds_study(studies[0])) {
    throw_input("report: {} is a run and {} a study; make a page of each", runs[0].string(),
                studies[0].string());
  }
  if (paths.size() > 1) return report::runs_page(paths);
  spectral::SpectralCache cache(spectral::default_cache_folder());
  report::RunPageOptions page_options;
  page_options.split = options.split;
  return report::run_page(paths[0], cache, page_options);
}

void run(const Report& options) {
  std::vector<fs::path> runs;
  for (const std::string& each : options.runs) {
    // A trailing slash would leave the folder without a name.
    fs::path path = fs::path(each).lexically_normal();
    runs.push_back(path.has_filename() ? path : path.parent_path());
  }
  const report::Page page = page_of(runs, options);
  const fs::path out = !options.out.empty()                            ? fs::path(options.out)
                       : runs.size() == 1 && fs::is_directory(runs[0]) ? runs[0] / "report.html"
                                                                       : fs::path("report.html");
  report::write_page(page, out);
  const auto bytes = static_cast<int64_t>(fs::file_size(out));
  if (options.common.json) {
    print_json({{"path", out.string()}, {"bytes", bytes}, {"runs", runs.size()}});
  } else {
    fmt::print("written to {} ({:.1f} MB)\n", out.string(), static_cast<double>(bytes) / 1e6);
  }
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<Report>();
  CLI::App* verb = app.add_subcommand("report", "One self-contained HTML page of runs or studies");
  verb->add_option("RUN", options->runs,
                   "folders that train, compare, ablate, reproduce or tune wrote")
      ->required();
  verb->add_option("--out", options->out,
                   "the page; default RUN/report.html, for several runs report.html")
      ->type_name("F.html");
  add_split_number(*verb, options->split,
                   "whose rewiring, drawing and attention the page of one run shows");
  add_common_options(*verb, options->common);
  verb->footer(
      "The page of one run has results, curves, predictions, drawing, attention, spectrum and "
      "data\n"
      "set. The page of several runs compares them in charts and has results and curves of each.\n"
      "The page of a study has its charts beside published values, tests and the history of a\n"
      "search. A saved `dgat advise --json` counts as a study. A page is one file that contains\n"
      "everything it shows and needs no internet connection.\n"
      "  dgat report runs/dgat\n"
      "  dgat report runs/gat runs/dgat --out both.html\n"
      "  dgat report runs/compare-texas runs/ablate-texas --out texas.html");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
