#include "usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "command_tree.h"
#include "dgat/core/error.h"
#include "dgat/core/suggest.h"
#include "dgat/study/origin.h"

namespace dgat::app {
namespace {

/// The subcommand of that name, hidden ones included; null when there is none.
const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

std::string unknown_verb(const CLI::App& app, const std::string& typed) {
  std::vector<std::string> names;
  for (const CLI::App* sub : visible_commands(app)) names.push_back(sub->get_name());
  return fmt::format("unknown verb {}{}", typed, did_you_mean(typed, names));
}

std::string unknown_flag(const CLI::App& app, const std::string& typed) {
  const std::string flag = typed.substr(0, typed.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return fmt::format("unknown flag {}{}", flag, did_you_mean(flag, names));
}

/// The verb that the arguments name, as far as they do.
struct Chosen {
  const CLI::App* app;
  std::vector<std::string> words;  ///< {"generate", "mixhop"}
  std::string unknown;             ///< a word where a verb was expected
};

Chosen chosen_verb(const CLI::App& app, const std::vector<std::string>& arguments) {
  Chosen chosen{&app, {}, {}};
  for (const std::string& word : arguments) {
    const bool expects_verb = !visible_commands(*chosen.app).empty();
    if (!expects_verb) break;
    if (word.starts_with("-")) continue;
    const CLI::App* sub = find_command(*chosen.app, word);
    if (sub == nullptr) {
      chosen.unknown = word;
      break;
    }
    chosen.app = sub;
    chosen.words.push_back(word);
  }
  return chosen;
}

}  // namespace

std::string version_text() {
  const std::string commit = study::present_origin().commit;
  return commit.empty() ? fmt::format("dgat {}", DGAT_VERSION)
                        : fmt::format("dgat {} (commit {})", DGAT_VERSION, commit);
}

std::string help_of(const CLI::App& app, const std::vector<std::string>& verb) {
  const CLI::App* at = &app;
  std::string before;
  for (const std::string& word : verb) {
    const CLI::App* sub = find_command(*at, word);
    if (sub == nullptr) throw_input("help: {}", unknown_verb(*at, word));
    before += (before.empty() ? "" : " ") + at->get_name();
    at = sub;
  }
  // help() of an app prints the help of its verb that was chosen, which is `help` here.
  if (at == &app)
    return app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  return at->help(before);
}

std::string explain(const CLI::App& app, const std::vector<std::string>& arguments,
                    const CLI::ParseError& error) {
  const Chosen chosen = chosen_verb(app, arguments);
  const std::string verb = fmt::format("{}", fmt::join(chosen.words, " "));
  const std::string help = verb.empty() ? "dgat help" : "dgat help " + verb;
  const std::string where = verb.empty() ? "" : verb + ": ";
  if (!chosen.unknown.empty()) {
    return fmt::format("{}{}; `{}` lists the verbs", where,
                       unknown_verb(*chosen.app, chosen.unknown), help);
  }
  const std::vector<std::string> extras = chosen.app->remaining();
  const auto flag = std::ranges::find_if(
      extras, [](const std::string& word) { return word.size() > 1 && word.starts_with("-"); });
  if (flag != extras.end()) {
    return fmt::format("{}{}; `{}` lists the flags", where, unknown_flag(*chosen.app, *flag), help);
  }
  const std::vector<const CLI::App*> commands = visible_commands(*chosen.app);
  if (!commands.empty() && error.get_name() == "RequiredError") {
    std::vector<std::string> names(commands.size());
    std::ranges::transform(commands, names.begin(),
                           [](const CLI::App* sub) { return sub->get_name(); });
    return fmt::format("{}a verb is missing; it is one of {}", where, fmt::join(names, ", "));
  }
  return fmt::format("{}{}; see `{}`", where, error.what(), help);
}

}  // namespace dgat::app
