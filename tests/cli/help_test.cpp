#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "dgat/core/files.h"
#include "dgat/train/option_table.h"
#include "support/run_dgat.h"
#include "support/temp_dir.h"

namespace dgat::test {
namespace {
using testing::HasSubstr;
using testing::Not;

/// What a shell command prints; a test failure when it does not succeed.
std::string shell(const std::string& command) {
  std::string out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) out += buffer.data();
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << out;
  return out;
}

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

TEST(Help, DgatAloneAndHelpPrintTheVerbs) {
  const RunResult alone = run_dgat({});
  EXPECT_EQ(alone.exit, 0);
  EXPECT_THAT(alone.out, HasSubstr("  train "));
  EXPECT_EQ(alone.err, "");
  EXPECT_EQ(run_dgat({"help"}).out, alone.out);
  EXPECT_EQ(run_dgat({"--help"}).out, alone.out);
  EXPECT_EQ(run_dgat({"help", "train"}).out, run_dgat({"train", "--help"}).out);
  EXPECT_EQ(run_dgat({"help", "generate", "mixhop"}).out,
            run_dgat({"generate", "mixhop", "--help"}).out);
}

TEST(Help, VersionNamesTheCommit) {
  const RunResult version = run_dgat({"--version"});
  EXPECT_EQ(version.exit, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex(
                               "dgat [0-9]+\\.[0-9]+\\.[0-9]+( \\(commit [0-9a-f]+\\+?\\))?\n"));
  EXPECT_EQ(run_dgat({"-v"}).out, version.out);
}

TEST(Help, MisspeltVerbsAndFlagsGetASuggestion) {
  const auto error_of = [](const std::vector<std::string>& arguments) {
    const RunResult run = run_dgat(arguments);
    EXPECT_EQ(run.exit, 2);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_EQ(error_of({"trian"}),
            "dgat: unknown verb trian; did you mean train?; `dgat help` lists the verbs\n");
  EXPECT_EQ(error_of({"help", "inspekt"}),
            "dgat: help: unknown verb inspekt; did you mean inspect?\n");
  EXPECT_EQ(error_of({"train", "x.npz", "--gama", "0.1"}),
            "dgat: train: unknown flag --gama; did you mean --gamma?; `dgat help train` lists the "
            "flags\n");
  EXPECT_EQ(error_of({"train", "x.npz", "--gama=0.1"}),
            "dgat: train: unknown flag --gama; did you mean --gamma?; `dgat help train` lists the "
            "flags\n");
  EXPECT_EQ(error_of({"generate", "mixhopp"}),
            "dgat: generate: unknown verb mixhopp; did you mean mixhop?; `dgat help generate` "
            "lists the verbs\n");
  EXPECT_EQ(error_of({"datasets", "ftch"}),
            "dgat: datasets: unknown verb ftch; did you mean fetch?; `dgat help datasets` lists "
            "the verbs\n");
  EXPECT_THAT(error_of({"zzzzzz"}), HasSubstr("unknown verb zzzzzz; `dgat help`"));
  EXPECT_THAT(error_of({"inspect"}), HasSubstr("DATA is required"));
}

/// Completes the last word of a command line in a real bash.
std::vector<std::string> completed(const std::filesystem::path& script, const std::string& words) {
  const std::string text = shell(
      "bash -c 'source " + script.string() + "; COMP_WORDS=(" + words +
      "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dgat; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
  std::istringstream lines(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) found.push_back(line);
  }
  return found;
}

TEST(Completion, BashCompletesVerbsFlagsAndValues) {
  const TempDir folder;
  const RunResult run = run_dgat({"completion", "bash"});
  ASSERT_EQ(run.exit, 0) << run.err;
  std::ofstream(folder / "dgat.bash") << run.out;
  const auto complete = [&](const std::string& words) {
    return completed(folder / "dgat.bash", words);
  };
  using testing::Contains;
  using testing::ElementsAre;
  EXPECT_THAT(complete("dgat tr"), ElementsAre("train"));
  EXPECT_THAT(complete("dgat \"\""), Contains("inspect"));
  EXPECT_THAT(complete("dgat \"\""), Not(Contains("reference"))) << "a hidden verb";
  EXPECT_THAT(complete("dgat train --gam"), ElementsAre("--gamma"));
  EXPECT_THAT(complete("dgat train x.npz --recipe \"\""),
              ElementsAre("residual", "classic", "deep"));
  EXPECT_THAT(complete("dgat train --recipe = cl"), ElementsAre("classic"));
  EXPECT_THAT(complete("dgat train --model dgatv"), ElementsAre("dgatv2", "dgatv2-sep"));
  EXPECT_THAT(complete("dgat generate w"), ElementsAre("worlds"));
  EXPECT_THAT(complete("dgat generate worlds --cro"), ElementsAre("--crossing"));
  EXPECT_THAT(complete("dgat train --hidden \"\""), testing::IsEmpty()) << "a number";
  EXPECT_THAT(complete("dgat help sp"), ElementsAre("spectrum"));
  EXPECT_THAT(complete("dgat completion \"\""), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(complete("dgat inspect " + (folder / "dgat.b").string()),
              ElementsAre((folder / "dgat.bash").string()));
}

TEST(Completion, EveryShellKnowsEveryFlagOfTraining) {
  const std::string bash = run_dgat({"completion", "bash"}).out;
  const std::string zsh = run_dgat({"completion", "zsh"}).out;
  const std::string fish = run_dgat({"completion", "fish"}).out;
  EXPECT_THAT(zsh, testing::StartsWith("#compdef dgat\n"));
  for (const train::OptionInfo& option : train::config_options()) {
    if (option.key == "data") continue;
    std::string flag = option.key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    EXPECT_THAT(bash, HasSubstr("--" + flag));
    EXPECT_THAT(zsh, HasSubstr("'--" + flag + "["));
    EXPECT_THAT(fish, HasSubstr("-n '__fish_seen_subcommand_from train'" +
                                (option.letter != 0 ? std::string(" -s ") + option.letter : "") +
                                " -l " + flag + " "));
  }
  EXPECT_EQ(run_dgat({"completion", "tcsh"}).exit, 2);
}

/// Single quotes are the only quotes of these scripts; every one is closed on its line.
TEST(Completion, QuotesOfZshAndFishAreClosed) {
  for (const std::string name : {"zsh", "fish"}) {
    std::istringstream lines(run_dgat({"completion", name}).out);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("#")) continue;
      bool open = false;
      for (size_t i = 0; i < line.size(); ++i) {
        const bool escapes = name == "fish" || !open;  // zsh: no escapes inside single quotes
        if (line[i] == '\\' && escapes) {
          ++i;
        } else if (line[i] == '\'') {
          open = !open;
        }
      }
      EXPECT_FALSE(open) << name << ": " << line;
    }
  }
  const TempDir folder;
  for (const std::string name : {"zsh", "fish"}) {
    if (!installed(name)) continue;
    std::ofstream(folder / name) << run_dgat({"completion", name}).out;
    shell(name + " -n " + (folder / name).string());
  }
}

TEST(Man, PagesAreWrittenAndFormatWithoutWarnings) {
  const TempDir folder;
  ASSERT_EQ(run_dgat({"man", "--all", (folder / "man").string()}).exit, 0);
  EXPECT_EQ(read_whole_file(folder / "man" / "dgat-train.1"), run_dgat({"man", "train"}).out);
  EXPECT_EQ(read_whole_file(folder / "man" / "dgat.1"), run_dgat({"man"}).out);
  EXPECT_FALSE(std::filesystem::exists(folder / "man" / "dgat-reference.1"));
  EXPECT_THAT(run_dgat({"man", "train"}).out, HasSubstr("\\fB\\-\\-weight\\-decay\\fR"));
  EXPECT_THAT(run_dgat({"man", "generate"}).out, HasSubstr("\\fB\\-\\-crossing\\fR"));
  EXPECT_EQ(run_dgat({"man", "trian"}).exit, 2);
  if (!installed("groff")) GTEST_SKIP() << "groff is not installed";
  for (const auto& page : std::filesystem::directory_iterator(folder / "man")) {
    EXPECT_EQ(shell("groff -man -ww -k -Tutf8 -z " + page.path().string()), "") << page.path();
  }
}

}  // namespace
}  // namespace dgat::test
