#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dgat/train/option_table.h"
#include "verb.h"

/// Flags made from the option table, the same in every verb: name, range, meaning and default.
namespace dgat::app {

/// "--weight-decay" for weight_decay.
std::string flag_of(const std::string& key);

/// Adds the flag of one option. What is given is checked at once and kept as text in `settings`,
/// which must outlive the verb.
CLI::Option* add_option_flag(CLI::App& verb, const train::OptionInfo& option,
                             train::Settings& settings);

/// Adds the flags of these options, by key.
void add_option_flags(CLI::App& verb, train::Settings& settings,
                      const std::vector<std::string>& keys);

/// Adds --split K, the number of one split, counted from 0. `use` says what it is for ("whose
/// weights are used"). With `settings`, shares such as 60/20/20 are accepted, too, and mean what
/// they mean to every verb: make random splits.
void add_split_number(CLI::App& verb, std::optional<int64_t>& split, const std::string& use,
                      train::Settings* settings = nullptr);

/// Says on standard error which of the given settings have no effect.
void note_ignored(const std::string& verb, const train::Settings& given,
                  const train::Config& config);

}  // namespace dgat::app
