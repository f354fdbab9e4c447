// Eigenvectors of every graph named, for every gamma: which method ran, how long, how well.
// Run:    spectral_bench FOLDER | FILE.npz | pa:NODES:EDGES_PER_NODE | grid:HEIGHT:WIDTH |
// path:NODES ...
//         [--gamma 0,0.1,1] [--solver auto] [--threads 0] [-k 1,8,32] [--limit 60] [--json]
// Prints: one row per graph, gamma and k (--json: as an object on a line of its own): the value of
//         the last pair, the worst residual and angle of all. Every solve runs in a process of its
//         own, so the peak memory is its own (graph included); user time counts all threads, and
//         --limit ends a solve after so much of it.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/data/load.h"
#include "dgat/spectral/eigensolver.h"
#include "dgat/synth/mixhop.h"
#include "support/tiny_graphs.h"

namespace {

namespace fs = std::filesystem;
using dgat::graph::CsrGraph;
using dgat::graph::NodeId;

CsrGraph make_graph(const std::string& name) {
  std::vector<std::string> words;
  std::stringstream text(name);
  for (std::string word; std::getline(text, word, ':');) words.push_back(word);
  const auto number = [&](size_t i) { return static_cast<NodeId>(std::stoi(words.at(i))); };
  if (words[0] == "grid") return dgat::test::grid(number(1), number(2));
  if (words[0] == "path") return dgat::test::path(number(1));
  if (words[0] == "pa") {
    return dgat::synth::mixhop({.mu = 0.5,
                                .nodes = number(1),
                                .classes = 2,
                                .edges_per_node = number(2),
                                .splits = 0})
        .graph;
  }
  return dgat::data::load_dataset(name).graph;
}

double user_seconds(const rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

void print_row(const std::string& name, const CsrGraph& graph,
               const dgat::spectral::EigenOptions& options, bool as_json) {
  const auto result = dgat::spectral::solve_spectrum(graph, options);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto& part = result.parts.front();
  const double residual = std::ranges::max(result.residuals);
  const double angle = std::ranges::max(result.angle_bounds);
  if (as_json) {
    const nlohmann::ordered_json row = {{"dataset", name},
                                        {"nodes", graph.nodes()},
                                        {"edges", graph.edges()},
                                        {"gamma", options.gamma},
                                        {"k", options.k},
                                        {"solver", result.solver},
                                        {"seconds", result.seconds},
                                        {"user", user_seconds(usage)},
                                        {"peak_bytes", usage.ru_maxrss * 1024},
                                        {"residual", residual},
                                        {"angle", angle},
                                        {"converged", result.converged}};
    fmt::print("{}\n", row.dump());
    std::fflush(stdout);
    return;
  }
  fmt::print(
      "{:<28} {:>8} {:>9} {:>5} {:>3} {:>9} {:>6} {:>8.3f} {:>8.3f} {:>7.0f} {:>12.6g} {:>4} "
      "{:>8.1e} {:>8.1e} {}\n",
      name, graph.nodes(), graph.edges(), options.gamma, options.k, result.solver,
      result.iterations, result.seconds, user_seconds(usage),
      static_cast<double>(usage.ru_maxrss) / 1024, part.eigenvalues.back(),
      part.multiplicity.back(), residual, angle,
      result.converged ? (part.certified ? "certified" : "converged") : "NOT CONVERGED");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"times the eigensolver"};
  std::vector<std::string> names;
  std::vector<double> gammas = {0, 0.01, 0.1, 0.3, 0.5, 1};
  std::string solver = "auto";
  std::vector<int> ks = {1};
  int threads = 0;
  unsigned limit = 0;
  bool as_json = false;
  app.add_option("graphs", names)->required();
  app.add_option("--gamma", gammas)->delimiter(',');
  app.add_option("--solver", solver);
  app.add_option("--threads", threads);
  app.add_option("-k", ks)->delimiter(',');
  app.add_option("--limit", limit);
  app.add_flag("--json", as_json);
  CLI11_PARSE(app, argc, argv);

  std::vector<std::string> graphs;
  for (const std::string& name : names) {
    if (!fs::is_directory(name)) {
      graphs.push_back(name);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(name)) {
      if (entry.path().extension() == ".npz") graphs.push_back(entry.path().string());
    }
  }
  std::ranges::sort(graphs);
  dgat::set_quiet(true);
  dgat::set_thread_count(1);  // threads do not survive fork(): only the children start some
  if (!as_json) {
    fmt::print(
        "{:<28} {:>8} {:>9} {:>5} {:>3} {:>9} {:>6} {:>8} {:>8} {:>7} {:>12} {:>4} {:>8} {:>8}\n",
        "graph", "nodes", "edges", "gamma", "k", "solver", "steps", "seconds", "user", "MB",
        "lambda", "mult", "residual", "angle");
  }
  std::fflush(stdout);
  int failures = 0;
  for (const std::string& name : graphs) {
    const CsrGraph graph = make_graph(name);
    for (const double gamma : gammas) {
      for (const int k : ks) {
        const std::string title = fs::path(name).stem().string();
        const pid_t child = fork();
        if (child == 0) {
          dgat::set_thread_count(threads);
          const rlimit most{limit, limit};
          if (limit > 0) setrlimit(RLIMIT_CPU, &most);
          try {
            print_row(title, graph,
                      {.gamma = gamma, .k = k, .solver = dgat::spectral::solver_from(solver)},
                      as_json);
          } catch (const dgat::Error& error) {
            fmt::print(stderr, "{} gamma {} k {}: {}\n", title, gamma, k, error.what());
            _exit(1);
          }
          _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        failures += status != 0 ? 1 : 0;
        if (WIFSIGNALED(status)) {
          fmt::print(stderr, "{} gamma {} k {}: stopped\n", title, gamma, k);
        }
      }
    }
  }
  return failures > 0 ? 1 : 0;
}
