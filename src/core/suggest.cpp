#include "dgat/core/suggest.h"

#include <algorithm>

namespace dgat {

int edit_distance(std::string_view a, std::string_view b) {
  const size_t columns = b.size() + 1;
  std::vector<int> before(columns), above(columns), row(columns);  // rows i-2, i-1, i
  for (size_t j = 0; j < columns; ++j) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j < columns; ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates) {
  const std::string* nearest = nullptr;
  int least = 0;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(typed, candidate);
    if (nearest == nullptr || distance < least) {
      nearest = &candidate;
      least = distance;
    }
  }
  if (nearest == nullptr) return {};
  const size_t longest = std::max(typed.size(), nearest->size());
  if (static_cast<size_t>(least) * 3 > std::max<size_t>(longest, 3)) return {};
  return "; did you mean " + *nearest + "?";
}

}  // namespace dgat
