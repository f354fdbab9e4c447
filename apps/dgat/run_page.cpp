#include "run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "dgat/core/files.h"

namespace dgat::app {
namespace {
using Json = nlohmann::json;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

std::string percent(const train::MeanStd& m) {
  return fmt::format("{:.2f} ± {:.2f} %", 100 * m.mean, 100 * m.std);
}

report::Facts facts(const train::RunSummary& s) {
  report::Facts f;
  f.rows = {{"model", s.config.model},
            {"data set", s.dataset},
            {"metric", train::to_string(s.metric)},
            {"test, mean ± std over splits", percent(s.best().test)},
            {"validation", percent(s.best().val)},
            {"layers", fmt::format("{}", s.best().layers)},
            {"parameters", fmt::format("{}", s.parameters)},
            {"seconds per step", fmt::format("{:.4f}", s.seconds_per_step)},
            {"peak memory", fmt::format("{:.0f} MB", static_cast<double>(s.peak_rss_bytes) / 1e6)}};
  for (const auto& [mode, r] : s.rewirings) {
    f.rows.emplace_back("rewiring " + mode,
                        fmt::format("{} edges, {} dropped, {} added, {} after", r.edges_before,
                                    r.dropped, r.added, r.edges_after));
  }
  return f;
}

report::Table split_table(const train::RunSummary& s) {
  using report::Format;
  report::Table table;
  table.title = "Splits";
  table.note = "At the first step with the highest validation metric.";
  table.columns = {{"split", Format::kInteger}, {"best step", Format::kInteger},
                   {"train", Format::kPercent}, {"validation", Format::kPercent},
                   {"test", Format::kPercent},  {"seconds", Format::kNumber}};
  for (const train::SplitResult& r : s.best().splits) {
    table.rows.push_back({static_cast<double>(r.split), static_cast<double>(r.best.step),
                          r.best.train, r.best.val, r.best.test, r.seconds});
  }
  return table;
}

/// Mean over the splits of one column of the log at the chosen depth, with the range as a band.
report::Line curve(const std::string& log, int64_t layers, const char* key, const char* name) {
  struct Range {
    double sum = 0, low = HUGE_VAL, high = -HUGE_VAL;
    int count = 0;
  };
  std::map<int64_t, Range> steps;
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const Json line = Json::parse(log.begin() + static_cast<std::ptrdiff_t>(begin),
                                  log.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    begin = end + 1;
    if (!line.is_object() || line.value("layers", int64_t{0}) != layers || !line[key].is_number()) {
      continue;
    }
    Range& range = steps[line["step"].get<int64_t>()];
    const double v = line[key].get<double>();
    range = {range.sum + v, std::min(range.low, v), std::max(range.high, v), range.count + 1};
  }
  report::Line out;
  out.name = name;
  for (const auto& [step, range] : steps) {
    out.x.push_back(static_cast<double>(step));
    out.y.push_back(range.count > 0 ? range.sum / range.count : kNothing);
    out.low.push_back(range.low);
    out.high.push_back(range.high);
  }
  return out;
}

report::Facts options(const train::Config& config) {
  report::Facts f;
  f.title = "Options";
  for (const train::OptionInfo& option : train::config_options()) {
    f.rows.emplace_back(option.key, option.get(config));
  }
  return f;
}

}  // namespace

report::Page run_page(const train::RunSummary& summary, const train::RunDirectory& directory) {
  const std::string log = read_whole_file(directory.log());
  const int64_t layers = summary.best().layers;
  report::LineChart metric;
  metric.title = "Learning curve: " + train::to_string(summary.metric);
  metric.note = "Mean over the splits; the band spans them.";
  metric.x_label = "step";
  metric.y_label = train::to_string(summary.metric);
  metric.format = report::Format::kPercent;
  metric.lines = {curve(log, layers, "train", "train"), curve(log, layers, "val", "validation"),
                  curve(log, layers, "test", "test")};
  report::LineChart loss;
  loss.title = "Training loss";
  loss.x_label = "step";
  loss.y_label = "loss";
  loss.lines = {curve(log, layers, "loss", "loss")};

  report::Page page;
  page.title = summary.config.model + " on " + summary.dataset;
  page.subtitle = percent(summary.best().test) + " " + train::to_string(summary.metric);
  page.sections = {{"Result", "", {facts(summary), split_table(summary)}},
                   {"Training", "", {metric, loss}},
                   {"Options", "", {options(summary.config)}}};
  if (summary.depths.size() > 1) {
    report::Table depths;
    depths.title = "Depths";
    depths.note = "The depth with the highest mean validation metric was chosen.";
    depths.columns = {{"layers", report::Format::kInteger},
                      {"validation", report::Format::kPercent},
                      {"test", report::Format::kPercent}};
    for (const train::DepthResult& d : summary.depths) {
      depths.rows.push_back({static_cast<double>(d.layers), d.val.mean, d.test.mean});
    }
    page.sections[0].blocks.emplace_back(depths);
  }
  return page;
}

}  // namespace dgat::app
