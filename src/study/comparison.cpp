#include "dgat/study/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dgat/core/files.h"
#include "dgat/core/progress.h"
#include "dgat/data/catalogue.h"
#include "percent.h"

namespace dgat::study {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
/// Standard deviations; 60/20/20 over ten splits needs 1.5, 3/17/80 needs 11.
constexpr double kNoPower = 3;

void rank_rows(const StudyResult& study, std::vector<Standing>& standings) {
  std::vector<std::vector<double>> values;
  std::vector<size_t> finished;
  for (size_t r = 0; r < study.rows.size(); ++r) {
    standings[r].rank = std::numeric_limits<double>::quiet_NaN();
    if (!study.rows[r].finished()) continue;
    finished.push_back(r);
    values.push_back(study.rows[r].test_by_fold(study.folds));
  }
  const std::vector<double> ranks = average_ranks(values);
  for (size_t i = 0; i < finished.size(); ++i) standings[finished[i]].rank = ranks[i];
}

void test_rows(const StudyResult& study, size_t reference, std::vector<Standing>& standings) {
  const std::vector<double> against = study.rows[reference].test_by_fold(study.folds);
  std::vector<double> p;
  for (size_t r = 0; r < study.rows.size(); ++r) {
    if (r == reference || !study.rows[r].finished()) continue;
    const std::vector<double> own = study.rows[r].test_by_fold(study.folds);
    standings[r].test = corrected_paired_test(own, against, study.test_to_train);
    standings[r].wins = paired_wins(own, against);
    standings[r].bootstrap = bootstrap_interval(own, against);
    if (standings[r].test) p.push_back(standings[r].test->p);
  }
  const std::vector<double> adjusted = holm(p);
  size_t next = 0;
  for (Standing& standing : standings) {
    if (standing.test) standing.p_holm = adjusted[next++];
  }
}

std::string words_of_metric(const std::string& metric) {
  if (metric.empty()) return "metric";  // no trial has finished that could name it
  return metric == "roc_auc" ? "ROC AUC" : metric == "macro_f1" ? "macro F1" : metric;
}

std::vector<std::string> notes_of(const Comparison& c) {
  const StudyResult& study = c.study;
  std::vector<std::string> notes;
  notes.push_back(
      fmt::format("Test {} in percent at the best validation step, {}; depth{} chosen by {}.",
                  words_of_metric(study.metric),
                  study.folds == 1
                      ? "one split"
                      : fmt::format("mean ± sample standard deviation over {} splits", study.folds),
                  std::any_of(study.rows.begin(), study.rows.end(),
                              [](const RowResult& row) {
                                return !row.choices.empty() && row.choices.back().candidate > 0;
                              })
                      ? " and candidate"
                      : "",
                  chosen_by(study)));
  if (c.reference && study.folds > 1) {
    notes.push_back(fmt::format(
        "p: two-sided corrected resampled t-test against {} (Nadeau and Bengio, test nodes / "
        "training nodes = {:.3f}); Holm: adjusted for the number of rows.{}",
        study.rows[*c.reference].name, study.test_to_train,
        c.reference_is_best ? " The best row was picked on these numbers." : ""));
    notes.push_back(fmt::format(
        "Wins: splits on which the row is above {}. Interval: 95% of the mean difference, by a "
        "bootstrap over splits.",
        study.rows[*c.reference].name));
    const double needed =
        detectable_difference(static_cast<int64_t>(study.folds), study.test_to_train);
    if (needed > kNoPower) {
      notes.push_back(
          fmt::format("The t-test has little power here: with so few splits or training nodes, p "
                      "is below 0.05 only "
                      "if the mean difference is above {:.1f} times its standard deviation over "
                      "splits. Look at "
                      "wins and interval.",
                      needed));
    }
  }
  if (std::any_of(c.rows.begin(), c.rows.end(), [](const Standing& s) { return s.paper; })) {
    notes.emplace_back(
        "Published: as printed in the paper; σ: our mean minus theirs in units of their standard "
        "deviation (of ours where they give none).");
  }
  notes.push_back(fmt::format("Time: all trials of the row, {} in total; {}.",
                              format_duration(study.seconds()), circumstances(study)));
  for (const RowResult& row : study.rows) {
    if (!row.failure.empty()) notes.push_back(fmt::format("{}: {}", row.name, row.failure));
    for (const Choice& choice : row.choices) {
      if (row.failure.empty() && !choice.failure.empty()) {
        notes.push_back(
            fmt::format("{} with {} layers: {}", row.name, choice.layers, choice.failure));
      }
    }
    if (row.finished() && row.splits.size() < study.folds) {
      notes.push_back(fmt::format("{}: {} of {} splits", row.name, row.splits.size(), study.folds));
    }
  }
  if (study.trials_left() > 0) {
    notes.push_back(
        fmt::format("{} trials are not run yet; the same command continues.", study.trials_left()));
  }
  notes.insert(notes.end(), c.notes.begin(), c.notes.end());
  return notes;
}

/// The numbers of a row behind its lead cells, in the order of comparison_table().
std::vector<Cell> cells_of(const RowResult& row, const Standing& standing, bool with_paper) {
  std::vector<Cell> cells;
  if (!row.finished()) {
    cells.resize(with_paper ? 15 : 13);
    cells[0] = row.failure.empty() ? "not run" : "failed";
    if (with_paper && standing.paper) {
      cells[8] = Cell::mean_std(standing.paper->mean, standing.paper->std);
    }
    return cells;
  }
  cells.push_back(percent_cell(row, row.test));
  cells.push_back(percent_cell(row, row.val));
  cells.push_back(Cell::number(standing.rank, 1));
  if (standing.test) {
    cells.push_back(Cell::difference(kPercent * standing.test->difference));
    cells.push_back(Cell::number(standing.test->p, 3));
    cells.push_back(Cell::number(standing.p_holm, 3));
    cells.emplace_back(fmt::format("{}/{}", standing.wins.wins, standing.wins.pairs()));
    cells.emplace_back(fmt::format("{:+.2f} .. {:+.2f}", kPercent * standing.bootstrap->low,
                                   kPercent * standing.bootstrap->high));
  } else {
    cells.resize(cells.size() + 5);
  }
  if (with_paper) {
    if (standing.paper) {
      cells.push_back(Cell::mean_std(standing.paper->mean, standing.paper->std));
      cells.push_back(
          Cell::difference(difference_in_deviations(kPercent * row.test.mean,
                                                    kPercent * row.test.std, *standing.paper),
                           1));
    } else {
      cells.resize(cells.size() + 2);
    }
  }
  cells.push_back(Cell::number(static_cast<double>(row.choice().layers), 0));
  cells.push_back(Cell::number(static_cast<double>(row.splits.front().parameters), 0));
  cells.push_back(Cell::number(row.seconds_per_step, 4));
  cells.push_back(Cell::number(row.seconds, 0));
  cells.push_back(Cell::number(static_cast<double>(row.peak_rss_bytes) / kMiB, 0));
  return cells;
}

}  // namespace

Comparison compare_rows(StudyResult study, std::string kind, std::optional<size_t> reference,
                        const std::function<std::optional<Published>(size_t row)>& paper) {
  Comparison result;
  result.kind = std::move(kind);
  result.rows.resize(study.rows.size());
  result.reference_is_best = !reference.has_value();
  result.reference = reference ? reference : study.best_row();
  if (result.reference && !study.rows[*result.reference].finished()) result.reference.reset();
  rank_rows(study, result.rows);
  if (result.reference) test_rows(study, *result.reference, result.rows);
  for (size_t r = 0; r < study.rows.size(); ++r) {
    result.rows[r].paper = paper(r);
    result.lead_cells.push_back({Cell(study.rows[r].name)});
  }
  result.study = std::move(study);
  return result;
}

Table comparison_table(const Comparison& c) {
  const bool with_paper =
      std::any_of(c.rows.begin(), c.rows.end(), [](const Standing& s) { return s.paper; });
  const std::string against =
      c.reference_is_best || !c.reference ? "to best" : "to " + c.study.rows[*c.reference].name;
  Table table;
  table.title = fmt::format("{} on {}", c.kind, c.study.dataset);
  table.columns = c.lead;
  table.columns.insert(table.columns.end(), {{"test", "test"},
                                             {"val", "validation"},
                                             {"rank", "rank"},
                                             {"difference", against},
                                             {"p", "p"},
                                             {"p_holm", "p Holm"},
                                             {"wins", "wins"},
                                             {"interval", "interval"}});
  if (with_paper) {
    table.columns.insert(table.columns.end(), {{"published", "published"}, {"deviations", "σ"}});
  }
  table.columns.insert(table.columns.end(), {{"layers", "layers"},
                                             {"parameters", "parameters"},
                                             {"seconds_per_step", "s/step"},
                                             {"seconds", "time s"},
                                             {"peak_mib", "MiB"}});
  for (size_t r = 0; r < c.study.rows.size(); ++r) {
    std::vector<Cell> row = c.lead_cells[r];
    for (Cell& cell : cells_of(c.study.rows[r], c.rows[r], with_paper)) {
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  if (const auto best = c.study.best_row()) mark(table, "test", *best);
  table.notes = notes_of(c);
  return table;
}

std::vector<std::string> edition_notes(const data::Dataset& dataset) {
  const data::CatalogueEntry* entry = data::find_in_catalogue(dataset.name);
  if (entry == nullptr) return {};
  std::string differences;
  for (const data::CatalogueCheck& check : data::compare_with_catalogue(dataset, *entry)) {
    if (check.agrees) continue;
    differences += fmt::format("{}{} {} (paper {})", differences.empty() ? "" : ", ",
                               check.quantity, check.found, check.published);
  }
  if (differences.empty()) return {};
  return {
      fmt::format("This is not the paper's {}: {}; its published numbers are of another "
                  "edition.",
                  entry->name, differences)};
}

void write_tables(const std::filesystem::path& folder, const std::string& stem,
                  const std::vector<Table>& tables, const std::string& json) {
  const auto write_all = [&](const char* extension, const auto& text_of) {
    write_atomically(folder / (stem + extension), [&](std::ostream& out) {
      for (size_t t = 0; t < tables.size(); ++t) out << (t > 0 ? "\n" : "") << text_of(tables[t]);
    });
  };
  write_all(".md", [](const Table& table) { return table.markdown(); });
  write_all(".tex", [](const Table& table) { return table.latex(); });
  for (size_t t = 0; t < tables.size(); ++t) {  // a CSV file holds one table
    const std::string name = t == 0 ? stem + ".csv" : fmt::format("{}-{}.csv", stem, t + 1);
    write_atomically(folder / name, [&](std::ostream& out) { out << tables[t].csv(); });
  }
  write_atomically(folder / (stem + ".json"), [&](std::ostream& out) { out << json; });
}

}  // namespace dgat::study
