#include "dgat/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/report/explorer.h"
#include "sections.h"

namespace dgat::report {
namespace {

/// The eigenvectors of the explorer take no longer than this.
constexpr double kExplorerSeconds = 15;

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

/// Pictures may not cost more eigenvalue work than the training was: about a visit of an arc for
/// every sixteen numbers that a layer sends along it.
int64_t work_of_training(const RunRecord& run, const study::RunInputs& inputs) {
  constexpr int64_t kNumbersPerVisit = 16;
  int64_t steps = 0;
  for (const SplitRecord& split : run.splits) {
    steps += split.curve.empty() ? split.best_step : split.curve.back().step;
  }
  const int64_t width = std::max<int64_t>(1, inputs.config->hidden / kNumbersPerVisit);
  return 1 + steps * run.layers * width * inputs.data.dataset->graph.arcs();
}

double training_seconds(const RunRecord& run) {
  double seconds = 0;
  for (const SplitRecord& split : run.splits) seconds += split.seconds;
  return seconds;
}

/// The explorer with the settings of the run, for no longer than the run trained.
Section explorer_section(const RunRecord& run, const GraphAnalysis& graph,
                         const train::Config& config, const train::GraphChoice& choice,
                         spectral::SpectralCache& cache) {
  if (!graph.used_by_model || config.laplacian == train::LaplacianKind::kAuthors) return {};
  const ExplorerOptions options{
      .split = graph.split,
      .budget_seconds = std::min(training_seconds(run), kExplorerSeconds),
      .advise = false,
      .command = command_line(run, {"alpha", "gamma", "rewire", "epsilon", "components"}),
      .limits = {.nodes = 20'000, .edges = 600'000},
      .start = choice};
  return {
      "Explorer",
      "The graph of this run under other settings. Change γ, α, ε and the rewiring; the command "
      "at the end trains what is shown.",
      {make_explorer(graph.dataset, graph.graph, config, options, cache)}};
}

/// What needs the data set: predictions, graph, spectrum, drawing, attention.
void add_analysis(const RunRecord& run, const study::RunInputs& inputs, int64_t split,
                  spectral::SpectralCache& cache, Page& page) {
  const data::Dataset& dataset = *inputs.data.dataset;
  const GraphAnalysis graph =
      analyse_graph(dataset, *inputs.config, inputs.builder->directions(split).get(),
                    inputs.builder->choice_of(split), split, work_of_training(run, inputs), cache);
  const ModelAnalysis model = analyse_model(run, *inputs.builder, split);
  const auto add = [&](Section section) {
    if (!section.blocks.empty()) page.sections.push_back(std::move(section));
  };
  add(prediction_section(dataset, model.outputs));
  add(drawing_section(graph, &model));
  add(attention_section(graph, model));
  add(spectrum_section(graph));
  add(explorer_section(run, graph, *inputs.config, inputs.builder->choice_of(split), cache));
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
  Page page{headline(run), subline(run), {results_section(run)}};
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
  page.sections.push_back(options_section(run));
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
    Section section{name, subline(run), {}};
    for (Section part : {results_section(run), learning_section(run), options_section(run)}) {
      std::move(part.blocks.begin(), part.blocks.end(), std::back_inserter(section.blocks));
    }
    page.sections.push_back(std::move(section));
  }
  return page;
}

}  // namespace dgat::report
