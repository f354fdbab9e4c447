#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dgat::rewire {

/// Which edges are dropped, judged by the spectral distance d_s of their ends.
enum class Prune {
  kNone,
  kNear,  ///< d_s < epsilon: for graphs whose neighbours agree (homophily)
  kFar    ///< d_s > epsilon: for graphs whose neighbours differ (heterophily)
};

/// Which edges are added, judged by the first eigenvector phi.
enum class Join {
  kNone,
  kOpposite,  ///< `add`: every node to the extreme of phi on the other side of the middle
  kHub        ///< `hub`: every node to argmax phi
};

/// A rewiring: prune the original edges, then join. `automatic` leaves the choice to
/// resolve_mode(), `advised` to advice on a split (study::advised_graph()).
struct Mode {
  Prune prune = Prune::kNone;
  Join join = Join::kNone;
  bool automatic = false;
  bool advised = false;
  friend bool operator==(const Mode&, const Mode&) = default;
};

/// "none", "advised", "auto", "prune-near", "prune-far", "add", "hub", or a prune and a join in
/// one: "prune-far+add" (also prune-near+add, prune-near+hub, prune-far+hub). Throws: InputError
/// that lists the names.
Mode parse_mode(std::string_view text);
std::string to_string(const Mode& mode);

/// The pruning threshold: a value, or a quantile of d_s over the edges, written "q0.2". Quantiles
/// interpolate linearly: with the distances sorted d_0 <= ... <= d_{E-1} and h = q (E-1), the
/// threshold is d_floor(h) + (h - floor(h)) (d_ceil(h) - d_floor(h)).
struct Epsilon {
  double value = 0;
  bool quantile = false;
  friend bool operator==(const Epsilon&, const Epsilon&) = default;
};

/// Throws: InputError unless text is a number >= 0, or q followed by a number in [0, 1].
Epsilon parse_epsilon(std::string_view text);
std::string to_string(const Epsilon& epsilon);

struct RewireOptions {
  Mode mode;
  /// Without one, pruning drops a tenth of the edges: q0.1 (prune-near) or q0.9 (prune-far).
  std::optional<Epsilon> epsilon = std::nullopt;
  /// `add` looks for its extremes inside each connected component (phi of the component policy
  /// `each`) instead of in the whole graph.
  bool per_component = true;
};

}  // namespace dgat::rewire
