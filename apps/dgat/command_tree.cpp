#include "command_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dgat/nn/registry.h"

namespace dgat::app {
namespace {

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const nn::ModelInfo& info : nn::all_models()) names.push_back(info.name);
  return names;
}

/// "on|off" and "{a,b,c}" (CLI11's for a checked list) as words.
std::vector<std::string> listed_choices(const std::string& value) {
  const size_t open = value.find('{'), close = value.rfind('}');
  const bool braces = open != std::string::npos && close != std::string::npos && open < close;
  const std::string text = braces ? value.substr(open + 1, close - open - 1) : value;
  const char separator = braces ? ',' : '|';
  if (text.find(separator) == std::string::npos || text.find(' ') != std::string::npos) return {};
  std::vector<std::string> choices;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    choices.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

bool has_name(const FlagInfo& flag, const std::string& name) {
  return std::ranges::find(flag.names, name) != flag.names.end();
}

void set_kind(FlagInfo& flag) {
  if (flag.value.empty()) return;
  flag.kind = ValueKind::kText;
  flag.choices = listed_choices(flag.value);
  if (has_name(flag, "--model")) flag.choices = model_names();
  if (!flag.choices.empty()) {
    flag.kind = ValueKind::kChoice;
  } else if (flag.value == "DIR") {
    flag.kind = ValueKind::kFolder;
  } else if (flag.value == "FILE" || has_name(flag, "--out") || has_name(flag, "--data")) {
    flag.kind = ValueKind::kFile;
  }
}

FlagInfo flag_info(const CLI::Option& option) {
  FlagInfo flag;
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  if (option.get_type_size() != 0) flag.value = option.get_type_name();
  flag.meaning = option.get_description();
  flag.default_text = option.get_default_str();
  flag.group = option.get_group();
  set_kind(flag);
  return flag;
}

CommandInfo command_info(const CLI::App& app, std::vector<std::string> path,
                         const std::vector<std::string>& verbs) {
  CommandInfo command{std::move(path), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      if (!option->get_group().empty()) command.flags.push_back(flag_info(*option));
      continue;
    }
    ArgumentInfo argument{option->get_name(true), option->get_description(), option->get_required(),
                          listed_choices(option->get_type_name())};
    if (argument.name == "VERB") argument.choices = verbs;
    if (argument.name == "NAME") argument.choices = model_names();
    command.arguments.push_back(std::move(argument));
  }
  for (const CLI::App* sub : visible_commands(app)) {
    std::vector<std::string> below = command.path;
    below.push_back(sub->get_name());
    command.commands.push_back(command_info(*sub, std::move(below), verbs));
  }
  return command;
}

}  // namespace

std::string CommandInfo::full_name() const {
  return fmt::format("{}", fmt::join(path, " "));
}

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  std::vector<const CLI::App*> visible;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) visible.push_back(sub);
  }
  return visible;
}

CommandInfo command_tree(const CLI::App& app) {
  std::vector<std::string> verbs;
  for (const CLI::App* sub : visible_commands(app)) verbs.push_back(sub->get_name());
  return command_info(app, {app.get_name()}, verbs);
}

}  // namespace dgat::app
