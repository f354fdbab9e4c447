#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "dgat/train/option_table.h"
#include "support/run_dgat.h"

namespace dgat {
namespace {

using test::run_dgat;
using train::OptionInfo;

struct Flag {
  std::string verb, names, value, meaning, default_value;
};

/// The cells of a row of a Markdown table, without code marks and escapes.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (size_t c = 1; c < line.size(); ++c) {
    if (line.compare(c, 2, "\\|") == 0) {
      cells.back() += line[++c];
    } else if (line[c] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += line[c];
    }
  }
  for (std::string& cell : cells) {
    const size_t begin = cell.find_first_not_of(" "), end = cell.find_last_not_of(" ");
    cell = begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1);
    if (cell.size() > 1 && cell.front() == '`' && cell.back() == '`' &&
        std::count(cell.begin(), cell.end(), '`') == 2) {
      cell = cell.substr(1, cell.size() - 2);
    }
  }
  return cells;
}

/// The flags of every verb, from `dgat reference`.
std::vector<Flag> all_flags() {
  std::istringstream reference(run_dgat({"reference"}).out);
  std::vector<Flag> flags;
  std::string verb;
  for (std::string line; std::getline(reference, line);) {
    if (line.starts_with("#")) verb = line.substr(line.find(' ') + 1);
    if (!line.starts_with("| `-")) continue;
    const std::vector<std::string> cells = cells_of(line);
    flags.push_back({verb, cells[0], cells[1], cells[2], cells[3]});
  }
  return flags;
}

/// The option of the table with that flag.
const OptionInfo* option_with(const std::string& names) {
  for (const OptionInfo& option : train::config_options()) {
    std::string flag = "--" + option.key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (names == flag || names.ends_with("," + flag)) return &option;
  }
  return nullptr;
}

/// Not of the table: the generators' own, --split K (the number of a split), lists of models, the
/// data on which `models` counts.
bool is_other(const Flag& flag) {
  return flag.verb.starts_with("dgat generate") || flag.names == "--seed" ||
         flag.names == "--data" || (flag.names == "--split" && flag.value.starts_with("K")) ||
         flag.names == "--models,--model";
}

TEST(Options, AreTheSameInEveryVerb) {
  std::map<std::string, std::set<std::string>> verbs_with;
  for (const Flag& flag : all_flags()) {
    const OptionInfo* option = option_with(flag.names);
    if (option == nullptr || is_other(flag)) continue;
    verbs_with[option->key].insert(flag.verb);
    EXPECT_EQ(flag.meaning, option->meaning) << flag.verb << " " << flag.names;
    if (option->is_switch) continue;
    EXPECT_EQ(flag.value, option->value) << flag.verb << " " << flag.names;
    EXPECT_EQ(flag.default_value, option->shown_default()) << flag.verb << " " << flag.names;
  }
  for (const char* key : {"alpha", "gamma", "eigenvectors", "components", "laplacian"}) {
    for (const char* verb : {"dgat spectrum", "dgat rewire", "dgat train", "dgat tune"}) {
      EXPECT_TRUE(verbs_with[key].contains(verb)) << verb << " " << key;
    }
  }
  for (const char* key : {"directed", "splits", "split_file"}) {
    for (const char* verb : {"dgat inspect", "dgat convert", "dgat spectrum", "dgat rewire",
                             "dgat advise", "dgat train"}) {
      EXPECT_TRUE(verbs_with[key].contains(verb)) << verb << " " << key;
    }
  }
}

TEST(Options, TheNumberOfASplitMeansTheSameInEveryVerb) {
  std::set<std::string> verbs;
  for (const Flag& flag : all_flags()) {
    if (flag.names != "--split" || !flag.value.starts_with("K")) continue;
    verbs.insert(flag.verb);
    EXPECT_THAT(flag.meaning, testing::StartsWith("number of the split, from 0, ")) << flag.verb;
    EXPECT_EQ(flag.default_value, "0") << flag.verb;
  }
  EXPECT_EQ(verbs, (std::set<std::string>{"dgat advise", "dgat explore", "dgat predict",
                                          "dgat report", "dgat rewire"}));
}

}  // namespace
}  // namespace dgat
