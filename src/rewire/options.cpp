#include "dgat/rewire/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "dgat/core/error.h"

namespace dgat::rewire {
namespace {

std::optional<Prune> prune_named(std::string_view name) {
  if (name == "prune-near") return Prune::kNear;
  if (name == "prune-far") return Prune::kFar;
  return std::nullopt;
}

std::optional<Join> join_named(std::string_view name) {
  if (name == "add") return Join::kOpposite;
  if (name == "hub") return Join::kHub;
  return std::nullopt;
}

}  // namespace

Mode parse_mode(std::string_view text) {
  if (text == "none") return {};
  if (text == "auto") return {.automatic = true};
  if (text == "advised") return {.advised = true};
  const size_t plus = text.find('+');
  const auto prune = prune_named(text.substr(0, plus));
  const auto join = join_named(plus == std::string_view::npos ? text : text.substr(plus + 1));
  const bool both = plus != std::string_view::npos;
  if (both ? !(prune && join) : !(prune || join)) {
    throw_input(
        "rewire: unknown mode '{}'; use none, advised, auto, prune-near, prune-far, add, hub, or "
        "a prune and a join such as prune-far+add",
        text);
  }
  return {.prune = prune.value_or(Prune::kNone), .join = join.value_or(Join::kNone)};
}

std::string to_string(const Mode& mode) {
  if (mode.automatic) return "auto";
  if (mode.advised) return "advised";
  const std::string prune = mode.prune == Prune::kNear  ? "prune-near"
                            : mode.prune == Prune::kFar ? "prune-far"
                                                        : "";
  const std::string join = mode.join == Join::kOpposite ? "add"
                           : mode.join == Join::kHub    ? "hub"
                                                        : "";
  if (prune.empty() && join.empty()) return "none";
  return prune + (prune.empty() || join.empty() ? "" : "+") + join;
}

Epsilon parse_epsilon(std::string_view text) {
  Epsilon epsilon;
  epsilon.quantile = text.starts_with('q');
  const std::string_view number = text.substr(epsilon.quantile ? 1 : 0);
  const char* end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, epsilon.value);
  const bool in_range = epsilon.value >= 0 && (!epsilon.quantile || epsilon.value <= 1);
  if (error != std::errc() || rest != end || !std::isfinite(epsilon.value) || !in_range) {
    throw_input(
        "rewire: epsilon must be a distance of at least 0 (1e-5) or a quantile in [0, 1] (q0.2), "
        "got '{}'",
        text);
  }
  return epsilon;
}

std::string to_string(const Epsilon& epsilon) {
  return fmt::format("{}{}", epsilon.quantile ? "q" : "", epsilon.value);
}

}  // namespace dgat::rewire
