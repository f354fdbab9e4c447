#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "dgat/data/limits.h"

/// The command line is the library said in verbs. Each verb is one small file under verbs/ that
/// fills an options struct, calls the library and prints; main.cpp holds the table of verbs.
namespace dgat::app {

using Json = nlohmann::ordered_json;

/// Flags that every verb understands.
struct CommonOptions {
  int threads = 0;
  uint64_t seed = 0;
  bool json = false;
  bool quiet = false;
  int64_t memory_per_byte = data::kMemoryPerByte;
};

/// Adds --threads, --seed, --quiet, --memory-per-byte (and --json where a verb prints a result).
void add_common_options(CLI::App& verb, CommonOptions& options, bool prints_result = true);

/// A verb registers itself: add the subcommand and its options, and run when it was chosen.
/// `command.callback([options] { ... })` does the work; it throws dgat errors to fail.
using AddVerb = void (*)(CLI::App& app);

/// A check for options that name an .npz file to write: the reader goes by the extension.
std::string npz_name(const std::string& path);

/// Adds --overwrite to a verb that writes a data set made from another one.
void add_overwrite(CLI::App& verb, bool& overwrite);

/// The input is replaced with --overwrite only. Throws: InputError.
void check_output(const std::string& out, const std::string& input, bool overwrite);

/// A result must not replace the data that it was made from. Throws: InputError.
void refuse_input(const std::string& out, const std::string& input);

/// One JSON object on standard output, nothing else.
void print_json(const Json& object);

}  // namespace dgat::app
