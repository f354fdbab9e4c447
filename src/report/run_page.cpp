#include "dgat/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/nn/registry.h"
#include "dgat/train/inputs.h"
#include "sections.h"

namespace dgat::report {
namespace {

/// The operator and rewiring that a configuration means, as in training.
GraphQuestion question_of(const train::Config& config, int64_t split) {
  GraphQuestion question;
  const bool directional_model = nn::find_model(config.model).directional;
  question.used_by_model =
      directional_model && (config.directional || config.rewire != rewire::Mode{});
  question.alpha = config.laplacian_tuned ? config.alpha : 1.0;
  question.gamma = config.laplacian_tuned ? config.gamma : 1.0;
  question.vectors = static_cast<int>(config.eigenvectors);
  question.components = config.components;
  question.split = split;
  question.seed = config.seed;
  if (directional_model) question.rewiring.mode = config.rewire;
  question.rewiring.epsilon = config.epsilon;
  question.rewiring.per_component = config.components == spectral::ComponentPolicy::kEach;
  return question;
}

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
void add_analysis(const RunRecord& run, int64_t split, spectral::SpectralCache& cache, Page& page) {
  const train::Settings settings = train::read_settings(run.directory / "config.yaml");
  const train::Config config = train::resolve(settings, run.dataset);
  const GraphAnalysis graph =
      analyse_graph(train::load_for(config), question_of(config, split), cache);
  const ModelAnalysis model = analyse_model(run, graph.dataset, split, cache);
  const auto add = [&](Section section) {
    if (!section.blocks.empty()) page.sections.push_back(std::move(section));
  };
  add(prediction_section(graph.dataset, model.outputs));
  add(drawing_section(graph, &model));
  add(attention_section(graph, model));
  add(spectrum_section(graph));
  add(graph_section(graph.dataset));
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
    add_analysis(run, split, cache, page);
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
