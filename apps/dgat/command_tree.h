#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

/// The verbs with their flags as plain data, from the live command line. Completions and man pages
/// are made of it, so they cannot disagree with --help.
namespace dgat::app {

/// The values of a flag, for completion.
enum class ValueKind { kNone, kText, kFile, kFolder, kChoice };

struct FlagInfo {
  std::vector<std::string> names;  ///< with their dashes, short ones first
  std::string value;               ///< "FLOAT", "on|off"; empty for a switch
  std::string meaning, default_text, group;
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> choices;
};

struct ArgumentInfo {
  std::string name, meaning;
  bool required = false;
  std::vector<std::string> choices;  ///< empty: a file
};

struct CommandInfo {
  std::vector<std::string> path;  ///< {"dgat", "generate", "mixhop"}
  std::string description, footer;
  std::vector<FlagInfo> flags;
  std::vector<ArgumentInfo> arguments;
  std::vector<CommandInfo> commands;  ///< those that --help lists

  const std::string& name() const { return path.back(); }
  std::string full_name() const;  ///< "dgat generate mixhop"
};

CommandInfo command_tree(const CLI::App& app);

/// The subcommands that --help lists.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);

/// bash, zsh or fish: the script that completes `dgat`. Throws: InputError for another shell.
std::string completion_script(const CommandInfo& root, const std::string& shell);

/// The man page of dgat itself, or of one verb with its subcommands (in roff).
std::string man_page(const CommandInfo& root, const CommandInfo& command);

}  // namespace dgat::app
