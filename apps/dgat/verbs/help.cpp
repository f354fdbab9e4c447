// dgat help, dgat completion, dgat man: the command line about itself.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>

#include "../command_tree.h"
#include "../usage.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/suggest.h"

namespace dgat::app {
namespace {

struct Man {
  std::string verb, folder;
};

void write_page(const std::filesystem::path& folder, const CommandInfo& root,
                const CommandInfo& command) {
  const std::string name = &command == &root ? "dgat.1" : "dgat-" + command.name() + ".1";
  write_atomically(folder / name, [&](std::ostream& out) { out << man_page(root, command); });
}

void run_man(const CLI::App& app, const Man& options) {
  const CommandInfo root = command_tree(app);
  if (!options.folder.empty()) {
    std::error_code ignored;  // the first file says what is wrong
    std::filesystem::create_directories(options.folder, ignored);
    write_page(options.folder, root, root);
    for (const CommandInfo& verb : root.commands) write_page(options.folder, root, verb);
    return;
  }
  if (options.verb.empty()) {
    fmt::print("{}", man_page(root, root));
    return;
  }
  std::vector<std::string> names;
  for (const CommandInfo& verb : root.commands) {
    names.push_back(verb.name());
    if (verb.name() != options.verb) continue;
    fmt::print("{}", man_page(root, verb));
    return;
  }
  throw_input("man: unknown verb {}{}", options.verb, did_you_mean(options.verb, names));
}

}  // namespace

void add_help(CLI::App& app) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = app.add_subcommand("help", "Explain a verb: dgat help train");
  verb->add_option("VERB", *words, "verb, with its own verb if it has one: generate mixhop");
  verb->callback([&app, words] { fmt::print("{}", help_of(app, *words)); });
}

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb =
      app.add_subcommand("completion", "Print a script that completes dgat in bash, zsh or fish");
  verb->add_option("SHELL", *shell, "which shell")->required()->type_name("bash|zsh|fish");
  verb->footer(
      "`cmake --install` and the Debian package install these scripts. By hand:\n"
      "  dgat completion bash > ~/.local/share/bash-completion/completions/dgat\n"
      "  dgat completion zsh > ~/.zfunc/_dgat        a folder of $fpath\n"
      "  dgat completion fish > ~/.config/fish/completions/dgat.fish");
  verb->callback([&app, shell] { fmt::print("{}", completion_script(command_tree(app), *shell)); });
}

void add_man(CLI::App& app) {
  auto options = std::make_shared<Man>();
  CLI::App* verb = app.add_subcommand("man", "Print the man page of dgat or of a verb");
  verb->group("");  // for the installation; users call man
  verb->add_option("VERB", options->verb, "verb; default: dgat itself");
  verb->add_option("--all", options->folder, "write all pages into this folder")->type_name("DIR");
  verb->callback([&app, options] { run_man(app, *options); });
}

}  // namespace dgat::app
