// Man pages in roff.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "command_tree.h"

namespace dgat::app {
namespace {

/// Text as roff prints it: no line is a request, dashes stay dashes.
std::string roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string synopsis(const CommandInfo& command) {
  std::string out = fmt::format("\\fB{}\\fR", roff(command.full_name()));
  if (!command.commands.empty()) out += " \\fIVERB\\fR";
  for (const ArgumentInfo& argument : command.arguments) {
    const std::string name = fmt::format("\\fI{}\\fR", roff(argument.name));
    out += argument.required ? " " + name : " [" + name + "]";
  }
  return out + " [\\fIOPTIONS\\fR]\n";
}

std::string flag_text(const FlagInfo& flag) {
  std::vector<std::string> names;
  for (const std::string& name : flag.names) names.push_back("\\fB" + roff(name) + "\\fR");
  std::string out = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!flag.value.empty()) out += fmt::format(" \\fI{}\\fR", roff(flag.value));
  out += fmt::format("\n{}", roff(flag.meaning));
  if (!flag.default_text.empty()) out += fmt::format(" (default: {})", roff(flag.default_text));
  return out + "\n";
}

/// Arguments, flags by group, and the text below them.
std::string options_text(const CommandInfo& command) {
  std::string out;
  for (const ArgumentInfo& argument : command.arguments) {
    out += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(argument.name), roff(argument.meaning));
  }
  std::vector<std::string> groups;
  for (const FlagInfo& flag : command.flags) {
    if (std::ranges::find(groups, flag.group) == groups.end()) groups.push_back(flag.group);
  }
  for (const std::string& group : groups) {
    out += fmt::format(".PP\n\\fB{}\\fR\n", roff(group));
    for (const FlagInfo& flag : command.flags) {
      if (flag.group == group) out += flag_text(flag);
    }
  }
  if (!command.footer.empty()) {
    out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
  }
  return out;
}

}  // namespace

std::string man_page(const CommandInfo& root, const CommandInfo& command) {
  const bool whole = &command == &root;
  const std::string title = fmt::format("{}", fmt::join(command.path, "-"));
  std::string out = fmt::format(".TH {} 1 \"\" \"dgat {}\" \"User Commands\"\n", upper(roff(title)),
                                DGAT_VERSION);
  out += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}", roff(title),
                     roff(command.description), synopsis(command));
  if (!command.commands.empty()) {
    out += ".SH VERBS\n";
    for (const CommandInfo& sub : command.commands) {
      out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(sub.name()), roff(sub.description));
    }
  }
  out += ".SH OPTIONS\n" + options_text(command);
  for (const CommandInfo& sub : command.commands) {
    if (whole) break;  // they have pages of their own
    out += fmt::format(".SH {}\n{}\n.PP\n{}", upper(roff(sub.full_name())), roff(sub.description),
                       synopsis(sub));
    out += options_text(sub);
  }
  out +=
      ".SH EXIT STATUS\n0 done, 1 the computation failed, 2 wrong usage or unreadable input, 130 "
      "interrupted.\n.SH SEE ALSO\n";
  std::vector<std::string> others;
  if (!whole) others.push_back("dgat");
  for (const CommandInfo& verb : root.commands) {
    if (whole) others.push_back("dgat-" + verb.name());
  }
  for (std::string& name : others) name = fmt::format("\\fB{}\\fR(1)", roff(name));
  return out + fmt::format("{}\n", fmt::join(others, ", "));
}

}  // namespace dgat::app
