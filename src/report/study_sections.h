#pragma once

#include <filesystem>
#include <vector>

#include "json.h"

// The sections of the pages of studies, each from the JSON file that the study wrote.
namespace dgat::report {

/// compare.json, ablate.json: results, differences, how the rows were chosen.
std::vector<Section> comparison_sections(const Json& study);

/// What `dgat reproduce` wrote: its tables, ours beside the published values, a section per data
/// set, curves over gamma on synthetic graphs.
std::vector<Section> reproduction_sections(const Json& study);

/// tune.json, with the trials of `ledger` in the order in which they ended (it may be missing).
std::vector<Section> tune_sections(const Json& study, const std::filesystem::path& ledger);

/// What `dgat advise --json` printed.
std::vector<Section> advice_sections(const Json& advice);

/// Advice against training over data sets, as the benchmark of the advice writes it.
std::vector<Section> advice_check_sections(const Json& check);

// Parts that several of them share.

/// One row of a study; metrics are fractions, not-a-number while it is not finished.
struct StudyRow {
  std::string name, failure;
  double mean = 0, std = 0;
  std::vector<double> samples;  ///< test metric by split
  std::optional<double> published;
  double published_spread = 0;
  std::vector<bool> switches;  ///< of an ablation

  bool finished() const { return !samples.empty(); }
};
std::vector<StudyRow> study_rows(const Json& study);

/// Mean, deviation, splits and published value of every finished row, best first; rows of an
/// ablation keep their order and show what is switched on.
DotChart test_chart(const Json& study, const std::string& title);

/// Test metric over gamma for rows that differ in it, one line per name without it; empty lines
/// when there are none.
LineChart gamma_chart(const Json& study, const std::string& title);

/// The best validation mean of every row by depth; empty lines when every row has one depth.
LineChart depth_chart(const Json& study);

}  // namespace dgat::report
