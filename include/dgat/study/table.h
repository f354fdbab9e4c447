#pragma once

#include <string>
#include <vector>

namespace dgat::study {

/// One entry of a table. It holds numbers, so that each format can write them in its own way:
/// "42.09 ± 2.65" as text, two columns in CSV.
struct Cell {
  enum class Kind { kEmpty, kText, kNumber, kMeanStd, kCheck };
  Kind kind = Kind::kEmpty;
  std::string text;
  double value = 0, spread = 0;
  int decimals = 2;
  bool signed_ = false;  ///< a plus sign in front of positive numbers
  bool strong = false;   ///< the best of its column

  Cell() = default;
  Cell(std::string words) : kind(Kind::kText), text(std::move(words)) {}
  Cell(const char* words) : Cell(std::string(words)) {}
  /// NaN gives an empty cell.
  static Cell number(double value, int decimals = 2);
  static Cell difference(double value, int decimals = 2);
  /// A NaN spread gives the mean alone (a published value without deviation).
  static Cell mean_std(double mean, double std, int decimals = 2);
  static Cell check(bool on);

  std::string plain() const;  ///< as a person reads it
};

/// How a table is laid out on a terminal.
struct TerminalStyle {
  size_t width = 0;      ///< columns of the terminal; 0: no limit
  bool colours = false;  ///< for headings and the best cells
};

/// A table with a title and notes below, written in several formats.
struct Table {
  struct Column {
    std::string key;      ///< in CSV and JSON
    std::string heading;  ///< for people
  };
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as columns
  std::vector<std::string> notes;

  /// A table for people alone: the headings are the keys.
  static Table of(const std::vector<std::string>& headings);
  void row(std::vector<Cell> cells) { rows.push_back(std::move(cells)); }

  /// A table wider than the terminal first wraps columns of words, then comes in several blocks
  /// that repeat the first column.
  std::string terminal(const TerminalStyle& style = {}) const;
  std::string markdown() const;
  std::string latex() const;  ///< needs \usepackage{booktabs,amssymb}
  std::string csv() const;    ///< full precision; KEY_mean and KEY_std for a mean
  std::string json() const;   ///< {"title", "columns", "rows": [{KEY: ...}], "notes"}
};

/// Sets one cell of the column in bold.
void mark(Table& table, const std::string& key, size_t row);

/// Marks the cell with the highest value of a column.
void mark_best(Table& table, const std::string& key);

}  // namespace dgat::study
