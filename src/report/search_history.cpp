#include "search_history.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>

#include "dgat/core/open_file.h"
#include "dgat/study/ledger.h"
#include "dgat/train/config.h"

namespace dgat::report {
namespace {

/// The validation metric of a candidate at one number of steps, by split.
using Values = std::map<int64_t, double>;

bool finished(const Values& values, int64_t splits) {
  for (int64_t split = 0; split < splits; ++split) {
    if (!values.contains(split)) return false;
  }
  return true;
}

double mean(const Values& values, int64_t splits) {
  double sum = 0;
  for (int64_t split = 0; split < splits; ++split) sum += values.at(split);
  return sum / static_cast<double>(splits);
}

/// What all rungs of a candidate have in common.
std::string candidate_of(study::TrialResult trial) {
  trial.options.erase("steps");
  std::string text = std::to_string(trial.layers);
  for (const auto& [key, value] : trial.options) text += fmt::format("\n{}={}", key, value);
  return text;
}

/// The steps that were asked for; patience may end a trial before.
int64_t steps_of(const study::TrialResult& trial) {
  const auto given = trial.options.find("steps");
  return given == trial.options.end() ? train::Config{}.steps
                                      : std::strtoll(given->second.c_str(), nullptr, 10);
}

}  // namespace

std::vector<SearchEvent> search_history(const std::filesystem::path& ledger,
                                        const std::vector<SearchRung>& rungs) {
  std::vector<SearchEvent> events;
  std::map<std::pair<std::string, int64_t>, Values> known;
  std::map<std::string, size_t> numbers;
  double seconds = 0;
  if (!std::filesystem::exists(ledger)) return events;
  std::ifstream file = open_file(ledger);
  for (std::string line; std::getline(file, line);) {
    const std::optional<study::TrialResult> trial = study::parse_line(line);
    if (!trial || std::isnan(trial->val)) continue;
    seconds += trial->seconds;
    const int64_t steps = steps_of(*trial), split = trial->split;
    const std::string candidate = candidate_of(*trial);
    const size_t number = numbers.try_emplace(candidate, numbers.size()).first->second;
    Values& values = known[{candidate, steps}];
    if (!values.emplace(split, trial->val).second) continue;  // run twice
    for (size_t r = 0; r < rungs.size(); ++r) {
      const bool part_of_it = rungs[r].steps == steps && split < rungs[r].splits;
      if (!part_of_it || rungs[r].splits < 1 || !finished(values, rungs[r].splits)) continue;
      events.push_back({seconds, r, number, mean(values, rungs[r].splits)});
    }
  }
  return events;
}

}  // namespace dgat::report
