#include "edge_labels.h"

#include <cmath>
#include <limits>
#include <vector>

namespace dgat::study {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// Counts pairs of labels in both directions, so the table is symmetric.
class PairTable {
 public:
  explicit PairTable(int classes)
      : classes_(classes), counts_(static_cast<size_t>(classes) * static_cast<size_t>(classes)) {}

  void add(int32_t a, int32_t b) {
    ++counts_[static_cast<size_t>(a) * static_cast<size_t>(classes_) + static_cast<size_t>(b)];
    ++total_;
  }

  EdgeLabels summary() const {
    if (total_ == 0) return {0, kNothing, kNothing};
    const auto n = static_cast<double>(total_);
    double equal = 0, joint = 0, single = 0;  // sums of p, p log p
    for (int a = 0; a < classes_; ++a) {
      double row = 0;
      for (int b = 0; b < classes_; ++b) {
        const double p =
            static_cast<double>(counts_[static_cast<size_t>(a) * static_cast<size_t>(classes_) +
                                        static_cast<size_t>(b)]) /
            n;
        row += p;
        if (p > 0) joint += p * std::log(p);
        if (a == b) equal += p;
      }
      if (row > 0) single += row * std::log(row);
    }
    return {total_ / 2, equal, single < 0 ? 2 - joint / single : kNothing};
  }

 private:
  int classes_;
  std::vector<int64_t> counts_;
  int64_t total_ = 0;
};

}  // namespace

EdgeChange compare_edges(const graph::CsrGraph& before, const graph::CsrGraph& after,
                         std::span<const int32_t> labels, int classes) {
  PairTable kept(classes), dropped(classes), added(classes);
  for (graph::NodeId i = 0; i < before.nodes(); ++i) {
    const int32_t own = labels[static_cast<size_t>(i)];
    if (own < 0) continue;
    const auto count = [&](PairTable& table, graph::NodeId j) {
      if (const int32_t other = labels[static_cast<size_t>(j)]; other >= 0) table.add(own, other);
    };
    const auto old_row = before.neighbors(i), new_row = after.neighbors(i);
    size_t a = 0, b = 0;
    while (a < old_row.size() || b < new_row.size()) {
      if (b == new_row.size() || (a < old_row.size() && old_row[a] < new_row[b])) {
        count(dropped, old_row[a++]);
      } else if (a == old_row.size() || new_row[b] < old_row[a]) {
        count(added, new_row[b++]);
      } else {
        count(kept, old_row[a++]);
        ++b;
      }
    }
  }
  return {kept.summary(), dropped.summary(), added.summary()};
}

double class_share(std::span<const double> phi, std::span<const int32_t> labels, int classes) {
  std::vector<double> sum(static_cast<size_t>(classes)), size(static_cast<size_t>(classes));
  double n = 0, total = 0;
  for (size_t i = 0; i < phi.size(); ++i) {
    if (labels[i] < 0) continue;
    sum[static_cast<size_t>(labels[i])] += phi[i];
    size[static_cast<size_t>(labels[i])] += 1;
    total += phi[i];
    n += 1;
  }
  if (n < 2) return 0;
  const double mean = total / n;
  double within = 0, variance = 0, groups = 0;
  for (size_t i = 0; i < phi.size(); ++i) {
    if (labels[i] < 0) continue;
    const auto c = static_cast<size_t>(labels[i]);
    within += std::pow(phi[i] - sum[c] / size[c], 2);
    variance += std::pow(phi[i] - mean, 2);
  }
  for (const double s : size) groups += s > 0 ? 1 : 0;
  const double chance = (groups - 1) / (n - 1);
  if (!(variance > 0) || chance >= 1) return 0;
  return (1 - within / variance - chance) / (1 - chance);
}

}  // namespace dgat::study
