#include "summary.h"

#include <algorithm>
#include <utility>

#include "canonical.h"

namespace dgat::spectral {
namespace {

/// Two components may have the same eigenvalue.
int copies_in_all(const EigenResult& result, double value, double gap_tolerance) {
  int copies = 0;
  for (const ComponentSpectrum& part : result.parts) {
    for (size_t m = 0; m < part.eigenvalues.size(); ++m) {
      if (!equal_values(part.eigenvalues[m], value, gap_tolerance)) continue;
      copies += part.multiplicity[m];
      break;  // its other copies are counted in it
    }
  }
  return copies;
}

/// kFirst: the k smallest over all components; equal values go by component, then by pair.
std::vector<Place> smallest_places(const EigenResult& result, double gap_tolerance) {
  std::vector<Place> places;
  for (size_t p = 0; p < result.parts.size(); ++p) {
    for (size_t m = 0; m < result.parts[p].eigenvalues.size(); ++m) places.push_back({p, m});
  }
  const auto value = [&](Place at) { return result.parts[at.part].eigenvalues[at.pair]; };
  std::ranges::sort(places, {}, value);
  for (size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    for (end = begin + 1; end < places.size() && equal_values(value(places[end - 1]),
                                                              value(places[end]), gap_tolerance);) {
      ++end;
    }
    std::sort(places.begin() + static_cast<ptrdiff_t>(begin),
              places.begin() + static_cast<ptrdiff_t>(end), [&](Place a, Place b) {
                return std::pair(result.parts[a.part].component, a.pair) <
                       std::pair(result.parts[b.part].component, b.pair);
              });
  }
  if (places.size() > static_cast<size_t>(result.k)) places.resize(static_cast<size_t>(result.k));
  return places;
}

/// kEach: the m-th pair of every component at once.
void summarise_each(EigenResult& result, size_t m) {
  const ComponentSpectrum* smallest = nullptr;
  for (const ComponentSpectrum& part : result.parts) {
    if (m >= part.eigenvalues.size()) continue;
    result.residuals[m] = std::max(result.residuals[m], part.residuals[m]);
    result.angle_bounds[m] = std::max(result.angle_bounds[m], part.angle_bounds[m]);
    if (smallest == nullptr || part.eigenvalues[m] < smallest->eigenvalues[m]) smallest = &part;
  }
  if (smallest == nullptr) return;
  result.eigenvalues[m] = smallest->eigenvalues[m];
  result.gaps[m] = smallest->gaps[m];
  result.multiplicity[m] = smallest->multiplicity[m];
}

}  // namespace

std::vector<graph::NodeId> solved_components(const graph::Components& components,
                                             ComponentPolicy policy) {
  std::vector<graph::NodeId> chosen;
  for (graph::NodeId c = 0; c < components.count(); ++c) {
    if (components.sizes[static_cast<size_t>(c)] < 2) continue;
    if (policy == ComponentPolicy::kLargest && c != components.largest()) continue;
    chosen.push_back(c);
  }
  std::ranges::stable_sort(chosen, std::greater<>(), [&](graph::NodeId c) {
    return components.sizes[static_cast<size_t>(c)];
  });
  return chosen;
}

std::vector<Place> summarise(EigenResult& result, double gap_tolerance) {
  const auto k = static_cast<size_t>(result.k);
  for (auto* list : {&result.eigenvalues, &result.residuals, &result.gaps, &result.angle_bounds}) {
    list->assign(k, 0.0);
  }
  result.multiplicity.assign(k, 0);
  if (result.policy == ComponentPolicy::kEach) {
    for (size_t m = 0; m < k; ++m) summarise_each(result, m);
    return {};
  }
  std::vector<Place> places = smallest_places(result, gap_tolerance);
  for (size_t m = 0; m < places.size(); ++m) {
    const auto [p, pair] = places[m];
    const ComponentSpectrum& part = result.parts[p];
    result.eigenvalues[m] = part.eigenvalues[pair];
    result.gaps[m] = part.gaps[pair];
    result.residuals[m] = part.residuals[pair];
    result.angle_bounds[m] = part.angle_bounds[pair];
    result.multiplicity[m] = copies_in_all(result, result.eigenvalues[m], gap_tolerance);
  }
  return places;
}

}  // namespace dgat::spectral
