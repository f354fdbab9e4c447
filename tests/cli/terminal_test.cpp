// What a terminal sees: width, colours; and what the file verbs print and leave behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "dgat/core/files.h"
#include "support/run_dgat.h"
#include "support/toy_graph.h"

namespace dgat::test {
namespace {
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

/// Runs dgat on a terminal of that many columns.
std::string on_terminal(const std::vector<std::string>& arguments, unsigned short columns,
                        const char* no_color = "") {
  winsize size{};
  size.ws_row = 50;
  size.ws_col = columns;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("NO_COLOR", no_color, 1);
    setenv("TERM", "xterm", 1);
    exec_dgat(arguments);
  }
  std::string out;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(terminal, buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<size_t>(n));
  }
  close(terminal);
  waitpid(child, nullptr, 0);
  return out;
}

size_t widest(const std::string& text) {
  size_t most = 0, width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else if (text[i] == '\n' || text[i] == '\r') {
      width = 0;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      most = std::max(most, ++width);
    }
  }
  return most;
}

class Terminal : public ToyGraph {};

TEST_F(Terminal, TablesAreAsWideAsTheTerminal) {
  for (const unsigned short columns : {80, 100}) {
    EXPECT_LE(widest(on_terminal({"datasets"}, columns)), columns);
    EXPECT_LE(widest(on_terminal({"models"}, columns)), columns);
  }
  EXPECT_GT(widest(run_dgat({"datasets"}).out), 80U) << "a pipe has no limit";
}

TEST_F(Terminal, ModelsFitEightyColumnsInAPipe) {
  const std::string list = run_dgat({"models"}).out,
                    counted = run_dgat({"models", "--data", data()}).out;
  EXPECT_LE(widest(list), 80U);
  EXPECT_LE(widest(counted), 80U);
  EXPECT_THAT(list, HasSubstr("jacobiconv"));
}

TEST_F(Terminal, ColoursOnATerminalOnlyAndNotWithNoColor) {
  EXPECT_THAT(on_terminal({"models"}, 80), HasSubstr("\x1b[1m"));
  EXPECT_THAT(on_terminal({"models"}, 80, "1"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(on_terminal({"trian"}, 80), HasSubstr("\x1b[1;31mdgat:"));
  EXPECT_THAT(on_terminal({"trian"}, 80, "1"), testing::StartsWith("dgat: unknown verb"));
  EXPECT_THAT(run_dgat({"models"}).out, Not(HasSubstr("\x1b")));
}

class Files : public ToyGraph {};

TEST_F(Files, TheInputIsReplacedWithOverwriteOnly) {
  const std::string before = read_whole_file(data());
  const std::string copy = out("copy.npz");
  ASSERT_EQ(run_dgat({"convert", data(), copy}).exit, 0);
  ASSERT_EQ(run_dgat({"convert", data(), copy}).exit, 0) << "a result is replaced";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"convert", data(), data()},
        {"rewire", data(), "--rewire", "add", "--out", data()}}) {
    const RunResult refused = run_dgat(command);
    EXPECT_EQ(refused.exit, 2) << command.front();
    EXPECT_EQ(refused.err, "dgat: " + data() + ": is also the input; --overwrite replaces it\n");
    EXPECT_EQ(read_whole_file(data()), before);
  }
  ASSERT_EQ(run_dgat({"rewire", data(), "--rewire", "add", "--out", data(), "--overwrite"}).exit,
            0);
  EXPECT_NE(read_whole_file(data()), before);
  const RunResult spectrum = run_dgat({"spectrum", data(), "--out", data()});
  EXPECT_EQ(spectrum.exit, 2);
  EXPECT_THAT(spectrum.err, HasSubstr("is also the input"));
}

TEST_F(Files, AFailedTrainingLeavesNothingBehind) {
  EXPECT_EQ(train({"--split-file", data(), "--out", out("new/folders/run")}).exit, 2);
  EXPECT_FALSE(fs::exists(out("new")));
  EXPECT_EQ(train({"--metric", "roc_auc", "--out", out("new/folders/run")}).exit, 2);
  EXPECT_FALSE(fs::exists(out("new"))) << "made before the splits could be measured";

  // A finished run is not touched by a replacement that cannot begin.
  ASSERT_EQ(train({"--out", out("good")}).exit, 0);
  EXPECT_EQ(train({"--out", out("good"), "--overwrite", "--metric", "roc_auc"}).exit, 2);
  EXPECT_TRUE(fs::exists(out("good") + "/summary.json"));
}

TEST_F(Files, TensorboardLogsBesideTheJsonOne) {
  ASSERT_EQ(train({"--log", "tensorboard", "--out", out()}).exit, 0);
  for (const char* split : {"0", "1"}) {
    const std::string events =
        out() + "/tensorboard/layers-1-split-" + split + "/events.out.tfevents.dgat";
    // A frame has 16 bytes. Version event: 9 + 2 + 15. Six steps: 9 + 2 + 2 and four scalars of
    // 9 bytes and their names (loss, train, val, test).
    EXPECT_EQ(fs::file_size(events), 16U + 26 + 6 * (16U + 13 + 4 * 9 + 16)) << split;
  }
  EXPECT_TRUE(fs::exists(out() + "/log.jsonl"));
  ASSERT_EQ(train({"--overwrite", "--out", out()}).exit, 0);
  EXPECT_FALSE(fs::exists(out() + "/tensorboard")) << "of the run that was replaced";
  EXPECT_EQ(train({"--log", "csv", "--out", out("b")}).exit, 2);
}

TEST_F(Files, PredictPrintsTheFirstRowsAndUsesClassNames) {
  fs::create_directories(out("pets"));
  std::ofstream nodes(out("pets") + "/nodes.csv"), edges(out("pets") + "/edges.csv");
  nodes << "id,label,x\n";
  edges << "source,target\n";
  for (int i = 0; i < 30; ++i) {
    nodes << "n" << i << ','
          << (i % 3 == 0   ? "cat"
              : i % 3 == 1 ? "\"dog, wild\""
                           : "owl")
          << ',' << i % 3 << '\n';
    edges << "n" << i << ",n" << (i + 1) % 30 << '\n';
  }
  nodes.close();
  edges.close();
  const RunResult trained =
      run_dgat({"train", out("pets"), "--hidden", "16", "--heads", "2", "--layers", "1", "--steps",
                "3", "--splits", "1", "--out", out()});
  ASSERT_EQ(trained.exit, 0) << trained.err;
  const RunResult shown = run_dgat({"predict", out()});
  ASSERT_EQ(shown.exit, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("\nn9 "));
  EXPECT_THAT(shown.out, Not(HasSubstr("\nn10 ")));
  EXPECT_THAT(shown.out, HasSubstr("30 nodes, the first shown; --out FILE.csv writes all"));
  ASSERT_EQ(run_dgat({"predict", out(), "--out", out("p.csv")}).exit, 0);
  EXPECT_THAT(read_whole_file(out("p.csv")),
              testing::StartsWith(
                  "id,class,probability_cat,\"probability_dog, wild\",probability_owl\nn0,"));
}

}  // namespace
}  // namespace dgat::test
