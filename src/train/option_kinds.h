#pragma once

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/train/option_table.h"

/// The kinds of rows in the option table: numbers in a range, and names of values.
namespace dgat::train {

template <class Number>
Number parse_number(const std::string& key, const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    throw_input("{}: a {} was expected, got '{}'", key,
                std::is_integral_v<Number> ? "whole number" : "number", text);
  }
  return value;
}

/// Throws "key: must lie in [0, 1], got 2" unless first <= value <= last. NaN lies nowhere.
template <class Number>
void check_range(const std::string& key, Number value, double first, double last) {
  const auto v = static_cast<double>(value);
  if (v >= first && v <= last) return;
  if (std::isinf(last)) throw_input("{}: must be at least {}, got {}", key, first, value);
  throw_input("{}: must lie in [{}, {}], got {}", key, first, last, value);
}

/// "k=3,ppr=0.1" by name.
Settings parse_pairs(const std::string& text);

struct Range {
  double first, last;
};

OptionInfo number(const char* key, const char* group, Affects affects, double Config::*field,
                  Range range, const char* meaning);

/// A number or `auto`, which is nothing.
OptionInfo number_or_auto(const char* key, const char* group, Affects affects,
                          std::optional<double> Config::*field, Range range, const char* meaning);

OptionInfo count(const char* key, const char* group, Affects affects, int64_t Config::*field,
                 Range range, const char* meaning);

/// One of several names, each for a value.
template <class Value>
OptionInfo choice(const char* key, const char* group, Affects affects, Value Config::*field,
                  const std::vector<std::pair<std::string, Value>>& names, const char* meaning) {
  std::string all;
  for (const auto& [name, value] : names) all += (all.empty() ? "" : "|") + name;
  return {.key = key,
          .group = group,
          .value = all,
          .meaning = meaning,
          .set =
              [=](Config& c, const std::string& text) {
                for (const auto& [name, value] : names) {
                  if (name == text) {
                    c.*field = value;
                    return;
                  }
                }
                throw_input("{}: must be one of {}, got '{}'", key, all, text);
              },
          .get =
              [=](const Config& c) {
                for (const auto& [name, value] : names) {
                  if (value == c.*field) return name;
                }
                return std::string();
              },
          .affects = affects};
}

OptionInfo on_off(const char* key, const char* group, Affects affects, bool Config::*field,
                  const char* meaning);

/// Text as it is: a file or a place.
OptionInfo text(const char* key, const char* group, Affects affects, std::string Config::*field,
                const char* value, const char* meaning);

/// The same for all candidates of a search.
OptionInfo not_searched(OptionInfo option);
/// Leaves every result as it is.
OptionInfo without_effect_on_results(OptionInfo option);
OptionInfo as_switch(OptionInfo option);
OptionInfo usually(const char* value, OptionInfo option);
OptionInfo with_letter(char letter, OptionInfo option);

}  // namespace dgat::train
