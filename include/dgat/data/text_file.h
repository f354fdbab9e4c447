#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dgat/core/error.h"

namespace dgat::data {

/// What separates the fields of a line.
struct TextDialect {
  /// '\t', ',' or ';': each one ends a field, blanks around a field are dropped.
  /// ' ': any run of blanks and tabs. kDetect: see TextReader.
  char separator = kDetect;
  std::string_view comments = "#";  ///< a line whose first visible character is one of these
  bool quotes = true;               ///< "a, b" is one field and may span lines; "" inside is "
  static constexpr char kDetect = '\0';
};

/// Rows of a text file, without a copy per field. A field is a view into the file's bytes, which
/// the reader owns. Doubled quotes are folded in place.
///
/// Takes LF and CRLF, a UTF-8 byte order mark, lines of any length, gzip (known by its first
/// bytes, several members too). Blank and comment lines are skipped, but counted.
/// kDetect takes the first of tab, comma, semicolon that the first row has outside quotes, else
/// blanks.
///
/// Cost:   O(bytes), memory = the unpacked file.
/// Throws: InputError as "file:line: ..." on an unterminated quote or text behind a closing one,
///         "file: ..." when it cannot be read or unpacked.
class TextReader {
 public:
  explicit TextReader(const std::filesystem::path& path, const TextDialect& dialect = {});
  /// For text that is not in a file; errors use `name`.
  TextReader(std::string text, std::string name, const TextDialect& dialect);

  /// Moves to the next row; false at the end.
  bool next();
  std::span<const std::string_view> fields() const { return fields_; }
  /// Views stay valid as long as the reader lives.
  std::string_view field(size_t i) const { return fields_[i]; }
  size_t size() const { return fields_.size(); }
  int64_t line() const { return line_; }  ///< where the current row begins, from 1
  const std::string& name() const { return name_; }
  char separator() const { return dialect_.separator; }

  /// The fields of the row that next() will give, without moving there. Quotes are not interpreted,
  /// and a row that begins over 64 KB further on is not found.
  std::vector<std::string> peek() const;

  /// The next line unchanged, comments included; for formats with a banner.
  bool next_raw_line(std::string_view& text);

  /// A whole number or a finite real; `what` names the field in the error.
  int64_t integer(std::string_view text, std::string_view what) const;
  float real(std::string_view text, std::string_view what) const;

  /// Throws InputError "file:line: ..." about the current row.
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw InputError(fmt::format("{}:{}: ", name_, line_) +
                     fmt::format(text, std::forward<Args>(args)...));
  }
  /// Throws InputError "file: ..." about the file as a whole.
  template <class... Args>
  [[noreturn]] void fail_file(fmt::format_string<Args...> text, Args&&... args) const {
    throw InputError(name_ + ": " + fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  bool skip_to_row();
  void detect_separator();
  void split_row();
  void skip_line_end();
  void quoted_field();
  std::string name_, text_;
  TextDialect dialect_;
  size_t at_ = 0;
  int64_t line_ = 0, next_line_ = 1;
  std::vector<std::string_view> fields_;
};

/// The value inside an error message: quoted, cut to 40 characters, no control characters.
std::string shown(std::string_view text);

/// The whole of `text` as a number; false when it is not one (or is out of range).
bool parse_integer(std::string_view text, int64_t& value);
/// Also accepts nan and inf; the caller checks.
bool parse_real(std::string_view text, double& value);

/// The unpacked bytes of a file; gzip is recognised by its first two bytes.
std::string read_text(const std::filesystem::path& path);

/// Text with \n line ends, written atomically; packed when the name ends in .gz.
class TextWriter {
 public:
  explicit TextWriter(const std::filesystem::path& path);
  ~TextWriter();
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  template <class... Args>
  void print(fmt::format_string<Args...> text, Args&&... args) {
    append(text, fmt::make_format_args(args...));
  }
  /// A field, in quotes where its text needs them (comma, quote, line end, blank at an end, '#').
  void print_field(std::string_view text);
  void commit();

 private:
  static constexpr size_t kFlushAt = 1 << 16;
  void append(fmt::string_view text, fmt::format_args args);
  void flush();
  struct Output;
  std::string buffer_;
  std::unique_ptr<Output> output_;
};

}  // namespace dgat::data
