#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dgat/study/published.h"
#include "dgat/study/statistics.h"
#include "dgat/study/study.h"
#include "dgat/study/table.h"

namespace dgat::study {

/// One row in relation to the others.
struct Standing {
  double rank = 0;                    ///< mean rank over the splits, 1 = highest test metric
  std::optional<PairedTest> test;     ///< against the reference; metrics as fractions
  double p_holm = 1;                  ///< adjusted for the number of tests
  PairedWins wins;                    ///< splits on which it is above the reference
  std::optional<Interval> bootstrap;  ///< of the difference to the reference, as fractions
  std::optional<Published> paper;     ///< in percent
};

/// A study with ranks, paired tests against one row, and the paper's numbers.
struct Comparison {
  std::string kind;  ///< "compare", "ablate"
  StudyResult study;
  std::optional<size_t> reference;  ///< the row that the others are tested against
  bool reference_is_best = true;    ///< it was picked as the best on the same numbers
  std::vector<Standing> rows;
  std::vector<std::string> notes;  ///< remarks on the data, printed below the table
  /// Columns in front of the numbers; by default the name of the row.
  std::vector<Table::Column> lead = {{"model", "model"}};
  std::vector<std::vector<Cell>> lead_cells;
};

/// Compares the rows with `reference`, or with the row of the highest mean test metric.
/// `paper(row)` gives the published number of a row.
Comparison compare_rows(StudyResult study, std::string kind, std::optional<size_t> reference,
                        const std::function<std::optional<Published>(size_t row)>& paper);

/// What `dgat compare` shows: the rows of rows_of() on one data set, the difference to the best,
/// the paper's numbers, and notes about the edition of the data and the recipe.
Comparison compare_models(const Study& plan, StudyResult result, const data::Dataset& dataset);

/// Mean ± std, rank, difference to the reference with p, published, time and memory; percent.
Table comparison_table(const Comparison& comparison);

/// Everything, with the values of every split: see docs/studies.md.
std::string to_json(const Comparison& comparison);

/// Sentences about the differences of a data set from the paper's data-set tables; none if it
/// agrees or if the paper does not have it.
std::vector<std::string> edition_notes(const data::Dataset& dataset);

/// STEM.json, STEM.md and STEM.tex with all tables, STEM.csv with the first, STEM-2.csv ...
void write_tables(const std::filesystem::path& folder, const std::string& stem,
                  const std::vector<Table>& tables, const std::string& json);

}  // namespace dgat::study
