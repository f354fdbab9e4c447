#include "dgat/data/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/progress.h"
#include "dgat/data/fetch.h"
#include "dgat/data/load.h"
#include "dgat/data/npz_dataset.h"
#include "dgat/data/sha256.h"
#include "support/http_server.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {

namespace fs = std::filesystem;
using test::HttpReply;
using test::HttpRequest;
using test::HttpServer;
using testing::HasSubstr;

TEST(Catalogue, HoldsSixteenDataSetsWithDistinctNames) {
  std::set<std::string> names, stems;
  for (const CatalogueEntry& entry : catalogue()) {
    names.insert(entry.name);
    stems.insert(entry.stem);
    for (const CatalogueFile& file : entry.files) {
      EXPECT_TRUE(std::string(file.url).starts_with("https://")) << file.url;
      const size_t digits = std::string(file.sha256).size();
      EXPECT_TRUE(digits == 0 || digits == 64) << file.path;
    }
  }
  EXPECT_EQ(names.size(), 16U);
  EXPECT_EQ(stems.size(), 16U);
}

TEST(Catalogue, KnowsEverySpelling) {
  for (const char* name :
       {"chameleon-filtered", "chameleon_filtered", "Chameleon_Filtered", "CHAMELEON-FILTERED"}) {
    ASSERT_NE(find_in_catalogue(name), nullptr) << name;
    EXPECT_STREQ(find_in_catalogue(name)->name, "chameleon-filtered");
  }
  EXPECT_STREQ(find_in_catalogue("film")->name, "actor");
  EXPECT_STREQ(find_in_catalogue("cornell_old")->name, "cornell");
  EXPECT_EQ(find_in_catalogue("cornel"), nullptr);
}

class RealEntry : public testing::TestWithParam<const char*> {};

TEST_P(RealEntry, ReproducesThePublishedTables) {
  const fs::path shared = test::shared_datasets();
  if (shared.empty()) GTEST_SKIP() << test::kNoDatasets;
  const CatalogueEntry& entry = *find_in_catalogue(GetParam());
  fs::path file = shared / (std::string(entry.stem) + ".npz");
  const bool without_features = !fs::exists(file);
  if (without_features) file = shared / (std::string(entry.stem) + "_nofeatures.npz");
  for (const CatalogueCheck& check : compare_with_catalogue(load_dataset(file), entry)) {
    if (without_features && check.quantity == "features") continue;
    EXPECT_TRUE(check.agrees) << check.quantity << ": published " << check.published << ", found "
                              << check.found;
  }
  if (!without_features && entry.files.size() == 1 && *entry.files[0].sha256 != '\0') {
    EXPECT_EQ(sha256_of_file(file), entry.files[0].sha256);
    EXPECT_EQ(static_cast<int64_t>(fs::file_size(file)), entry.files[0].bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, RealEntry,
                         testing::Values("chameleon", "squirrel", "actor", "cornell", "wisconsin",
                                         "texas", "cora", "citeseer", "pubmed", "roman_empire",
                                         "minesweeper", "tolokers", "squirrel_filtered",
                                         "chameleon_filtered"),
                         [](const auto& name) { return std::string(name.param); });

TEST(Catalogue, TellsAnotherEditionApart) {
  const fs::path shared = test::shared_datasets();
  if (shared.empty()) GTEST_SKIP() << test::kNoDatasets;
  const auto checks =
      compare_with_catalogue(load_dataset(shared / "cornell.npz"), *find_in_catalogue("cornell"));
  EXPECT_TRUE(std::any_of(checks.begin(), checks.end(), [](const auto& c) { return !c.agrees; }));
}

/// A cache of its own, and a server that stands in for the world.
class Fetch : public testing::Test {
 protected:
  Fetch() {
    set_quiet(true);
    setenv("DGAT_CACHE", (dir_ / "cache").c_str(), 1);
    setenv("no_proxy", "127.0.0.1", 1);
    unsetenv("DGAT_DATA");
    unsetenv("DGAT_OFFLINE");
    Dataset data;
    data.graph = test::ring(6);
    data.labels = {0, 1, 0, 1, 0, 1};
    data.classes = 2;
    write_npz(data, dir_ / "ring.npz");
    body_ = read_whole_file(dir_ / "ring.npz");
  }
  ~Fetch() override {
    unsetenv("DGAT_CACHE");
    unsetenv("DGAT_DATA");
    unsetenv("DGAT_OFFLINE");
    set_quiet(false);
  }
  template <class Exception>
  std::string error(const char* name, const FetchOptions& options) {
    try {
      fetch_dataset(*find_in_catalogue(name), options);
    } catch (const Exception& e) {
      return e.what();
    }
    return "no error";
  }
  /// The server of the test speaks http, and what it sends has no known checksum.
  static FetchOptions from(const std::string& url) {
    FetchOptions options{.url = url, .no_checksum = true};
    options.download.insecure = true;
    return options;
  }
  HttpServer::Handler serving() {
    return [this](const HttpRequest& request) { return file_reply(request, body_, "\"1\""); };
  }
  test::TempDir dir_;
  std::string body_;
};

TEST_F(Fetch, FromAUrlIntoTheCacheAndThenByName) {
  const HttpServer server(serving());
  const CatalogueEntry& cora = *find_in_catalogue("cora");
  EXPECT_EQ(find_locally(cora), std::nullopt);
  const FetchResult first = fetch_dataset(cora, from(server.url("/x.npz")));
  EXPECT_TRUE(first.downloaded);
  EXPECT_EQ(first.path, dir_ / "cache" / "datasets" / "cora.npz");
  const Dataset loaded = load_dataset("Cora");
  EXPECT_EQ(loaded.name, "cora");
  EXPECT_EQ(loaded.graph, test::ring(6));
  EXPECT_FALSE(fetch_dataset(cora, from(server.url("/x.npz"))).downloaded);
  EXPECT_FALSE(fetch_dataset(cora).downloaded);
  EXPECT_EQ(server.requests().size(), 1U);
  FetchOptions again = from(server.url("/x.npz"));
  again.force = true;
  EXPECT_TRUE(fetch_dataset(cora, again).downloaded);
}

TEST_F(Fetch, FromAMirrorUnderTheUsualNames) {
  const HttpServer server(serving());
  FetchOptions mirror{.mirror = server.url("/m"), .no_checksum = true};
  mirror.download.insecure = true;
  fetch_dataset(*find_in_catalogue("roman-empire"), mirror);
  EXPECT_EQ(server.requests()[0].path, "/m/roman_empire.npz");
  // The catalogue knows the checksum of actor, and this is not it.
  mirror.no_checksum = false;
  EXPECT_THAT(error<ComputeError>("actor", mirror), HasSubstr("checksum is wrong"));
  EXPECT_EQ(find_locally(*find_in_catalogue("actor")), std::nullopt);
  EXPECT_TRUE(fetch_dataset(*find_in_catalogue("actor"), from(server.url("/a"))).downloaded);
}

TEST_F(Fetch, AnErrorPageIsNotTakenForData) {
  const HttpServer server([](const HttpRequest&) { return HttpReply{200, {}, "<html>", -1}; });
  EXPECT_THAT(error<ComputeError>("questions", from(server.url("/"))),
              HasSubstr("the downloaded file is not a data set"));
  EXPECT_TRUE(fs::is_empty(dir_ / "cache" / "datasets"));
}

TEST_F(Fetch, OfflineNeverAsksTheServer) {
  const HttpServer server(serving());
  EXPECT_THAT(error<InputError>("cora", {.url = server.url("/x"), .offline = true}),
              HasSubstr("offline"));
  setenv("DGAT_OFFLINE", "1", 1);
  EXPECT_THAT(error<InputError>("cora", from(server.url("/x"))), HasSubstr("offline"));
  EXPECT_TRUE(server.requests().empty());
  setenv("DGAT_OFFLINE", "0", 1);
  fetch_dataset(*find_in_catalogue("cora"), from(server.url("/x")));
  setenv("DGAT_OFFLINE", "1", 1);  // what is in the cache needs no network
  EXPECT_FALSE(fetch_dataset(*find_in_catalogue("cora")).downloaded);
}

TEST_F(Fetch, SaysWhatIsMissing) {
  EXPECT_THAT(error<InputError>("cora", {}), HasSubstr("fetch an .npz with --url or --mirror"));
  EXPECT_THAT(error<InputError>("cora", {.url = "a", .mirror = "b"}), HasSubstr("exclude"));
  EXPECT_THAT(error<InputError>("cora", {.url = "https://127.0.0.1:1/x.npz"}),
              HasSubstr("give --sha256, or accept any readable file with --no-checksum"));
  EXPECT_THAT(error<InputError>("cora", {.url = "http://127.0.0.1:1/x", .no_checksum = true}),
              HasSubstr("use https, or allow it with --insecure"));
  EXPECT_THAT(error<InputError>("cora", {.url = "a", .sha256 = "12"}), HasSubstr("64 hexadecimal"));
  try {
    load_dataset("actor");
    FAIL() << "found a data set that is not there";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("run `dgat datasets fetch actor`"));
  }
}

TEST_F(Fetch, AFolderComesFileByFileAndCountsWhenComplete) {
  const fs::path shared = test::shared_datasets();
  if (shared.empty()) GTEST_SKIP() << test::kNoDatasets;
  // A mirror laid out as the catalogue says, from the available files.
  const fs::path mirror = dir_ / "mirror" / "cornell_old";
  fs::create_directories(mirror);
  fs::copy(shared / "geom-gcn" / "new_data" / "cornell_old", mirror, fs::copy_options::recursive);
  for (int k = 0; k < 10; ++k) {
    const std::string name = "cornell_split_0.6_0.2_" + std::to_string(k) + ".npz";
    fs::copy_file(shared / "geom-gcn" / "splits" / name, mirror / name);
  }
  const CatalogueEntry& cornell = *find_in_catalogue("cornell");
  const FetchResult result =
      fetch_dataset(cornell, {.mirror = "file://" + (dir_ / "mirror").string()});
  EXPECT_EQ(result.path, dir_ / "cache" / "datasets" / "cornell_old");
  const Dataset data = load_dataset("cornell");
  EXPECT_EQ(data.splits.size(), 10U);
  for (const CatalogueCheck& check : compare_with_catalogue(data, cornell)) {
    EXPECT_TRUE(check.agrees) << check.quantity;
  }
  fs::remove(result.path / "out1_graph_edges.txt");
  EXPECT_EQ(find_locally(cornell), std::nullopt);
}

TEST_F(Fetch, FoldersOfTheUserComeFirst) {
  fs::create_directories(dir_ / "mine");
  std::ofstream(dir_ / "mine" / "cora.npz", std::ios::binary) << body_;
  setenv("DGAT_DATA", ("/nowhere::" + (dir_ / "mine").string()).c_str(), 1);
  EXPECT_EQ(find_locally(*find_in_catalogue("cora")), dir_ / "mine" / "cora.npz");
}

}  // namespace
}  // namespace dgat::data
