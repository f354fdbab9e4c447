#include "pairs.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace dgat::spectral {
namespace {

constexpr int kMaxEqual = kMaxMultiplicity;  // these are computed one by one
constexpr int kFreshVectors = 1 << 20;       // fixed vectors from here on start the searches

struct Pair {
  double value = 0, residual = 0;
  std::vector<double> vector;
};

class PairSearch {
 public:
  PairSearch(const Laplacian& S, std::span<const graph::NodeId> original, int wanted,
             const DavidsonOptions& search, const EigenOptions& options)
      : S_(S),
        original_(original),
        wanted_(wanted),
        search_(search),
        options_(options),
        deflated_(S.nodes(), 2 + 2 * wanted + 2 * kMaxEqual),
        null_(S.null_vector()),
        progress_("spectrum", 0) {
    std::ranges::copy(null_, deflated_.push().begin());
  }

  FoundPairs run(Correction& correction, Correction& krylov) {
    while (true) {
      if (std::ssize(found_) == S_.nodes() - 1) break;  // that was the whole spectrum
      if (copies() > kMaxEqual || deflated_.count() == deflated_.capacity()) {
        resolve_many_equal(krylov);
        break;
      }
      const bool enough = std::ssize(found_) >= wanted_;
      DavidsonGoal goal;
      if (enough) goal.beyond = last_wanted();
      DavidsonResult next = search_once(correction, start_vectors(), goal);
      if (!next.converged) return fail(std::move(next));
      const bool above = enough && next.value > last_wanted() && !equal(next.value, last_wanted());
      take(next);
      if (above) break;
    }
    refine(correction);
    return answer(true);
  }

 private:
  bool equal(double a, double b) const { return equal_values(a, b, options_.gap_tolerance); }
  double last_wanted() const { return found_[static_cast<size_t>(wanted_ - 1)].value; }

  /// Pairs found that equal the last one wanted.
  int64_t copies() const {
    if (std::ssize(found_) < wanted_) return 0;
    return std::ranges::count_if(
        found_, [&](const Pair& pair) { return equal(pair.value, last_wanted()); });
  }

  Basis one_vector(int which) const {
    Basis start(S_.nodes(), 1);
    std::ranges::copy(fixed_vector(original_, options_.seed, which), start.push().begin());
    return start;
  }

  /// The largest number of equal values found so far.
  int64_t most_copies() const {
    int64_t most = 0, run = 0;
    for (size_t j = 0; j < found_.size(); ++j) {
      run = j > 0 && equal(found_[j - 1].value, found_[j].value) ? run + 1 : 1;
      most = std::max(most, run);
    }
    return most;
  }

  /// Two fresh vectors (the first of all is the fixed one), or what the search before left behind.
  /// The space grown from s vectors shows at most s copies of an eigenvalue: when all of these were
  /// found, there may be more, and only fresh vectors can tell.
  Basis start_vectors() {
    Basis start(S_.nodes(), std::max(others_.count(), 2));
    if (others_.count() > 0 && most_copies() < 2 * fresh_searches_) {
      for (int j = 0; j < others_.count(); ++j) {
        std::ranges::copy(others_.column(j), start.push().begin());
      }
      return start;
    }
    for (int c = 0; c < 2; ++c) {
      const int which = found_.empty() && c == 0 ? 0 : kFreshVectors + 2 * fresh_searches_ + c;
      std::ranges::copy(fixed_vector(original_, options_.seed, which), start.push().begin());
    }
    ++fresh_searches_;
    return start;
  }

  DavidsonResult search_once(Correction& correction, const Basis& start, const DavidsonGoal& goal) {
    DavidsonResult out = davidson(S_, deflated_, start, correction, search_, goal, progress_);
    steps_ += out.steps;
    return out;
  }

  /// Keeps the pairs sorted by value.
  void take(DavidsonResult& next) {
    std::ranges::copy(next.vector, deflated_.push().begin());
    others_ = std::move(next.others);
    const auto place = std::ranges::upper_bound(found_, next.value, {}, &Pair::value);
    found_.insert(place, {next.value, next.residual, std::move(next.vector)});
  }

  void deflate_all_but(size_t skipped) {
    deflated_.truncate(1);
    for (size_t j = 0; j < found_.size(); ++j) {
      if (j != skipped) std::ranges::copy(found_[j].vector, deflated_.push().begin());
    }
  }

  /// Now that all gaps are known: pairs whose residual is too large for their gap are worked on
  /// again.
  void refine(Correction& correction) {
    for (size_t j = 0; j < found_.size() && j < static_cast<size_t>(wanted_ + copies()); ++j) {
      double gap = found_[j].value;
      for (const Pair& other : found_) {
        if (!equal(other.value, found_[j].value)) {
          gap = std::min(gap, std::abs(other.value - found_[j].value));
        }
      }
      const DavidsonGoal goal{.angle = 3e-7, .gap = gap};
      if (found_[j].residual <= std::max(goal.angle * gap, search_.rounding)) continue;
      if (j + 1 == found_.size() && std::ssize(found_) > wanted_) continue;
      deflate_all_but(j);
      Basis start(S_.nodes(), 1);
      std::ranges::copy(found_[j].vector, start.push().begin());
      DavidsonResult better = search_once(correction, start, goal);
      found_[j] = {better.value, better.residual, std::move(better.vector)};
    }
  }

  /// An eigenvalue with so many copies that they are not computed one by one: Krylov spaces of the
  /// fixed vectors hold exactly their projections onto the eigenspace.
  void resolve_many_equal(Correction& krylov) {
    const double repeated = last_wanted();
    std::erase_if(found_, [&](const Pair& pair) {
      return equal(pair.value, repeated) || pair.value > repeated;
    });
    last_multiplicity_ = kMaxEqual + 1;
    search_.block = 1;
    deflate_all_but(found_.size());
    const int below = static_cast<int>(found_.size());
    for (int c = below; c < wanted_; ++c) {
      DavidsonResult next = search_once(krylov, one_vector(c - below), {});
      const bool last = c + 1 == wanted_;
      const Basis start = one_vector(c - below);
      take(next);
      if (!last) continue;
      DavidsonResult after = search_once(krylov, start, {.beyond = repeated});
      if (!equal(after.value, repeated)) take(after);
    }
  }

  FoundPairs fail(DavidsonResult next) {
    take(next);
    return answer(false);
  }

  FoundPairs answer(bool converged) {
    FoundPairs out{{Basis(S_.nodes(), static_cast<int>(found_.size())), {}, last_multiplicity_},
                   steps_,
                   converged};
    for (const Pair& pair : found_) {
      // Pairs were found to within their tolerance; make them orthonormal to rounding.
      std::vector<double> u = pair.vector;
      if (!out.candidate.vectors.orthonormalise(u)) continue;
      std::ranges::copy(u, out.candidate.vectors.push().begin());
      out.candidate.residuals.push_back(pair.residual);
    }
    return out;
  }

  const Laplacian& S_;
  std::span<const graph::NodeId> original_;
  int wanted_;
  DavidsonOptions search_;
  const EigenOptions& options_;
  Basis deflated_;
  std::vector<double> null_;
  Basis others_{0, 0};
  std::vector<Pair> found_;
  int fresh_searches_ = 0, last_multiplicity_ = 0;
  int64_t steps_ = 0;
  Progress progress_;
};

}  // namespace

FoundPairs find_pairs(const Laplacian& S, std::span<const graph::NodeId> original, int wanted,
                      Correction& correction, Correction& krylov, const DavidsonOptions& search,
                      const EigenOptions& options) {
  return PairSearch(S, original, wanted, search, options).run(correction, krylov);
}

}  // namespace dgat::spectral
