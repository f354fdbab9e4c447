#include "option_kinds.h"

#include <algorithm>
#include <cmath>

namespace dgat::train {

Settings parse_pairs(const std::string& text) {
  Settings pairs;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) {
      throw_input("extra: write name=value,name=value; got '{}'", pair);
    }
    pairs[pair.substr(0, equals)] = pair.substr(equals + 1);
    begin = end + 1;
  }
  return pairs;
}

OptionInfo number(const char* key, const char* group, Affects affects, double Config::*field,
                  Range range, const char* meaning) {
  return {.key = key,
          .group = group,
          .value = "FLOAT",
          .meaning = meaning,
          .set =
              [=](Config& c, const std::string& text) {
                const auto value = parse_number<double>(key, text);
                check_range(key, value, range.first, range.last);
                if (std::isinf(value)) throw_input("{}: must be finite, got {}", key, text);
                c.*field = value;
              },
          .get = [=](const Config& c) { return fmt::format("{}", c.*field); },
          .affects = affects};
}

OptionInfo number_or_auto(const char* key, const char* group, Affects affects,
                          std::optional<double> Config::*field, Range range, const char* meaning) {
  return {.key = key,
          .group = group,
          .value = "FLOAT or auto",
          .meaning = meaning,
          .set =
              [=](Config& c, const std::string& text) {
                (c.*field).reset();
                if (text == "auto") return;
                const auto value = parse_number<double>(key, text);
                check_range(key, value, range.first, range.last);
                c.*field = value;
              },
          .get =
              [=](const Config& c) {
                return (c.*field) ? fmt::format("{}", *(c.*field)) : std::string("auto");
              },
          .affects = affects};
}

OptionInfo count(const char* key, const char* group, Affects affects, int64_t Config::*field,
                 Range range, const char* meaning) {
  return {.key = key,
          .group = group,
          .value = "INT",
          .meaning = meaning,
          .set =
              [=](Config& c, const std::string& text) {
                const auto value = parse_number<int64_t>(key, text);
                check_range(key, value, range.first, range.last);
                c.*field = value;
              },
          .get = [=](const Config& c) { return fmt::format("{}", c.*field); },
          .affects = affects};
}

OptionInfo on_off(const char* key, const char* group, Affects affects, bool Config::*field,
                  const char* meaning) {
  return choice<bool>(key, group, affects, field, {{"on", true}, {"off", false}}, meaning);
}

OptionInfo text(const char* key, const char* group, Affects affects, std::string Config::*field,
                const char* value, const char* meaning) {
  return {.key = key,
          .group = group,
          .value = value,
          .meaning = meaning,
          .set = [=](Config& c, const std::string& given) { c.*field = given; },
          .get = [=](const Config& c) { return c.*field; },
          .affects = affects};
}

OptionInfo not_searched(OptionInfo option) {
  option.searchable = false;
  return option;
}

OptionInfo usually(const char* value, OptionInfo option) {
  option.usual = value;
  return option;
}

OptionInfo without_effect_on_results(OptionInfo option) {
  option.changes_result = false;
  return option;
}

OptionInfo as_switch(OptionInfo option) {
  option.is_switch = true;
  return option;
}

OptionInfo with_letter(char letter, OptionInfo option) {
  option.letter = letter;
  return option;
}

}  // namespace dgat::train
