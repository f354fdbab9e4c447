#include "dgat/data/text_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace dgat::data {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
constexpr bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}

std::string_view trimmed(const char* begin, const char* end) {
  while (begin < end && is_blank(*begin)) ++begin;
  while (begin < end && is_blank(end[-1])) --end;
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

TextReader::TextReader(const std::filesystem::path& path, const TextDialect& dialect)
    : TextReader(read_text(path), path.string(), dialect) {}

TextReader::TextReader(std::string text, std::string name, const TextDialect& dialect)
    : name_(std::move(name)), text_(std::move(text)), dialect_(dialect) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  // A text file has no zero bytes; UTF-16 and binary files do, near their start.
  if (std::string_view(text_).substr(0, 4096).find('\0') != std::string_view::npos) {
    fail_file("is not a text file (it has zero bytes); UTF-8 text was expected");
  }
}

bool TextReader::skip_to_row() {
  while (at_ < text_.size()) {
    size_t at = at_;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    const bool comment =
        at < text_.size() && dialect_.comments.find(text_[at]) != std::string_view::npos;
    if (!comment && at < text_.size() && !is_line_end(text_[at])) return true;
    at_ = std::min(text_.find_first_of("\r\n", at), text_.size());
    skip_line_end();
  }
  return false;
}

bool TextReader::next_raw_line(std::string_view& text) {
  if (at_ >= text_.size()) return false;
  size_t end = text_.find('\n', at_);
  if (end == std::string::npos) end = text_.size();
  text = std::string_view(text_).substr(at_, end - at_);
  if (text.ends_with('\r')) text.remove_suffix(1);
  at_ = end + 1;
  line_ = next_line_++;
  return true;
}

void TextReader::detect_separator() {
  bool quoted = false;
  char found = ' ';
  for (size_t at = at_; at < text_.size() && (quoted || !is_line_end(text_[at])); ++at) {
    const char c = text_[at];
    if (c == '"' && dialect_.quotes) quoted = !quoted;
    if (quoted) continue;
    if (c == '{' && at > at_ && is_blank(text_[at - 1])) break;  // a Python dictionary: NetworkX
    if (c == '\t') found = '\t';
    if (c == ',' && found != '\t') found = ',';
    if (c == ';' && found == ' ') found = ';';
  }
  dialect_.separator = found;
}

bool TextReader::next() {
  fields_.clear();
  if (!skip_to_row()) return false;
  if (dialect_.separator == TextDialect::kDetect) detect_separator();
  line_ = next_line_;
  split_row();
  return true;
}

std::vector<std::string> TextReader::peek() const {
  constexpr size_t kFar = 1 << 16;
  TextDialect plain = dialect_;
  plain.quotes = false;
  TextReader ahead(text_.substr(std::min(at_, text_.size()), kFar), name_, plain);
  if (!ahead.next()) return {};
  return {ahead.fields_.begin(), ahead.fields_.end()};
}

void TextReader::split_row() {
  const char separator = dialect_.separator;
  const char* const end = text_.data() + text_.size();
  while (true) {
    const char* p = text_.data() + at_;
    while (p < end && *p != separator && is_blank(*p)) ++p;
    if (separator == ' ') {  // blanks and tabs alike
      while (p < end && is_blank(*p)) ++p;
      if (p == end || is_line_end(*p)) {
        at_ = static_cast<size_t>(p - text_.data());
        break;
      }
    }
    at_ = static_cast<size_t>(p - text_.data());
    if (p < end && *p == '"' && dialect_.quotes) {
      quoted_field();
    } else {
      const char* const begin = p;
      if (separator == ' ') {
        while (p < end && !is_blank(*p) && !is_line_end(*p)) ++p;
      } else {
        while (p < end && *p != separator && !is_line_end(*p)) ++p;
      }
      fields_.push_back(trimmed(begin, p));
      at_ = static_cast<size_t>(p - text_.data());
    }
    if (at_ >= text_.size() || is_line_end(text_[at_])) break;
    if (separator != ' ') ++at_;
  }
  skip_line_end();
}

void TextReader::skip_line_end() {  // LF, CRLF, or the lone CR of old files
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size() && text_[at_] == '\n') ++at_;
  ++next_line_;
}

void TextReader::quoted_field() {
  char* const data = text_.data();
  const size_t begin = ++at_;
  size_t out = begin;
  while (true) {
    if (at_ >= text_.size()) fail("the quote that opens in this row is never closed; add a '\"'");
    const char c = data[at_++];
    if (c == '"') {
      if (at_ >= text_.size() || data[at_] != '"') break;
      ++at_;
    } else if (c == '\n') {
      ++next_line_;
    }
    data[out++] = c;
  }
  fields_.emplace_back(data + begin, out - begin);
  while (at_ < text_.size() && is_blank(data[at_]) && data[at_] != dialect_.separator) ++at_;
  const bool ended = at_ >= text_.size() || is_line_end(data[at_]) ||
                     data[at_] == dialect_.separator ||
                     (dialect_.separator == ' ' && is_blank(data[at_ - 1]));
  if (!ended) {
    fail("text follows the closing quote of {}; double a quote that belongs to the text",
         shown(fields_.back()));
  }
}

int64_t TextReader::integer(std::string_view text, std::string_view what) const {
  int64_t value = 0;
  if (!parse_integer(text, value)) fail("{} must be a whole number, got {}", what, shown(text));
  return value;
}

float TextReader::real(std::string_view text, std::string_view what) const {
  double value = 0;
  if (!parse_real(text, value)) fail("{} must be a number, got {}", what, shown(text));
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow)) {
    fail("{} must be a finite number, got {}; replace it or leave the node out", what, shown(text));
  }
  return narrow;
}

bool parse_integer(std::string_view text, int64_t& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_real(std::string_view text, double& value) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') {  // bag-of-words files: 0 and 1
    value = text[0] - '0';
    return true;
  }
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return false;
  if (error == std::errc::result_out_of_range) {  // 1e-400 is zero, 1e400 is no number
    value = std::strtod(std::string(text).c_str(), nullptr);
    return true;
  }
  return error == std::errc();
}

std::string shown(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string out = "'";
  for (const char c : text.substr(0, kMost)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  }
  if (text.size() > kMost) out += "...";
  return out + "'";
}

}  // namespace dgat::data
