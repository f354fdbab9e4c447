#include "dgat/data/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dgat/core/error.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {

using testing::HasSubstr;

/// A ring of five nodes in two classes, one node unlabelled.
Dataset small_dataset() {
  Dataset dataset;
  dataset.name = "ring";
  dataset.graph = test::ring(5);
  dataset.labels = {0, 1, 0, -1, 1};
  dataset.classes = 2;
  dataset.features = Features::dense(5, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  dataset.splits = {{{0, 1}, {2}, {4}}};
  return dataset;
}

template <class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Validate, AcceptsASoundDataSet) {
  const Dataset dataset = small_dataset();
  EXPECT_NO_THROW(validate(dataset, "here"));
  EXPECT_EQ(dataset.classes_present(), 2);
  EXPECT_EQ(dataset.metric(), Metric::kRocAuc);
}

TEST(Validate, SaysWhatIsWrongAndWhere) {
  const auto fault = [](auto&& spoil) {
    Dataset dataset = small_dataset();
    spoil(dataset);
    return message_of([&] { validate(dataset, "here"); });
  };
  EXPECT_EQ(fault([](Dataset& d) { d.labels.pop_back(); }),
            "here: has 4 labels for 5 nodes; one per node is needed (-1 where it is unknown)");
  EXPECT_EQ(fault([](Dataset& d) { d.labels[2] = 2; }),
            "here: node 2 has label 2; labels are -1 (unlabelled) or 0 to 1");
  EXPECT_EQ(fault([](Dataset& d) {
              d.features = Features::dense(1, 2, {1, 2});
            }),
            "here: has 1 feature rows for 5 nodes; one per node is needed");
  EXPECT_EQ(fault([](Dataset& d) {
              d.features = Features::dense(5, 1, {1, 2, INFINITY, 4, 5});
            }),
            "here: feature row 2, column 0 is inf; features must be finite");
  EXPECT_EQ(fault([](Dataset& d) {
              d.features = Features::sparse(5, 9, {0, 0, 0, 1, 2, 2}, {4, 8}, {1, NAN});
            }),
            "here: feature row 3, column 8 is nan; features must be finite");
  EXPECT_EQ(fault([](Dataset& d) { d.splits[0].test = {1}; }),
            "here: split 0 has node 1 in both train and test; the parts must not overlap");
  EXPECT_EQ(fault([](Dataset& d) { d.splits[0].val = {3}; }),
            "here: split 0 has node 3 in val, but it is unlabelled");
  EXPECT_EQ(fault([](Dataset& d) { d.splits[0].val = {5}; }),
            "here: split 0 has node 5 in val; ids are 0 to 4");
  EXPECT_EQ(fault([](Dataset& d) { d.node_ids = {"a"}; }), "here: has 1 node ids, expected 5");
}

TEST(LoadDataset, SaysWhatANameWasTriedAs) {
  EXPECT_EQ(message_of([] { load_dataset("no-such-thing"); }),
            "no-such-thing: no such file or folder, and no data set of that name is known; "
            "`dgat datasets` lists the names");
}

TEST(LoadDataset, NamesTheEndOfADanglingLink) {
  const test::TempDir folder;
  std::filesystem::create_symlink("gone.npz", folder / "link.npz");
  EXPECT_THAT(message_of([&] { load_dataset((folder / "link.npz").string()); }),
              HasSubstr("is a symbolic link to gone.npz, which does not exist"));
}

TEST(LoadDataset, ListsTheFormatsForAnUnknownExtension) {
  const test::TempDir folder;
  std::ofstream(folder / "graph.xyz") << "0 1\n";
  EXPECT_THAT(message_of([&] { load_dataset((folder / "graph.xyz").string()); }),
              HasSubstr("graph.xyz: not a data set in any known format; these are "));
}

}  // namespace
}  // namespace dgat::data
