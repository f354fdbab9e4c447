#include "component_solver.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "block_davidson.h"
#include "canonical.h"
#include "davidson.h"
#include "dense_pairs.h"
#include "dgat/core/error.h"
#include "inner_cg.h"
#include "ldl.h"
#include "multigrid.h"
#include "pairs.h"
#include "solver_plan.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;

constexpr int kInnerSteps = 16;              // CG steps of one Jacobi-Davidson correction
constexpr double kResidualRounding = 5e-16;  // of a residual, relative to the scale of S

class ComponentSolver {
 public:
  ComponentSolver(const CsrGraph& graph, std::span<const NodeId> original,
                  const EigenOptions& options)
      : original_(original),
        options_(options),
        S_(graph, {.alpha = 0.5, .gamma = options.gamma}),
        wanted_(static_cast<int>(std::min<int64_t>(options.k, graph.nodes() - 1))),
        plan_(plan_solvers(graph, options)) {}

  ComponentSolution run() {
    std::optional<ComponentSolution> best;
    int64_t steps = 0;
    for (const Solver solver : plan_.methods) {
      ComponentSolution now = solver == Solver::kDense ? dense() : iterative(solver);
      now.spectrum.solver = solver;
      steps += now.spectrum.iterations;
      if (!best || worst(now) < worst(*best) || now.spectrum.converged) best = std::move(now);
      if (best->spectrum.converged || options_.work_limit > 0) break;
    }
    best->spectrum.iterations = steps;
    return std::move(*best);
  }

 private:
  static double worst(const ComponentSolution& solution) {
    const auto& residuals = solution.spectrum.residuals;
    return residuals.empty() ? INFINITY : *std::ranges::max_element(residuals);
  }

  ComponentSolution dense() const {
    const NodeId n = S_.nodes();
    Basis identity(n, 1);
    const std::span<double> e = identity.push();
    Eigen::MatrixXd matrix(n, n);
    for (NodeId j = 0; j < n; ++j) {
      std::ranges::fill(e, 0.0);
      e[static_cast<size_t>(j)] = 1;
      S_.apply(e, {matrix.col(j).data(), static_cast<size_t>(n)});
    }
    // The null vector is moved above the rest of the spectrum.
    const std::vector<double> null = S_.null_vector();
    const Eigen::Map<const Eigen::VectorXd> q(null.data(), n);
    matrix += 4 * S_.scale() * q * q.transpose();
    const DensePairs all = dense_pairs(matrix);
    // As many as are wanted, all equal to the last of them, and one more.
    const Eigen::VectorXd& values = all.values;
    int pairs = wanted_;
    while (pairs < n - 1 &&
           equal_values(values[pairs - 1], values[pairs], options_.gap_tolerance)) {
      ++pairs;
    }
    pairs = std::min(pairs + 1, n - 1);
    Candidate candidate{Basis(n, pairs), std::vector<double>(static_cast<size_t>(pairs), 0.0), 0};
    for (int j = 0; j < pairs; ++j) {
      Eigen::Map<Eigen::VectorXd>(candidate.vectors.push().data(), n) = all.vectors.col(j);
    }
    ComponentSolution out = finish(S_, original_, candidate, options_);
    out.spectrum.iterations = 1;
    out.spectrum.certified = true;
    return out;
  }

  std::unique_ptr<Correction> make_correction(Solver solver) {
    switch (solver) {
      case Solver::kFactor:
        return std::make_unique<FactorCorrection>(S_, *plan_.factor);
      case Solver::kMultigrid:
        return std::make_unique<MultigridCorrection>(S_);
      case Solver::kDavidson:
        // Single precision suffices unless eigenvalues are tiny against the scale of S.
        if (plan_.deep) return std::make_unique<InnerCg<double>>(S_, kInnerSteps);
        return std::make_unique<InnerCg<float>>(S_, kInnerSteps);
      default:
        return std::make_unique<NoCorrection>();
    }
  }

  DavidsonOptions davidson_options(Solver solver) const {
    DavidsonOptions out{.tolerance = options_.tolerance * S_.scale(),
                        .rounding = kResidualRounding * S_.scale(),
                        .gap_tolerance = options_.gap_tolerance};
    switch (solver) {
      case Solver::kFactor:
      case Solver::kMultigrid:
        out.max_steps = 300;
        break;
      case Solver::kLanczos:
        out.basis = 60;
        out.keep = 25;
        out.max_steps = 20000;
        break;
      default:
        out.max_steps = 2000;
    }
    return out;
  }

  /// One pair is searched for alone, several together.
  ComponentSolution iterative(Solver solver) {
    return wanted_ == 1 ? one(solver) : several(solver);
  }

  ComponentSolution several(Solver solver) {
    NoCorrection none;
    std::unique_ptr<LinearCorrection> linear;
    if (solver == Solver::kFactor) linear = std::make_unique<FactorCorrection>(S_, *plan_.factor);
    if (solver == Solver::kMultigrid) linear = std::make_unique<MultigridCorrection>(S_);
    LinearCorrection& krylov = solver == Solver::kFactor ? *linear : none;
    std::unique_ptr<BlockCorrection> correction;
    if (solver == Solver::kDavidson) {
      correction = std::make_unique<ChebyshevCorrection>(S_);
    } else {
      correction = std::make_unique<ColumnCorrection>(S_, linear ? *linear : none, linear ? 10 : 0);
    }
    return answer(solver, block_davidson(S_, original_, wanted_, *correction, krylov, options_));
  }

  ComponentSolution one(Solver solver) {
    const std::unique_ptr<Correction> correction = make_correction(solver);
    NoCorrection none;
    Correction& krylov = solver == Solver::kFactor ? *correction : none;
    return answer(solver, find_pairs(S_, original_, wanted_, *correction, krylov,
                                     davidson_options(solver), options_));
  }

  ComponentSolution answer(Solver solver, const FoundPairs& found) {
    ComponentSolution out = finish(S_, original_, found.candidate, options_);
    out.spectrum.iterations = found.steps;
    out.spectrum.converged = out.spectrum.converged && found.converged;
    if (solver == Solver::kFactor) certify(out, found.candidate);
    return out;
  }

  /// Counts the eigenvalues below the first gap after the pairs wanted: more than were found means
  /// that one was missed.
  void certify(ComponentSolution& out, const Candidate& candidate) {
    ComponentSpectrum& spectrum = out.spectrum;
    if (!spectrum.converged) return;
    const double last = spectrum.eigenvalues.back();
    const int multiplicity = spectrum.multiplicity.back();
    const auto begin = std::ranges::find_if(spectrum.eigenvalues, [&](double value) {
      return equal_values(value, last, options_.gap_tolerance);
    });
    const int64_t below = begin - spectrum.eigenvalues.begin();
    const int64_t expected = 1 + below + multiplicity;
    const int64_t count = eigenvalues_below(S_, *plan_.factor, last + spectrum.gaps.back() / 2);
    if (count < expected) return;  // pivots too close to zero to tell
    if (count > expected && candidate.last_multiplicity == 0) {
      spectrum.converged = false;
      return;
    }
    spectrum.certified = true;
    for (auto m = static_cast<size_t>(below); m < spectrum.multiplicity.size(); ++m) {
      spectrum.multiplicity[m] = static_cast<int>(count - 1 - below);
    }
  }

  std::span<const NodeId> original_;
  const EigenOptions& options_;
  Laplacian S_;
  int wanted_;
  SolverPlan plan_;
};

}  // namespace

ComponentSolution solve_component(const CsrGraph& graph, std::span<const NodeId> original,
                                  const EigenOptions& options) {
  return ComponentSolver(graph, original, options).run();
}

}  // namespace dgat::spectral
