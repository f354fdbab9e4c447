#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dgat::app {

/// "dgat 1.0.0 (commit 1a2b3c4d5e)".
std::string version_text();

/// The help of a verb, {"generate", "mixhop"}; of dgat itself for no words.
/// Throws: InputError for an unknown verb, with a suggestion.
std::string help_of(const CLI::App& app, const std::vector<std::string>& verb);

/// What is wrong with a command line that could not be parsed: a misspelt verb or flag with a
/// suggestion, else what CLI11 reports; and which help to read.
std::string explain(const CLI::App& app, const std::vector<std::string>& arguments,
                    const CLI::ParseError& error);

}  // namespace dgat::app
