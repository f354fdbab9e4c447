// dgat generate: synthetic data sets, written in the schema that every verb reads.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "../verbs.h"
#include "dgat/data/load.h"
#include "dgat/graph/homophily.h"
#include "dgat/synth/csbm.h"
#include "dgat/synth/minesweeper.h"
#include "dgat/synth/mixhop.h"
#include "dgat/synth/worlds.h"

namespace dgat::app {
namespace {

/// One generator with what its command line fills in.
template <class Options>
struct Job {
  CommonOptions common;
  Options options;
  std::string split, out;
};

std::string percent(const data::SplitFractions& split) {
  return fmt::format("{:g}/{:g}/{:g}", 100 * split.train, 100 * split.val, 100 * split.test);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Options>
void run(Job<Options>& job, const std::string& kind, data::Dataset (*make)(const Options&)) {
  const auto start = std::chrono::steady_clock::now();
  job.options.seed = job.common.seed;
  job.options.split = data::parse_split_fractions(job.split);
  const data::Dataset set = make(job.options);
  data::save_dataset(set, job.out);
  const double seconds = seconds_since(start);
  const double homophily = graph::measure_homophily(set.graph, set.labels, set.classes).edge;
  if (job.common.json) {
    print_json({{"generator", kind},
                {"nodes", set.graph.nodes()},
                {"edges", set.graph.edges()},
                {"features", set.features.cols()},
                {"classes", set.classes_present()},
                {"splits", set.splits.size()},
                {"edge_homophily", homophily},
                {"seed", job.common.seed},
                {"path", job.out},
                {"seconds", seconds}});
    return;
  }
  fmt::print(
      "{}: {} nodes, {} edges, {} classes, edge homophily {:.3f}; written to {} in {:.2f} s\n",
      kind, set.graph.nodes(), set.graph.edges(), set.classes_present(), homophily, job.out,
      seconds);
}

/// The subcommand of one generator with the options that all of them have.
template <class Options>
std::shared_ptr<Job<Options>> add_generator(CLI::App& generate, const std::string& kind,
                                            const std::string& description,
                                            data::Dataset (*make)(const Options&),
                                            CLI::App*& command) {
  auto job = std::make_shared<Job<Options>>();
  job->split = percent(job->options.split);
  command = generate.add_subcommand(kind, description);
  command->add_option("--out", job->out, "file to write, .npz for the schema of the data sets")
      ->required();
  command->add_option("--splits", job->options.splits, "stratified random splits; 0 for none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  command->add_option("--split", job->split, "shares of train/validation/test, in percent")
      ->capture_default_str();
  add_common_options(*command, job->common);
  command->callback([job, kind, make] { run(*job, kind, make); });
  return job;
}

void add_mixhop(CLI::App& generate) {
  CLI::App* command = nullptr;
  auto job = add_generator<synth::MixhopOptions>(
      generate, "mixhop", "Growing graph with a chosen homophily and hubs (paper, appendix C.2)",
      synth::mixhop, command);
  synth::MixhopOptions& o = job->options;
  command->add_option("--mu", o.mu, "homophily: share of edges inside classes, 0 to 1")
      ->capture_default_str();
  command->add_option("--nodes", o.nodes, "nodes")->capture_default_str();
  command->add_option("--classes", o.classes, "classes, of equal size")->capture_default_str();
  command->add_option("--edges-per-node", o.edges_per_node, "edges of every new node")
      ->capture_default_str();
  command->add_option("--start", o.start, "nodes before the growth begins")->capture_default_str();
  command->footer(
      "A new node prefers neighbours of high degree, of its own class with weight mu and of a\n"
      "class k steps away on the circle of classes with a weight that halves at each step.\n"
      "The paper's ten graphs:\n"
      "  for mu in 0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9; do\n"
      "    dgat generate mixhop --mu $mu --out mixhop-$mu.npz\n"
      "  done");
}

void add_minesweeper(CLI::App& generate) {
  CLI::App* command = nullptr;
  auto job = add_generator<synth::MinesweeperOptions>(
      generate, "minesweeper", "Board whose cells count the mines around them", synth::minesweeper,
      command);
  synth::MinesweeperOptions& o = job->options;
  command->add_option("--height", o.height, "rows of the board")->capture_default_str();
  command->add_option("--width", o.width, "columns of the board")->capture_default_str();
  command->add_option("--mines", o.mines, "share of cells with a mine")->capture_default_str();
  command->add_option("--unknown", o.unknown, "share of cells whose count is hidden")
      ->capture_default_str();
  command->footer(
      "The defaults give a graph like the minesweeper data set: the same edges and the same\n"
      "numbers of mines and hidden cells, at other places.\n"
      "  dgat generate minesweeper --height 300 --width 200 --out board.npz");
}

void add_csbm(CLI::App& generate) {
  CLI::App* command = nullptr;
  auto job = add_generator<synth::CsbmOptions>(
      generate, "csbm", "Contextual stochastic block model: communities and Gaussian clusters",
      synth::csbm, command);
  synth::CsbmOptions& o = job->options;
  command->add_option("--nodes", o.nodes, "nodes")->capture_default_str();
  command->add_option("--classes", o.classes, "classes, of equal size")->capture_default_str();
  command->add_option("--degree", o.degree, "expected mean degree")->capture_default_str();
  command->add_option("--homophily", o.homophily, "expected share of edges inside classes")
      ->capture_default_str();
  command->add_option("--features", o.features, "feature columns, at least one per class")
      ->capture_default_str();
  command->add_option("--signal", o.signal, "distance of class centres from 0; noise is 1")
      ->capture_default_str();
  command->footer(
      "With two classes, the best guess from features has accuracy Phi(signal/sqrt(2)).\n"
      "  dgat generate csbm --nodes 10000 --classes 4 --homophily 0.1 --out csbm.npz");
}

void add_worlds(CLI::App& generate) {
  CLI::App* command = nullptr;
  auto job = add_generator<synth::WorldsOptions>(
      generate, "worlds", "Communities that edges show and roles that features show", synth::worlds,
      command);
  synth::WorldsOptions& o = job->options;
  command->add_option("--nodes", o.nodes, "nodes")->capture_default_str();
  command->add_option("--worlds", o.worlds, "communities in a chain, each with two roles")
      ->capture_default_str();
  command->add_option("--degree", o.degree, "mean degree")->capture_default_str();
  command->add_option("--crossing", o.crossing, "share of edges to a neighbouring community")
      ->capture_default_str();
  command->add_option("--homophily", o.homophily, "share of edges between equal roles")
      ->capture_default_str();
  command->add_option("--features", o.features, "feature columns; the first shows the role")
      ->capture_default_str();
  command->add_option("--noise", o.noise, "deviation of the features; roles are at -1 and 1")
      ->capture_default_str();
  command->footer(
      "Most edges join opposite roles of one community. The class is community and role: edges\n"
      "and features are needed together. `make demo` trains on this graph.\n"
      "  dgat generate worlds --nodes 3000 --worlds 3 --out worlds.npz");
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("generate", "Make a synthetic data set");
  verb->require_subcommand(1);
  verb->footer(
      "The same seed gives the same file, whatever the number of threads.\n"
      "  dgat generate mixhop --mu 0.2 --out graph.npz && dgat inspect graph.npz");
  add_mixhop(*verb);
  add_minesweeper(*verb);
  add_csbm(*verb);
  add_worlds(*verb);
}

}  // namespace dgat::app
