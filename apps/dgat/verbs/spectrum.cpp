// dgat spectrum: the eigenpairs that give a graph its direction, how good they are, and what phi
// looks like.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "../data_options.h"
#include "../table_output.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/data/npz.h"
#include "dgat/graph/builder.h"
#include "dgat/spectral/eigensolver.h"
#include "dgat/study/table.h"
#include "dgat/train/directions.h"

namespace dgat::app {
namespace {

using spectral::EigenResult;

struct Spectrum {
  CommonOptions common;
  DataOptions data;
  std::string solver = "auto", out;
  int64_t factor_megabytes = spectral::EigenOptions{}.factor_bytes >> 20;
};

struct Answer {
  std::string name;
  double alpha = 1;
  EigenResult result;
  std::vector<double> phi;  // nodes x k, column by column
  std::vector<double> participation;

  std::span<const double> column(size_t m) const {
    const auto n = static_cast<size_t>(result.nodes);
    return std::span(phi).subspan(m * n, n);
  }
};

Answer solve(const Spectrum& options) {
  const train::Config config = config_of(options.data, options.common);
  note_ignored("spectrum", options.data.settings, config);
  const data::Dataset set = load(config);
  const double alpha = train::laplacian_of(config).alpha;
  spectral::EigenOptions solve = train::eigen_options(config);
  solve.solver = spectral::solver_from(options.solver);
  solve.factor_bytes = options.factor_megabytes << 20;
  Answer answer{set.name, alpha, {}, {}, {}};
  answer.result = set.graph.directed()
                      ? spectral::solve_spectrum(graph::symmetrised(set.graph), solve)
                      : spectral::solve_spectrum(set.graph, solve);
  answer.phi = answer.result.phi(alpha);
  for (size_t m = 0; m < static_cast<size_t>(solve.k); ++m) {
    answer.participation.push_back(spectral::participation_ratio(answer.column(m)));
  }
  return answer;
}

Json to_json(const Answer& answer) {
  const EigenResult& result = answer.result;
  Json parts = Json::array();
  for (const auto& part : result.parts) {
    parts.push_back({{"component", part.component},
                     {"nodes", part.nodes},
                     {"eigenvalues", part.eigenvalues},
                     {"residuals", part.residuals},
                     {"multiplicity", part.multiplicity},
                     {"solver", spectral::to_string(part.solver)},
                     {"iterations", part.iterations},
                     {"certified", part.certified},
                     {"converged", part.converged}});
  }
  return {{"dataset", answer.name},
          {"nodes", result.nodes},
          {"alpha", answer.alpha},
          {"gamma", result.gamma},
          {"eigenvalues", result.eigenvalues},
          {"residuals", result.residuals},
          {"gaps", result.gaps},
          {"angle_bounds", result.angle_bounds},
          {"solver", result.solver},
          {"iterations", result.iterations},
          {"seconds", result.seconds},
          {"components", result.components},
          {"isolated", result.isolated},
          {"component_policy", spectral::to_string(result.policy)},
          {"multiplicity", result.multiplicity.front()},
          {"multiplicities", result.multiplicity},
          {"participation_ratio", answer.participation.front()},
          {"participation_ratios", answer.participation},
          {"converged", result.converged},
          {"parts", parts}};
}

/// The sorted entries as a curve from their minimum (left, low) to their maximum (right, high).
std::string profile(std::span<const double> sorted) {
  constexpr const char* kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr size_t kWidth = 64;
  const double low = sorted.front(), range = sorted.back() - low;
  const size_t width = std::min(kWidth, sorted.size());
  std::string out;
  for (size_t c = 0; c < width; ++c) {
    const size_t at = width == 1 ? 0 : c * (sorted.size() - 1) / (width - 1);
    const double height = range > 0 ? (sorted[at] - low) / range : 0;
    out += kHeights[std::min<size_t>(7, static_cast<size_t>(height * 8))];
  }
  return out;
}

/// Nodes that together carry this share of the squared norm, largest entries first.
size_t nodes_carrying(std::span<const double> phi, double share) {
  std::vector<double> squares;
  for (const double x : phi) squares.push_back(x * x);
  std::ranges::sort(squares, std::greater<>());
  const double goal = share * std::accumulate(squares.begin(), squares.end(), 0.0);
  double sum = 0;
  size_t count = 0;
  while (count < squares.size() && sum < goal) sum += squares[count++];
  return count;
}

void print_sketch(const Answer& answer) {
  const auto phi = answer.column(0);
  if (phi.empty()) return;
  std::vector<double> sorted(phi.begin(), phi.end());
  std::ranges::sort(sorted);
  const auto quantile = [&](double q) {
    return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  fmt::print("\nphi, first vector, sorted\n  {}\n", profile(sorted));
  fmt::print("  min {:.4g}, quartiles {:.4g} {:.4g} {:.4g}, max {:.4g}\n", sorted.front(),
             quantile(0.25), quantile(0.5), quantile(0.75), sorted.back());
  const double effective = answer.participation.front() * static_cast<double>(phi.size());
  fmt::print("  participation ratio {:.3g}: {:.0f} of {} nodes take part; {} carry 90% of it\n",
             answer.participation.front(), effective, phi.size(), nodes_carrying(phi, 0.9));
  if (answer.participation.front() < spectral::kLocalised && phi.size() >= 100) {
    fmt::print(
        "  localised: phi is nearly constant on most of the graph. A smaller gamma or more vectors "
        "(-k) may show more.\n");
  }
}

std::string copies(int multiplicity) {
  return multiplicity > spectral::kMaxMultiplicity ? fmt::format("{}+", multiplicity)
                                                   : std::to_string(multiplicity);
}

void print_text(const Answer& answer) {
  const EigenResult& result = answer.result;
  fmt::print("{}: {} nodes, {} components ({} isolated nodes), alpha {}, gamma {}\n", answer.name,
             result.nodes, result.components, result.isolated, answer.alpha, result.gamma);
  const bool certified =
      std::ranges::all_of(result.parts, [](auto& part) { return part.certified; });
  fmt::print("solver {}, {} steps, {:.3f} s, {}\n\n", result.solver, result.iterations,
             result.seconds,
             !result.converged ? "NOT CONVERGED"
             : certified       ? "converged, no smaller eigenvalue (inertia count)"
                               : "converged");
  study::Table table = study::Table::of(
      {"pair", "eigenvalue", "residual", "gap", "angle bound", "copies", "participation"});
  for (size_t m = 0; m < result.eigenvalues.size(); ++m) {
    table.row({std::to_string(m + 1), fmt::format("{:.10g}", result.eigenvalues[m]),
               fmt::format("{:.1e}", result.residuals[m]), fmt::format("{:.3g}", result.gaps[m]),
               fmt::format("{:.1e}", result.angle_bounds[m]), copies(result.multiplicity[m]),
               fmt::format("{:.3g}", answer.participation[m])});
  }
  fmt::print("{}", on_screen(table));
  bool repeated = false;
  for (size_t m = 0; m < result.eigenvalues.size(); ++m) repeated |= result.repeated(m) > 1;
  if (repeated) {
    fmt::print(
        "\nA repeated eigenvalue has a plane or more of eigenvectors. The one shown is the "
        "projection "
        "of a\nfixed vector (--seed), the same for every solver and thread count.\n");
  }
  if (result.multiplicity.back() == 0) {
    fmt::print(
        "\nThe graph has fewer than {} positive eigenvalues per component; the others are zero.\n",
        result.k);
  }
  print_sketch(answer);
}

void write_npz(const Answer& answer, const std::string& file) {
  const EigenResult& result = answer.result;
  const auto n = static_cast<size_t>(result.nodes), k = static_cast<size_t>(result.k);
  std::vector<double> rows(n * k);
  for (size_t i = 0; i < n; ++i) {
    for (size_t m = 0; m < k; ++m) rows[i * k + m] = answer.phi[m * n + i];
  }
  data::NpzWriter out(file);
  out.add("eigenvalues", {result.k}, std::span<const double>(result.eigenvalues));
  out.add("eigenvectors", {result.nodes, result.k}, std::span<const double>(rows));
  out.finish();
}

void run(const Spectrum& options) {
  refuse_input(options.out, options.data.data);
  const Answer answer = solve(options);
  if (!options.out.empty()) write_npz(answer, options.out);
  if (options.common.json) {
    print_json(to_json(answer));
  } else {
    print_text(answer);
  }
  if (!answer.result.converged) {
    throw_compute(
        "spectrum: not converged, worst residual {:.1e}, the limit is {:.0e}; try another "
        "--solver or a larger --factor-memory",
        *std::ranges::max_element(answer.result.residuals), spectral::EigenOptions{}.accept);
  }
}

}  // namespace

void add_spectrum(CLI::App& app) {
  auto options = std::make_shared<Spectrum>();
  CLI::App* verb = app.add_subcommand(
      "spectrum",
      "Eigenpairs of L(alpha,gamma): the smallest positive eigenvalues and their vectors");
  add_data_options(*verb, options->data);
  add_option_flags(*verb, options->data.settings,
                   {"laplacian", "alpha", "gamma", "eigenvectors", "components"});
  verb->add_option("--solver", options->solver,
                   "auto chooses a method by the graph, and another one if it fails")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "dense", "factor", "multigrid", "davidson", "lanczos"}));
  verb->add_option("--factor-memory", options->factor_megabytes,
                   "MB that a sparse factor may take; a larger one is not attempted")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  verb->add_option("--out", options->out,
                   "write eigenvalues [k] and eigenvectors [N,k] (float64) to this .npz file")
      ->check(npz_name);
  add_common_options(*verb, options->common);
  verb->footer(
      "dgat spectrum minesweeper.npz --gamma 0.5\n"
      "dgat spectrum cora.npz --alpha 1 --gamma 1 -k 4 --out phi.npz\n"
      "Directed graphs are symmetrised. Exit code 1 when a residual misses 1e-8.");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
