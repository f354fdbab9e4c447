#include "dgat/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "sections.h"

namespace dgat::report {
namespace {

int64_t shown_split(const RunRecord& run, const RunPageOptions& options) {
  if (run.splits.empty()) throw_input("{}: the run has no splits", run.directory.string());
  if (!options.split) return run.splits.front().split;
  const bool known = std::any_of(run.splits.begin(), run.splits.end(),
                                 [&](const SplitRecord& s) { return s.split == *options.split; });
  if (!known) {
    throw_input("{}: there is no split {}; the run has {} splits, from {}", run.directory.string(),
                *options.split, run.splits.size(), run.splits.front().split);
  }
  return *options.split;
}

/// What needs the data set: predictions, graph, spectrum, drawing, attention.
void add_analysis(const RunRecord& run, const study::RunInputs& inputs, int64_t split,
                  spectral::SpectralCache& cache, Page& page) {
  const data::Dataset& dataset = *inputs.data.dataset;
  const GraphAnalysis graph =
      analyse_graph(dataset, *inputs.config, inputs.builder->directions().get(), split, cache);
  const ModelAnalysis model = analyse_model(run, *inputs.builder, split);
  const auto add = [&](Section section) {
    if (!section.blocks.empty()) page.sections.push_back(std::move(section));
  };
  add(prediction_section(dataset, model.outputs));
  add(drawing_section(graph, &model));
  add(attention_section(graph, model));
  add(spectrum_section(graph));
  add(graph_section(dataset));
}

std::string headline(const RunRecord& run) {
  return fmt::format("{} on {}", run.model, run.dataset);
}

std::string subline(const RunRecord& run) {
  return fmt::format("test {} {} over {} split(s)", metric_name(run.metric),
                     with_spread(run.test_mean, run.test_std), run.splits.size());
}

}  // namespace

Page run_page(const std::filesystem::path& directory, spectral::SpectralCache& cache,
              const RunPageOptions& options) {
  const RunRecord run = read_run(directory);
  const int64_t split = shown_split(run, options);
  Page page{headline(run), subline(run), {run_section(run), results_section(run)}};
  Section learning = learning_section(run);
  if (!learning.blocks.empty()) page.sections.push_back(std::move(learning));
  try {
    if (options.inputs != nullptr) {
      add_analysis(run, *options.inputs, split, cache, page);
    } else {
      add_analysis(run, study::open_run(directory, cache), split, cache, page);
    }
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {  // the results of a long run must not be lost with its pictures
    notice(fmt::format("report: without graph and predictions: {}", error.what()));
    page.sections.push_back(
        {"Graph and predictions", fmt::format("Left out: {}.", error.what()), {}});
  }
  return page;
}

Page runs_page(std::span<const std::filesystem::path> directories) {
  std::vector<RunRecord> runs;
  for (const auto& directory : directories) runs.push_back(read_run(directory));
  Page page{fmt::format("{} runs", runs.size()), "", {comparison_section(runs)}};
  for (const RunRecord& run : runs) {
    const std::string name =
        fmt::format("{} ({})", headline(run), run.directory.filename().string());
    page.subtitle += (page.subtitle.empty() ? "" : ", ") + headline(run);
    Section section{name, subline(run), run_section(run).blocks};
    for (Section part : {results_section(run), learning_section(run)}) {
      std::move(part.blocks.begin(), part.blocks.end(), std::back_inserter(section.blocks));
    }
    page.sections.push_back(std::move(section));
  }
  return page;
}

}  // namespace dgat::report
