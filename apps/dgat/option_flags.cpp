#include "option_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "dgat/core/progress.h"

namespace dgat::app {
namespace {

void keep(const train::OptionInfo& option, const std::string& text, train::Settings& settings) {
  train::Config probe;
  option.set(probe, text);  // a wrong value is reported before anything is read
  settings[option.key] = text;
}

/// Nothing when it is not a whole number.
std::optional<int64_t> whole_number(const std::string& text) {
  constexpr size_t kMostDigits = 9;
  const bool digits = std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
  if (text.empty() || text.size() > kMostDigits || !digits) return std::nullopt;
  return std::stoll(text);
}

}  // namespace

std::string flag_of(const std::string& key) {
  std::string flag = "--" + key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

CLI::Option* add_option_flag(CLI::App& verb, const train::OptionInfo& option,
                             train::Settings& settings) {
  std::string names = flag_of(option.key);
  if (option.letter != 0) names = fmt::format("-{},{}", option.letter, names);
  if (option.is_switch) {
    return verb
        .add_flag_callback(
            names, [&settings, &option] { keep(option, "on", settings); }, option.meaning)
        ->group(option.group);
  }
  return verb
      .add_option_function<std::string>(
          names, [&settings, &option](const std::string& text) { keep(option, text, settings); },
          option.meaning)
      ->type_name(option.value)
      ->default_str(option.shown_default())
      ->group(option.group);
}

void add_option_flags(CLI::App& verb, train::Settings& settings,
                      const std::vector<std::string>& keys) {
  for (const std::string& key : keys) add_option_flag(verb, train::find_option(key), settings);
}

void add_split_number(CLI::App& verb, std::optional<int64_t>& split, const std::string& use,
                      train::Settings* settings) {
  const auto take = [&split, settings](const std::string& text) {
    split = whole_number(text);
    if (split) return;
    if (settings == nullptr) {
      throw CLI::ValidationError("--split", "the number of a split was expected, got " + text);
    }
    keep(train::find_option("split"), text, *settings);
  };
  verb.add_option_function<std::string>(
          "--split", take,
          fmt::format(
              "number of the split, from 0, {}{}", use,
              settings == nullptr ? "" : "; shares such as 60/20/20 make random splits instead"))
      ->type_name(settings == nullptr ? "K" : "K or A/B/C")
      ->default_str("0")
      ->group("Data");
}

void note_ignored(const std::string& verb, const train::Settings& given,
                  const train::Config& config) {
  for (const auto& [key, value] : given) {
    const std::string reason = train::reason_ignored(key, value, config);
    if (reason.empty()) continue;
    notice(fmt::format("{}: {}; {} {} is ignored", verb, reason, flag_of(key), value));
  }
}

}  // namespace dgat::app
