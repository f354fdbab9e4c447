#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sections.h"

namespace dgat::report {
namespace {

constexpr size_t kMaxCurvePoints = 500;

/// Which evaluations of a curve are shown: every step-th, and always the last.
std::vector<size_t> shown_points(size_t evaluations, size_t stride) {
  std::vector<size_t> shown;
  for (size_t k = 0; k < evaluations; k += stride) shown.push_back(k);
  if (!shown.empty() && shown.back() != evaluations - 1) shown.push_back(evaluations - 1);
  return shown;
}

LineChart curve_chart(const RunRecord& run, const std::string& title, const std::string& y_label,
                      Format format, double train::StepRecord::*value) {
  LineChart chart{.title = title,
                  .note = {},
                  .x_label = "step",
                  .y_label = y_label,
                  .format = format,
                  .lines = {}};
  size_t longest = 0;
  for (const SplitRecord& split : run.splits) longest = std::max(longest, split.curve.size());
  const size_t stride = (longest + kMaxCurvePoints - 1) / kMaxCurvePoints;
  if (stride > 1) {
    chart.note =
        fmt::format("One of every {} of the {} evaluations is drawn, and always the last one.",
                    stride, grouped(static_cast<int64_t>(longest)));
  }
  for (const SplitRecord& split : run.splits) {
    Line line{.name = fmt::format("split {}", split.split), .x = {}, .y = {}};
    for (const size_t k : shown_points(split.curve.size(), std::max<size_t>(1, stride))) {
      line.x.push_back(static_cast<double>(split.curve[k].step));
      line.y.push_back(split.curve[k].*value);
    }
    if (!line.x.empty()) chart.lines.push_back(std::move(line));
  }
  if (run.splits.size() == 1) {
    chart.markers.push_back({static_cast<double>(run.splits[0].best_step), "best step"});
  }
  return chart;
}

}  // namespace

namespace {

Facts run_card(const RunRecord& run) {
  const std::string metric = metric_name(run.metric);
  return {
      "Run",
      {{"data set", run.dataset},
       {"model", run.model},
       {"layers", std::to_string(run.layers)},
       {"parameters", grouped(run.parameters)},
       {"test " + metric, with_spread(run.test_mean, run.test_std)},
       {"validation " + metric, with_spread(run.val_mean, run.val_std)},
       {"splits", std::to_string(run.splits.size())},
       {"time per step", short_number(1000 * run.seconds_per_step) + " ms"},
       {"peak memory", fmt::format("{:.0f} MB", static_cast<double>(run.peak_rss_bytes) / 1e6)}}};
}

}  // namespace

Section options_section(const RunRecord& run) {
  return {"Options",
          "",
          {Facts{"Options", run.options}, Code{"Command that repeats the run", command_line(run)}}};
}

Section results_section(const RunRecord& run) {
  const std::string metric = metric_name(run.metric);
  const Format format = metric_format();
  Table table{"Results by split",
              "Each split's network is that of its best validation step. The last rows are the "
              "mean and the sample standard deviation (n − 1).",
              {{"split", Format::kText},
               {"best step", Format::kInteger},
               {"training", format},
               {"validation", format},
               {"test", format},
               {"seconds", Format::kNumber}},
              {}};
  DotChart dots{.title = "Test " + metric,
                .note = "A dot per split; the last row is the mean with one standard deviation.",
                .x_label = "test " + metric,
                .format = format,
                .dots = {}};
  for (const SplitRecord& split : run.splits) {
    table.rows.push_back({std::to_string(split.split), static_cast<double>(split.best_step),
                          split.train, split.val, split.test, split.seconds});
    dots.dots.push_back({fmt::format("split {}", split.split), split.test, split.test, split.test});
  }
  const double none = std::nan("");
  table.rows.push_back({"mean", none, none, run.val_mean, run.test_mean, none});
  table.rows.push_back({"std", none, none, run.val_std, run.test_std, none});
  dots.dots.push_back(
      {"mean", run.test_mean, run.test_mean - run.test_std, run.test_mean + run.test_std});
  Section section{"Results", "", {run_card(run), dots, table}};
  if (run.depths.size() > 1) {
    LineChart depths{
        .title = "Depth",
        .note = fmt::format("The depth with the highest validation mean is used: {}. "
                            "Bands are one standard deviation.",
                            run.layers),
        .x_label = "layers",
        .y_label = metric,
        .format = format,
        .lines = {{.name = "validation", .x = {}, .y = {}}, {.name = "test", .x = {}, .y = {}}},
        .points = true};
    for (const DepthRecord& depth : run.depths) {
      const auto add = [&](Line& line, double mean, double std) {
        line.x.push_back(static_cast<double>(depth.layers));
        line.y.push_back(mean);
        line.low.push_back(mean - std);
        line.high.push_back(mean + std);
      };
      add(depths.lines[0], depth.val_mean, depth.val_std);
      add(depths.lines[1], depth.test_mean, depth.test_std);
    }
    section.blocks.emplace_back(std::move(depths));
  }
  return section;
}

Section learning_section(const RunRecord& run) {
  const std::string metric = metric_name(run.metric);
  Section section{"Learning", "One curve per split; the best step is chosen on validation.", {}};
  const auto add = [&](LineChart chart) {
    if (!chart.lines.empty()) section.blocks.emplace_back(std::move(chart));
  };
  add(curve_chart(run, "Training loss", "loss", Format::kNumber, &train::StepRecord::loss));
  add(curve_chart(run, "Validation " + metric, metric, metric_format(), &train::StepRecord::val));
  add(curve_chart(run, "Training " + metric, metric, metric_format(), &train::StepRecord::train));
  add(curve_chart(run, "Test " + metric + " over steps", metric, metric_format(),
                  &train::StepRecord::test));
  return section;
}

Section comparison_section(std::span<const RunRecord> runs) {
  Section section{"Comparison", "Mean over the splits with one sample standard deviation.", {}};
  Table table{"Runs",
              "",
              {{"run", Format::kText},
               {"data set", Format::kText},
               {"model", Format::kText},
               {"metric", Format::kText},
               {"layers", Format::kInteger},
               {"parameters", Format::kInteger},
               {"validation", metric_format()},
               {"test", metric_format()},
               {"test std", metric_format()},
               {"s per step", Format::kNumber}},
              {}};
  std::vector<std::string> datasets;
  for (const RunRecord& run : runs) {
    table.rows.push_back({run.directory.string(), run.dataset, run.model, metric_name(run.metric),
                          static_cast<double>(run.layers), static_cast<double>(run.parameters),
                          run.val_mean, run.test_mean, run.test_std, run.seconds_per_step});
    if (std::find(datasets.begin(), datasets.end(), run.dataset) == datasets.end()) {
      datasets.push_back(run.dataset);
    }
  }
  section.blocks.emplace_back(std::move(table));
  for (const std::string& dataset : datasets) {
    DotChart chart{.title = "Test metric on " + dataset,
                   .note = {},
                   .x_label = "test",
                   .format = metric_format(),
                   .dots = {}};
    for (const RunRecord& run : runs) {
      if (run.dataset != dataset) continue;
      chart.x_label = "test " + metric_name(run.metric);
      chart.dots.push_back({fmt::format("{} ({})", run.model, run.directory.filename().string()),
                            run.test_mean, run.test_mean - run.test_std,
                            run.test_mean + run.test_std});
    }
    section.blocks.emplace_back(std::move(chart));
  }
  return section;
}

}  // namespace dgat::report
