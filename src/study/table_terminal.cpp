#include <algorithm>
#include <numeric>

#include "dgat/study/table.h"
#include "table_text.h"

namespace dgat::study {
namespace {

constexpr size_t kGap = 2;         // spaces between columns
constexpr size_t kNarrowest = 16;  // a column of words is not made narrower
constexpr const char* kHeading = "\x1b[1m";
constexpr const char* kBest = "\x1b[1;32m";
constexpr const char* kPlain = "\x1b[0m";

bool starts_letter(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

/// Columns on a terminal taken by UTF-8 text.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_letter));
}

/// Bytes of the first `letters` letters.
size_t bytes_of(const std::string& text, size_t letters) {
  size_t at = 0;
  while (at < text.size()) {
    if (starts_letter(text[at]) && letters-- == 0) break;
    ++at;
  }
  return at;
}

/// Words in lines of at most `width` letters; a longer word is cut.
std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    for (; width_of(word) > width; word.erase(0, bytes_of(word, width))) {
      lines.push_back(word.substr(0, bytes_of(word, width)));
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return left ? text + space : space + text;
}

class TerminalTable {
 public:
  TerminalTable(const Table& table, const TerminalStyle& style) : table_(table), style_(style) {
    for (size_t c = 0; c < table.columns.size(); ++c) {
      widths_.push_back(width_of(table.columns[c].heading));
      for (const auto& row : table.rows) {
        widths_[c] = std::max(widths_[c], width_of(row[c].plain()));
      }
      words_.push_back(is_words(table, c));
    }
  }

  std::string text() {
    std::string out = table_.title.empty() ? "" : table_.title + "\n\n";
    const auto all = blocks();
    for (size_t b = 0; b < all.size(); ++b) {
      if (b > 0) out += "\n";
      out += block(all[b]);
    }
    if (!table_.notes.empty()) out += "\n";
    for (const std::string& note : table_.notes) {
      if (style_.width == 0) {
        out += note + "\n";
      } else {
        for (const std::string& line : wrapped(note, style_.width)) out += line + "\n";
      }
    }
    return out;
  }

 private:
  using Columns = std::vector<size_t>;

  size_t total(const Columns& columns) const {
    size_t sum = columns.empty() ? 0 : kGap * (columns.size() - 1);
    for (const size_t c : columns) sum += widths_[c];
    return sum;
  }

  /// Columns of words become narrower, the widest first; true when the table fits then.
  bool narrow(const Columns& columns) {
    for (size_t sum = total(columns); sum > style_.width; --sum) {
      size_t widest = widths_.size();
      for (const size_t c : columns) {
        const bool may = words_[c] && widths_[c] > kNarrowest;
        if (may && (widest == widths_.size() || widths_[c] > widths_[widest])) widest = c;
      }
      if (widest == widths_.size()) return false;
      --widths_[widest];
    }
    return true;
  }

  /// One block with all columns, or several that repeat the first column.
  std::vector<Columns> blocks() {
    Columns all(widths_.size());
    std::iota(all.begin(), all.end(), 0);
    const bool fits = style_.width == 0 || total(all) <= style_.width;
    if (fits) return {all};
    const Columns natural = widths_;
    if (narrow(all)) return {all};
    widths_ = natural;
    std::vector<Columns> result;
    for (size_t c = 1; c < all.size(); ++c) {
      if (result.empty() || total(result.back()) + kGap + widths_[c] > style_.width) {
        result.push_back({0});
      }
      result.back().push_back(c);
    }
    for (const Columns& columns : result) narrow(columns);
    return result;
  }

  std::string coloured(const std::string& text, const char* colour) const {
    return style_.colours && *colour != '\0' ? colour + text + kPlain : text;
  }

  /// The lines of one row: as many as its longest wrapped cell has.
  template <class TextOf, class ColourOf>
  std::string lines(const Columns& columns, const TextOf& text_of,
                    const ColourOf& colour_of) const {
    std::vector<std::vector<std::string>> cells;
    size_t height = 1;
    for (const size_t c : columns) {
      cells.push_back(width_of(text_of(c)) > widths_[c] ? wrapped(text_of(c), widths_[c])
                                                        : std::vector<std::string>{text_of(c)});
      height = std::max(height, cells.back().size());
    }
    std::string out;
    for (size_t h = 0; h < height; ++h) {
      std::string line, blank;  // blanks are written only in front of something
      for (size_t i = 0; i < columns.size(); ++i) {
        const size_t c = columns[i];
        const std::string text = h < cells[i].size() ? cells[i][h] : "";
        const std::string full = padded(text, widths_[c], words_[c]);
        if (i > 0) blank += std::string(kGap, ' ');
        if (text.empty()) {
          blank += full;
          continue;
        }
        const size_t begin = full.size() - (words_[c] ? full.size() : text.size());
        line += blank + full.substr(0, begin) + coloured(text, colour_of(c));
        blank = full.substr(begin + text.size());
      }
      out += line + "\n";
    }
    return out;
  }

  std::string block(const Columns& columns) const {
    std::string out = lines(
        columns, [&](size_t c) { return table_.columns[c].heading; },
        [](size_t) { return kHeading; });
    out += std::string(total(columns), '-') + "\n";
    for (const auto& row : table_.rows) {
      out += lines(
          columns, [&](size_t c) { return row[c].plain(); },
          [&](size_t c) { return row[c].strong ? kBest : ""; });
    }
    return out;
  }

  const Table& table_;
  const TerminalStyle& style_;
  std::vector<size_t> widths_;
  std::vector<bool> words_;
};

}  // namespace

std::string Table::terminal(const TerminalStyle& style) const {
  return TerminalTable(*this, style).text();
}

}  // namespace dgat::study
