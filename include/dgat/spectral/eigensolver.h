#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dgat/graph/csr_graph.h"

namespace dgat::spectral {

/// What "the" eigenvectors of a disconnected graph are; all equal on a connected one.
enum class ComponentPolicy {
  kEach,    ///< every component of two or more nodes gets its own, scaled to its share of nodes
  kFirst,   ///< the k smallest positive eigenvalues of the whole graph, each on its own component
  kLargest  ///< those of the largest component, zero elsewhere
};

/// How the outer iteration (a Davidson method) is corrected; see docs/theory.md.
enum class Solver {
  kAuto,       ///< analyse the graph, choose, verify, fall back
  kDense,      ///< full decomposition; up to kDenseLimit nodes per component
  kFactor,     ///< S^+ through a sparse LDL^T: shift-invert Lanczos. Paths, trees, small meshes
  kMultigrid,  ///< aggregation multigrid for D - A. Large meshes and long thin graphs
  kDavidson,   ///< Jacobi-Davidson: a few preconditioned CG steps. Power-law graphs
  kLanczos     ///< no correction: thick-restart Lanczos
};

/// Whose operator. The authors' code builds another one than the paper's formula; it is there for
/// comparison (src/spectral/authors.h has its formula). It depends on alpha and needs gamma > 0.
enum class Formula { kPaper, kAuthors };

std::string_view to_string(ComponentPolicy policy);
std::string_view to_string(Solver solver);
/// "each", "first", "largest"; "auto", "dense", ... Throw InputError that lists the names.
ComponentPolicy component_policy_from(std::string_view name);
Solver solver_from(std::string_view name);

struct EigenOptions {
  Formula formula = Formula::kPaper;
  double gamma = 1.0;  ///< in [0, 1]; one solve serves every alpha of the paper's family
  double alpha = 1.0;  ///< read for the authors' operator only
  int k = 1;           ///< eigenvectors wanted, at least 1
  ComponentPolicy components = ComponentPolicy::kEach;
  Solver solver = Solver::kAuto;
  double tolerance = 1e-10;     ///< aimed at: ||S u - lambda u|| relative to Laplacian::scale()
  double accept = 1e-8;         ///< a larger residual is reported as not converged
  double gap_tolerance = 1e-8;  ///< eigenvalues closer than this (relatively) count as equal
  int64_t factor_bytes = int64_t{1} << 29;  ///< a larger LDL^T factor is not attempted
  uint64_t seed = 0;  ///< start vectors, and the choice inside a repeated eigenvalue
  /// Entries of the graph that a search for several pairs may visit, per component; 0: no limit. A
  /// count and no time, so the outcome is the same on every machine. Beyond it nothing converged.
  int64_t work_limit = 0;
};

inline constexpr int64_t kDenseLimit = 4000;
/// Every method counts up to this many copies of an eigenvalue; one more means "at least that".
inline constexpr int kMaxMultiplicity = 8;

/// The solve of one connected component; pairs in increasing order of eigenvalue.
struct ComponentSpectrum {
  graph::NodeId component = 0;  ///< number as in graph::connected_components
  int64_t nodes = 0;
  std::vector<double> eigenvalues;   ///< min(k, nodes-1) smallest positive eigenvalues of S
  std::vector<double> residuals;     ///< ||S u - lambda u|| / scale, recomputed from the graph
  std::vector<double> gaps;          ///< distance to the next eigenvalue that is not equal, or to
                                     ///< the one before, if nearer; 0 is deflated and no neighbour
  std::vector<double> angle_bounds;  ///< residual / gap: bounds the sine of the error angle
  std::vector<int> multiplicity;     ///< 1 = simple; a lower bound above kMaxMultiplicity
  Solver solver = Solver::kDense;    ///< the method that gave the result
  int64_t iterations = 0;            ///< outer steps of all methods tried
  bool certified = false;  ///< an inertia count proved that no smaller eigenvalue was missed
  bool converged = false;
};

/// Eigenpairs of S = L(1/2,gamma) under a component policy. Entry m of every list is about
/// pair m, m < k. Under kEach, pair m is the m-th pair of every component together: eigenvalue,
/// gap and multiplicity are those of the component whose m-th eigenvalue is smallest, residual and
/// angle bound the worst of all (repeated() looks at all components). Under kFirst, copies in other
/// components count. A pair that no component has (no edges, k too large) has
/// eigenvalue 0, multiplicity 0 and a zero vector.
struct EigenResult {
  graph::NodeId nodes = 0;
  int k = 0;
  Formula formula = Formula::kPaper;
  double gamma = 1.0;
  ComponentPolicy policy = ComponentPolicy::kEach;
  std::vector<double> eigenvalues, residuals, gaps, angle_bounds;
  std::vector<int> multiplicity;
  std::vector<double> vectors;  ///< phi(1/2): nodes x k, column by column
  std::string solver;           ///< of the largest component that was solved
  int64_t iterations = 0;
  double seconds = 0;
  bool converged = false;
  graph::NodeId components = 0;             ///< connected components of the graph
  int64_t isolated = 0;                     ///< of these, single nodes
  std::vector<ComponentSpectrum> parts;     ///< the components solved, largest first
  std::vector<double> mass;                 ///< diagonal of M, of the family
  std::vector<graph::NodeId> component_of;  ///< per node

  /// The largest multiplicity of pair m in any component: above 1, somewhere phi was chosen in a
  /// plane or more by the fixed rule.
  int repeated(size_t m) const;

  /// Eigenvectors of L(alpha,gamma), nodes x k, column by column: M^(1/2-alpha) u, unit 2-norm,
  /// the entry of largest magnitude positive (under kEach: in every component, and every
  /// component's share of the squared norm is its share of the non-isolated nodes). Entries within
  /// 1e-6 of the largest count as a tie; the smallest node wins, so every solver agrees.
  /// With the authors' operator: M^(-1/2) u, the same for every alpha.
  /// Cost: O(N k). Throws: InputError when alpha is outside [0, 1].
  std::vector<double> phi(double alpha) const;
};

/// The k smallest positive eigenvalues of S and their eigenvectors.
///
/// Every residual is recomputed from the graph. A method that misses the tolerance is followed by
/// another, and `converged` says whether the best one reached `accept`. A repeated eigenvalue is
/// found by its gap. Its vector is the projection of a fixed vector (Philox of seed and node) onto
/// the eigenspace, the same for every method and thread count.
///
/// Needs:  an undirected graph.
/// Cost:   memory O(N + E) plus a factor within the budget; a few dozen to a few hundred operator
///         applications on most graphs.
/// Throws: InputError on bad options or a directed graph, Interrupted on Ctrl-C.
EigenResult solve_spectrum(const graph::CsrGraph& graph, const EigenOptions& options = {});

/// (sum phi^2)^2 / (N sum phi^4): 1 when every node takes part equally, 1/N on a single node.
double participation_ratio(std::span<const double> phi);
/// Below this share of the nodes phi says little about the others; report it to the user.
inline constexpr double kLocalised = 0.01;

}  // namespace dgat::spectral
