#include "dgat/study/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "study_json.h"
#include "table_text.h"

namespace dgat::study {
namespace {

constexpr const char *kPlusMinus = " ± ", *kCheckMark = "✓";

/// "-0.00" is no news.
std::string digits(double value, int decimals, bool with_sign) {
  std::string text = fmt::format(fmt::runtime(with_sign ? "{:+.{}f}" : "{:.{}f}"), value, decimals);
  if (text.find_first_of("123456789") == std::string::npos && !std::isinf(value)) {
    text = fmt::format("{:.{}f}", 0.0, decimals);
  }
  return text;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

std::string escaped_markdown(std::string text) {
  replace_all(text, "|", "\\|");
  replace_all(text, "<", "&lt;");
  return text;
}

std::string escaped_latex(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  for (const auto& [sign, command] : {std::pair{"±", "$\\pm$"},
                                      {"✓", "\\checkmark"},
                                      {"α", "$\\alpha$"},
                                      {"γ", "$\\gamma$"},
                                      {"μ", "$\\mu$"},
                                      {"ε", "$\\varepsilon$"},
                                      {"σ", "$\\sigma$"},
                                      {"≥", "$\\geq$"},
                                      {"−", "$-$"}}) {
    replace_all(out, sign, command);
  }
  return out;
}

std::string escaped_csv(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = text;
  replace_all(out, "\"", "\"\"");
  return fmt::format("\"{}\"", out);
}

std::string exact(double value) {
  return std::isnan(value) ? "" : fmt::format("{}", value);
}

bool has_spread(const Table& table, size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [column](const auto& row) {
    return row[column].kind == Cell::Kind::kMeanStd;
  });
}

Json json_of(const Cell& cell) {
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  switch (cell.kind) {
    case Cell::Kind::kText:
      return cell.text;
    case Cell::Kind::kNumber:
      return number(cell.value);
    case Cell::Kind::kMeanStd:
      return {{"mean", number(cell.value)}, {"std", number(cell.spread)}};
    case Cell::Kind::kCheck:
      return cell.value != 0;
    default:
      return nullptr;
  }
}

}  // namespace

bool is_words(const Table& table, size_t column) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    const Cell& cell = row[column];
    if (cell.kind != Cell::Kind::kText) return false;
    return column == 0 || std::ranges::adjacent_find(cell.text, [&](char a, char b) {
                            return letter(a) && letter(b);
                          }) != cell.text.end();
  });
}

Cell Cell::number(double value, int decimals) {
  Cell cell;
  if (std::isnan(value)) return cell;
  cell.kind = Kind::kNumber;
  cell.value = value;
  cell.decimals = decimals;
  return cell;
}

Cell Cell::difference(double value, int decimals) {
  Cell cell = number(value, decimals);
  cell.signed_ = true;
  return cell;
}

Cell Cell::mean_std(double mean, double std, int decimals) {
  Cell cell = number(mean, decimals);
  if (cell.kind == Kind::kEmpty) return cell;
  cell.kind = Kind::kMeanStd;
  cell.spread = std;
  return cell;
}

Cell Cell::check(bool on) {
  Cell cell;
  cell.kind = Kind::kCheck;
  cell.value = on ? 1 : 0;
  return cell;
}

std::string Cell::plain() const {
  switch (kind) {
    case Kind::kText:
      return text;
    case Kind::kNumber:
      return digits(value, decimals, signed_);
    case Kind::kMeanStd:
      return digits(value, decimals, signed_) +
             (std::isnan(spread) ? "" : kPlusMinus + digits(spread, decimals, false));
    case Kind::kCheck:
      return value != 0 ? kCheckMark : "";
    default:
      return "";
  }
}

Table Table::of(const std::vector<std::string>& headings) {
  Table table;
  for (const std::string& heading : headings) table.columns.push_back({heading, heading});
  return table;
}

std::string Table::markdown() const {
  std::string out = title.empty() ? "" : fmt::format("### {}\n\n", escaped_markdown(title));
  std::string rule;
  for (size_t c = 0; c < columns.size(); ++c) {
    out += fmt::format("| {} ", escaped_markdown(columns[c].heading));
    rule += is_words(*this, c) ? "|---" : "|--:";
  }
  out += fmt::format("|\n{}|\n", rule);
  for (const auto& row : rows) {
    for (const Cell& cell : row) {
      const std::string text = escaped_markdown(cell.plain());
      out += cell.strong ? fmt::format("| **{}** ", text) : fmt::format("| {} ", text);
    }
    out += "|\n";
  }
  if (!notes.empty()) out += "\n";
  for (const std::string& note : notes) out += fmt::format("- {}\n", escaped_markdown(note));
  return out;
}

std::string Table::latex() const {
  std::string out = "\\begin{table}\n  \\centering\n  \\begin{tabular}{";
  for (size_t c = 0; c < columns.size(); ++c) out += is_words(*this, c) ? "l" : "r";
  out += "}\n  \\toprule\n  ";
  const auto line = [&](const auto& text_of) {
    for (size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) out += " & ";
      out += text_of(c);
    }
    out += " \\\\\n  ";
  };
  line([&](size_t c) { return escaped_latex(columns[c].heading); });
  out += "\\midrule\n  ";
  for (const auto& row : rows) {
    line([&](size_t c) {
      const std::string text = escaped_latex(row[c].plain());
      return row[c].strong ? fmt::format("\\textbf{{{}}}", text) : text;
    });
  }
  out += "\\bottomrule\n  \\end{tabular}\n";
  std::string caption = escaped_latex(title);
  for (const std::string& note : notes) {
    if (!caption.empty()) caption += caption.ends_with('.') ? " " : ". ";
    caption += escaped_latex(note);
  }
  if (!caption.empty()) out += fmt::format("  \\caption{{{}}}\n", caption);
  return out + "\\end{table}\n";
}

std::string Table::csv() const {
  std::string out;
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::string key = escaped_csv(columns[c].key);
    if (c > 0) out += ',';
    out += has_spread(*this, c) ? fmt::format("{0}_mean,{0}_std", key) : key;
  }
  out += "\n";
  for (const auto& row : rows) {
    for (size_t c = 0; c < columns.size(); ++c) {
      const Cell& cell = row[c];
      if (c > 0) out += ",";
      if (cell.kind == Cell::Kind::kNumber || cell.kind == Cell::Kind::kMeanStd) {
        out += exact(cell.value);
      } else {
        out += cell.kind == Cell::Kind::kCheck ? (cell.value != 0 ? "1" : "0")
                                               : escaped_csv(cell.text);
      }
      if (has_spread(*this, c)) {
        out += ",";
        if (cell.kind == Cell::Kind::kMeanStd) out += exact(cell.spread);
      }
    }
    out += "\n";
  }
  return out;
}

std::string Table::json() const {
  Json json = {
      {"title", title}, {"columns", Json::array()}, {"rows", Json::array()}, {"notes", notes}};
  for (const Column& column : columns) {
    json["columns"].push_back({{"key", column.key}, {"heading", column.heading}});
  }
  for (const auto& row : rows) {
    Json object = Json::object();
    for (size_t c = 0; c < columns.size(); ++c) object[columns[c].key] = json_of(row[c]);
    json["rows"].push_back(std::move(object));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

void mark(Table& table, const std::string& key, size_t row) {
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].key == key) table.rows.at(row)[c].strong = true;
  }
}

void mark_best(Table& table, const std::string& key) {
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].key != key) continue;
    Cell* best = nullptr;
    for (auto& row : table.rows) {
      const bool counts = row[c].kind == Cell::Kind::kNumber || row[c].kind == Cell::Kind::kMeanStd;
      if (counts && (best == nullptr || row[c].value > best->value)) best = &row[c];
    }
    if (best != nullptr) best->strong = true;
  }
}

}  // namespace dgat::study
