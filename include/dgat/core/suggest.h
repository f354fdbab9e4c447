#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dgat {

/// Insertions, deletions, replacements and swaps of neighbouring letters that turn a into b.
int edit_distance(std::string_view a, std::string_view b);

/// "; did you mean dropout?" for the candidate nearest to `typed`. Nothing when more than a third
/// of the letters would have to change. The first one wins a tie.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace dgat
