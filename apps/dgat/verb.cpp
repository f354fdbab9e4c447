#include "verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>

#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"

namespace dgat::app {

void add_common_options(CLI::App& verb, CommonOptions& options, bool prints_result) {
  verb.add_option("--threads", options.threads, "threads to use; 0 means all cores")
      ->capture_default_str()
      ->check(CLI::Range(0, 4096))
      ->group("General")
      ->each([](const std::string& text) { set_thread_count(std::stoi(text)); });
  const auto whole = [](const std::string& text) -> std::string {  // CLI11 would wrap -1 around
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end) return "";
    return "a whole number from 0 to 2^64 - 1 was expected, got " + text;
  };
  verb.add_option("--seed", options.seed, "seed of every random choice")
      ->capture_default_str()
      ->check(whole)
      ->group("General");
  verb.add_flag("--quiet,-q", options.quiet, "no progress and no notices on standard error")
      ->group("General")
      ->each([](const std::string&) { set_quiet(true); });
  if (prints_result) {
    verb.add_flag("--json", options.json, "print one JSON object and nothing else")
        ->group("General");
  }
}

std::string npz_name(const std::string& path) {
  return path.ends_with(".npz") ? "" : "should end in .npz, got " + path;
}

void print_json(const Json& object) {
  // Names from a file need not be UTF-8; a replaced letter is better than no answer.
  fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace));
}

namespace {

/// Columns on a terminal taken by UTF-8 text (good enough for the letters and signs we print).
size_t display_width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

/// Columns of words, which read better from the left: one of their cells holds two letters in a
/// row.
bool Table::is_text(size_t column) const {
  if (column == 0) return true;
  const auto wordy = [&](const std::vector<std::string>& row) {
    if (column >= row.size()) return false;
    const std::string& cell = row[column];
    return std::ranges::adjacent_find(cell, [](unsigned char a, unsigned char b) {
             return std::isalpha(a) != 0 && std::isalpha(b) != 0;
           }) != cell.end();
  };
  return std::any_of(rows_.begin() + 1, rows_.end(), wordy);
}

std::string Table::text() const {
  std::vector<size_t> width;
  std::vector<bool> left;
  for (const auto& row : rows_) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], display_width(row[c]));
  }
  for (size_t c = 0; c < width.size(); ++c) left.push_back(is_text(c));
  std::string out;
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      const std::string padding(width[c] - display_width(rows_[r][c]), ' ');
      if (c > 0) line += "  ";
      line += left[c] ? rows_[r][c] + padding : padding + rows_[r][c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (r == 0) {
      size_t total = width.empty() ? 0 : 2 * (width.size() - 1);
      for (const size_t w : width) total += w;
      out += std::string(total, '-') + "\n";
    }
  }
  return out;
}

std::string Table::markdown() const {
  std::string out;
  for (size_t r = 0; r < rows_.size(); ++r) {
    out += "|";
    for (const auto& cell : rows_[r]) out += " " + cell + " |";
    out += "\n";
    if (r == 0) {
      out += "|---|";
      for (size_t c = 1; c < rows_[r].size(); ++c) out += is_text(c) ? "---|" : "--:|";
      out += "\n";
    }
  }
  return out;
}

}  // namespace dgat::app
