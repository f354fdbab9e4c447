// Completion scripts for bash, zsh and fish.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "command_tree.h"
#include "dgat/core/error.h"

namespace dgat::app {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

template <class Visit>
void for_each_command(const CommandInfo& command, const Visit& visit) {
  visit(command);
  for (const CommandInfo& sub : command.commands) for_each_command(sub, visit);
}

// --- bash

constexpr const char* kBashHead = R"(# bash completion of dgat, made by `dgat completion bash`
_dgat() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=dgat word
  COMPREPLY=()
  if [[ $cur == = ]]; then cur=; fi
  if [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
)";

std::string bash_value(const FlagInfo& flag) {
  switch (flag.kind) {
    case ValueKind::kChoice:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))",
                         fmt::join(flag.choices, " "));
    case ValueKind::kFolder:
      return "compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -d -- \"$cur\"))";
    case ValueKind::kFile:
      return "compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -f -- \"$cur\"))";
    default:
      return ":";
  }
}

std::string bash(const CommandInfo& root) {
  std::string out = kBashHead;
  for_each_command(root, [&](const CommandInfo& command) {
    if (&command == &root) return;
    out += fmt::format("      '{0}') command='{0}' ;;\n", command.full_name());
  });
  out += "    esac\n  done\n  case \"$command $prev\" in\n";
  for_each_command(root, [&](const CommandInfo& command) {
    for (const FlagInfo& flag : command.flags) {
      if (flag.kind == ValueKind::kNone) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) {
        patterns.push_back(fmt::format("'{} {}'", command.full_name(), name));
      }
      out += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), bash_value(flag));
    }
  });
  out += "  esac\n  local flags= words=\n  case \"$command\" in\n";
  for_each_command(root, [&](const CommandInfo& command) {
    std::vector<std::string> flags, words;
    for (const FlagInfo& flag : command.flags) {
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
    }
    for (const CommandInfo& sub : command.commands) words.push_back(sub.name());
    for (const ArgumentInfo& argument : command.arguments) {
      words.insert(words.end(), argument.choices.begin(), argument.choices.end());
    }
    out += fmt::format("    '{}') flags='{}' words='{}' ;;\n", command.full_name(),
                       fmt::join(flags, " "), fmt::join(words, " "));
  });
  return out + R"(  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    compopt -o filenames 2> /dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -F _dgat dgat
)";
}

// --- zsh

/// Inside single quotes, with the characters that _arguments reads escaped.
std::string zsh_quoted(std::string text) {
  for (const char* c : {"\\", "[", "]", ":"}) text = replaced(text, c, std::string("\\") + c);
  return replaced(text, "'", "'\\''");
}

std::string zsh_action(const FlagInfo& flag) {
  switch (flag.kind) {
    case ValueKind::kChoice:
      return fmt::format("({})", fmt::join(flag.choices, " "));
    case ValueKind::kFolder:
      return "_files -/";
    case ValueKind::kFile:
      return "_files";
    default:
      return " ";
  }
}

std::string zsh_function_name(const CommandInfo& command) {
  return "_" + replaced(fmt::format("{}", fmt::join(command.path, "_")), "-", "_");
}

std::string zsh_function(const CommandInfo& command) {
  std::vector<std::string> specs;
  for (const FlagInfo& flag : command.flags) {
    for (const std::string& name : flag.names) {
      std::string spec = fmt::format("{}[{}]", name, zsh_quoted(flag.meaning));
      if (flag.kind != ValueKind::kNone) {
        spec += fmt::format(":{}:{}", zsh_quoted(flag.value), zsh_action(flag));
      }
      specs.push_back(fmt::format("'{}'", spec));
    }
  }
  std::string after;
  if (command.commands.empty()) {
    for (const ArgumentInfo& argument : command.arguments) {
      specs.push_back(argument.choices.empty()
                          ? fmt::format("':{}:_files'", zsh_quoted(argument.name))
                          : fmt::format("':{}:({})'", zsh_quoted(argument.name),
                                        fmt::join(argument.choices, " ")));
    }
  } else {
    std::string described, cases;
    for (const CommandInfo& sub : command.commands) {
      described += fmt::format("        '{}:{}'\n", sub.name(), zsh_quoted(sub.description));
      cases += fmt::format("        {}) {} ;;\n", sub.name(), zsh_function_name(sub));
    }
    specs.emplace_back("'1: :->command'");
    specs.emplace_back("'*:: :->rest'");
    after = fmt::format(
        "  case $state in\n    command)\n      local -a commands=(\n{}      )\n"
        "      _describe command commands ;;\n    rest)\n      case $words[1] in\n{}      esac ;;\n"
        "  esac\n",
        described, cases);
  }
  return fmt::format(
      "{}() {{\n  local context state line\n  typeset -A opt_args\n"
      "  _arguments -C \\\n    {}\n{}}}\n",
      zsh_function_name(command), fmt::join(specs, " \\\n    "), after);
}

std::string zsh(const CommandInfo& root) {
  std::string out = "#compdef dgat\n# zsh completion of dgat, made by `dgat completion zsh`\n";
  for_each_command(root, [&](const CommandInfo& command) { out += zsh_function(command); });
  return out + "if [[ $funcstack[1] = _dgat ]]; then _dgat \"$@\"; else compdef _dgat dgat; fi\n";
}

// --- fish

std::string fish_quoted(std::string text) {
  text = replaced(std::move(text), "\\", "\\\\");
  return "'" + replaced(std::move(text), "'", "\\'") + "'";
}

/// True when these verbs are on the command line.
std::string fish_condition(const CommandInfo& command) {
  std::string condition;
  for (size_t i = 1; i < command.path.size(); ++i) {
    condition +=
        fmt::format("{}__fish_seen_subcommand_from {}", i > 1 ? "; and " : "", command.path[i]);
  }
  return condition.empty() ? "__fish_use_subcommand" : condition;
}

std::string fish(const CommandInfo& root) {
  std::string out = "# fish completion of dgat, made by `dgat completion fish`\n";
  for_each_command(root, [&](const CommandInfo& command) {
    const std::string here = fish_condition(command);
    std::vector<std::string> names;
    for (const CommandInfo& sub : command.commands) names.push_back(sub.name());
    const std::string none_yet = &command == &root || names.empty()
                                     ? here
                                     : fmt::format("{}; and not __fish_seen_subcommand_from {}",
                                                   here, fmt::join(names, " "));
    for (const CommandInfo& sub : command.commands) {
      out += fmt::format("complete -c dgat -f -n {} -a {} -d {}\n", fish_quoted(none_yet),
                         sub.name(), fish_quoted(sub.description));
    }
    for (const ArgumentInfo& argument : command.arguments) {
      if (argument.choices.empty()) continue;
      out += fmt::format("complete -c dgat -f -n {} -a '{}'\n", fish_quoted(here),
                         fmt::join(argument.choices, " "));
    }
    for (const FlagInfo& flag : command.flags) {
      out += fmt::format("complete -c dgat -n {}", fish_quoted(here));
      for (const std::string& name : flag.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (flag.kind == ValueKind::kChoice) {
        out += fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "));
      } else if (flag.kind == ValueKind::kFolder) {
        out += " -x -a '(__fish_complete_directories)'";
      } else if (flag.kind == ValueKind::kFile) {
        out += " -r -F";
      } else if (flag.kind == ValueKind::kText) {
        out += " -x";
      }
      out += fmt::format(" -d {}\n", fish_quoted(flag.meaning));
    }
  });
  return out;
}

}  // namespace

std::string completion_script(const CommandInfo& root, const std::string& shell) {
  if (shell == "bash") return bash(root);
  if (shell == "zsh") return zsh(root);
  if (shell == "fish") return fish(root);
  throw_input("completion: there are scripts for bash, zsh and fish, not for {}", shell);
}

}  // namespace dgat::app
