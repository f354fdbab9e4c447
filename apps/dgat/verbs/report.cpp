// dgat report: one self-contained HTML page of one or several runs.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "../verbs.h"
#include "dgat/report/run_page.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Report {
  CommonOptions common;
  std::vector<std::string> runs;
  std::string out;
  int64_t split = -1;
};

void run(const Report& options) {
  std::vector<fs::path> runs;
  for (const std::string& each : options.runs) {
    // A trailing slash would leave the folder without a name.
    fs::path path = fs::path(each).lexically_normal();
    runs.push_back(path.has_filename() ? path : path.parent_path());
  }
  spectral::SpectralCache cache(spectral::default_cache_folder());
  report::RunPageOptions page_options;
  if (options.split >= 0) page_options.split = options.split;
  const report::Page page =
      runs.size() == 1 ? report::run_page(runs[0], cache, page_options) : report::runs_page(runs);
  const fs::path out = !options.out.empty() ? fs::path(options.out)
                       : runs.size() == 1   ? runs[0] / "report.html"
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
  CLI::App* verb = app.add_subcommand("report", "One self-contained HTML page of one or more runs");
  verb->add_option("RUN", options->runs, "folders that `dgat train --out` wrote")->required();
  verb->add_option("--out", options->out,
                   "the page; default RUN/report.html, for several runs report.html")
      ->type_name("F.html");
  verb->add_option("--split", options->split,
                   "one run: whose rewiring, drawing and attention to show; default the first")
      ->check(CLI::NonNegativeNumber)
      ->type_name("K");
  add_common_options(*verb, options->common);
  verb->footer(
      "One run: results, curves, predictions, drawing, attention, spectrum, data set. Several:\n"
      "comparison charts, then results and curves of each. The file holds everything it shows and\n"
      "asks for nothing from the network.\n"
      "  dgat report runs/dgat\n"
      "  dgat report runs/gat runs/dgat --out both.html");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
