#include "dgat/spectral/eigensolver.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "authors.h"
#include "canonical.h"
#include "component_solver.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/graph/components.h"
#include "dgat/spectral/laplacian.h"
#include "summary.h"
#include "twins.h"

namespace dgat::spectral {
namespace {

using graph::ArcIndex;
using graph::CsrGraph;
using graph::NodeId;

constexpr std::array<std::pair<std::string_view, ComponentPolicy>, 3> kPolicies = {{
    {"each", ComponentPolicy::kEach},
    {"first", ComponentPolicy::kFirst},
    {"largest", ComponentPolicy::kLargest},
}};
constexpr std::array<std::pair<std::string_view, Solver>, 6> kSolvers = {{
    {"auto", Solver::kAuto},
    {"dense", Solver::kDense},
    {"factor", Solver::kFactor},
    {"multigrid", Solver::kMultigrid},
    {"davidson", Solver::kDavidson},
    {"lanczos", Solver::kLanczos},
}};

template <class Table, class Value>
std::string_view name_of(const Table& table, Value value) {
  return std::ranges::find(table, value, &Table::value_type::second)->first;
}

template <class Table>
auto value_of(const Table& table, std::string_view name, const char* what) {
  const auto found = std::ranges::find(table, name, &Table::value_type::first);
  if (found != table.end()) return found->second;
  std::string names;
  for (const auto& entry : table) names += (names.empty() ? "" : ", ") + std::string(entry.first);
  throw_input("{}: '{}' is not known; choose one of {}", what, name, names);
}

void check(const CsrGraph& graph, const EigenOptions& options) {
  if (graph.directed()) {
    throw_input("eigensolver: the graph is directed, an undirected one is needed; symmetrise it");
  }
  if (!(options.gamma >= 0 && options.gamma <= 1)) {
    throw_input("eigensolver: gamma must lie in [0, 1], got {}", options.gamma);
  }
  if (options.formula == Formula::kAuthors && options.gamma == 0) {
    throw_input("eigensolver: the authors' Laplacian is 0 at gamma 0; give a gamma above 0");
  }
  if (options.formula == Formula::kAuthors && !(options.alpha >= 0 && options.alpha <= 1)) {
    throw_input("eigensolver: alpha must lie in [0, 1], got {}", options.alpha);
  }
  if (options.k < 1 || options.k > 1000) {
    throw_input("eigensolver: the number of eigenvectors must lie in [1, 1000], got {}", options.k);
  }
  if (!(options.tolerance > 0) || !(options.accept >= options.tolerance)) {
    throw_input("eigensolver: tolerances must satisfy 0 < tolerance <= accept, got {} and {}",
                options.tolerance, options.accept);
  }
}

/// One component with its nodes renumbered in order.
struct Part {
  NodeId component = 0;
  std::vector<NodeId> original;
  CsrGraph graph;
};

/// The nodes of the components to solve.
std::vector<Part> select_parts(const graph::Components& components, ComponentPolicy policy) {
  std::vector<Part> parts;
  std::vector<int64_t> slot(components.sizes.size(), -1);
  for (const NodeId c : solved_components(components, policy)) {
    slot[static_cast<size_t>(c)] = std::ssize(parts);
    parts.push_back({c, {}, {}});
  }
  for (size_t i = 0; i < components.of_node.size(); ++i) {
    const int64_t at = slot[static_cast<size_t>(components.of_node[i])];
    if (at >= 0) parts[static_cast<size_t>(at)].original.push_back(static_cast<NodeId>(i));
  }
  return parts;
}

CsrGraph extract(const CsrGraph& graph, const Part& part, std::vector<NodeId>& local) {
  std::vector<ArcIndex> offsets = {0};
  std::vector<NodeId> targets;
  std::vector<float> weights;
  for (size_t i = 0; i < part.original.size(); ++i) {
    local[static_cast<size_t>(part.original[i])] = static_cast<NodeId>(i);
  }
  for (const NodeId i : part.original) {
    for (const NodeId j : graph.neighbors(i)) targets.push_back(local[static_cast<size_t>(j)]);
    if (graph.weighted()) {
      weights.insert(weights.end(), graph.weights().begin() + graph.begin(i),
                     graph.weights().begin() + graph.end(i));
    }
    offsets.push_back(std::ssize(targets));
  }
  return {std::move(offsets), std::move(targets), false, std::move(weights)};
}

/// The entry that decides the sign: the first within kTie of the largest magnitude, so that entries
/// equal up to rounding do not let the method decide.
double deciding_entry(std::span<const double> x, std::span<const NodeId> nodes) {
  constexpr double kTie = 1e-6;
  double largest = 0;
  for (const NodeId i : nodes) largest = std::max(largest, std::abs(x[static_cast<size_t>(i)]));
  for (const NodeId i : nodes) {
    if (std::abs(x[static_cast<size_t>(i)]) >= (1 - kTie) * largest)
      return x[static_cast<size_t>(i)];
  }
  return 0;
}

}  // namespace

std::string_view to_string(ComponentPolicy policy) {
  return name_of(kPolicies, policy);
}
std::string_view to_string(Solver solver) {
  return name_of(kSolvers, solver);
}
ComponentPolicy component_policy_from(std::string_view name) {
  return value_of(kPolicies, name, "component policy");
}
Solver solver_from(std::string_view name) {
  return value_of(kSolvers, name, "solver");
}

namespace {

void put_vector(EigenResult& result, size_t column, const Part& part, std::span<const double> u) {
  double* out = result.vectors.data() + column * static_cast<size_t>(result.nodes);
  for (size_t i = 0; i < u.size(); ++i) out[part.original[i]] = u[i];
}

}  // namespace

EigenResult solve_spectrum(const CsrGraph& graph, const EigenOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check(graph, options);
  graph::Components components = graph::connected_components(graph);
  EigenResult result;
  result.nodes = graph.nodes();
  result.k = options.k;
  result.formula = options.formula;
  result.gamma = options.gamma;
  result.policy = options.components;
  result.components = components.count();
  result.isolated = components.isolated();
  const auto n = static_cast<size_t>(graph.nodes()), k = static_cast<size_t>(options.k);
  const Laplacian S(graph, {.alpha = 0.5, .gamma = options.gamma});
  const bool authors = options.formula == Formula::kAuthors;
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    result.mass.push_back(authors ? authors_mass(graph, i, options.gamma) : S.mass(i));
  }

  const std::vector<Part> parts = select_parts(components, options.components);
  result.component_of = std::move(components.of_node);
  std::vector<std::vector<double>> vectors;
  std::vector<NodeId> local(n);
  for (const Part& part : parts) {
    throw_if_interrupted("eigensolver");
    const bool whole = part.original.size() == n;
    const CsrGraph extracted = whole ? CsrGraph() : extract(graph, part, local);
    const CsrGraph& component = whole ? graph : extracted;
    ComponentSolution solution = authors ? solve_authors(component, options)
                                         : solve_component(component, part.original, options);
    if (!authors) {
      equalise_twins(component, options.gamma, solution.spectrum.eigenvalues, solution.vectors);
    }
    solution.spectrum.component = part.component;
    result.iterations += solution.spectrum.iterations;
    result.parts.push_back(std::move(solution.spectrum));
    vectors.push_back(std::move(solution.vectors));
  }

  result.vectors.assign(n * k, 0.0);
  const auto vector_of = [&](Place at) {
    const size_t rows = parts[at.part].original.size();
    return std::span<const double>(vectors[at.part]).subspan(at.pair * rows, rows);
  };
  const std::vector<Place> places = summarise(result, options.gap_tolerance);
  for (size_t m = 0; m < places.size(); ++m) {
    put_vector(result, m, parts[places[m].part], vector_of(places[m]));
  }
  if (options.components == ComponentPolicy::kEach) {
    for (size_t p = 0; p < parts.size(); ++p) {
      for (size_t m = 0; m < result.parts[p].eigenvalues.size(); ++m) {
        put_vector(result, m, parts[p], vector_of({p, m}));
      }
    }
  }
  if (!authors) result.vectors = result.phi(0.5);
  result.converged = std::ranges::all_of(result.parts, &ComponentSpectrum::converged);
  result.solver = result.parts.empty() ? "none" : to_string(result.parts.front().solver);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

int EigenResult::repeated(size_t m) const {
  int most = m < multiplicity.size() ? multiplicity[m] : 0;
  for (const ComponentSpectrum& part : parts) {
    if (m < part.multiplicity.size()) most = std::max(most, part.multiplicity[m]);
  }
  return most;
}

std::vector<double> EigenResult::phi(double alpha) const {
  if (!(alpha >= 0 && alpha <= 1)) throw_input("phi: alpha must lie in [0, 1], got {}", alpha);
  std::vector<double> out = vectors;
  const double power = formula == Formula::kAuthors ? -0.5 : 0.5 - alpha;
  // Nodes by component: isolated nodes and, where a policy leaves components out, those keep zeros.
  std::vector<std::vector<NodeId>> groups(static_cast<size_t>(components));
  for (NodeId i = 0; i < nodes; ++i) {
    groups[static_cast<size_t>(component_of[static_cast<size_t>(i)])].push_back(i);
  }
  for (int m = 0; m < k; ++m) {
    const std::span<double> x(out.data() + static_cast<int64_t>(m) * nodes,
                              static_cast<size_t>(nodes));
    double nodes_used = 0;
    for (const auto& group : groups) {
      double sum = 0;
      for (const NodeId i : group) {
        double& entry = x[static_cast<size_t>(i)];
        entry *= std::pow(mass[static_cast<size_t>(i)], power);
        sum += entry * entry;
      }
      if (sum == 0) continue;
      nodes_used += static_cast<double>(group.size());
      const double size = std::sqrt(static_cast<double>(group.size()) / sum);
      const double factor = deciding_entry(x, group) < 0 ? -size : size;
      for (const NodeId i : group) x[static_cast<size_t>(i)] *= factor;
    }
    if (nodes_used == 0) continue;
    for (double& entry : x) entry /= std::sqrt(nodes_used);
  }
  return out;
}

double participation_ratio(std::span<const double> phi) {
  double second = 0, fourth = 0;
  for (const double x : phi) {
    second += x * x;
    fourth += x * x * x * x;
  }
  return fourth > 0 ? second * second / (static_cast<double>(phi.size()) * fourth) : 0;
}

}  // namespace dgat::spectral
