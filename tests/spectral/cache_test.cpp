#include "dgat/spectral/cache.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "dgat/core/files.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

namespace fs = std::filesystem;
using graph::CsrGraph;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

void expect_same(const EigenResult& a, const EigenResult& b) {
  EXPECT_EQ(a.eigenvalues, b.eigenvalues);
  EXPECT_EQ(a.vectors, b.vectors);
  EXPECT_EQ(a.phi(0.2), b.phi(0.2));
  EXPECT_EQ(a.solver, b.solver);
  EXPECT_EQ(a.parts.size(), b.parts.size());
  EXPECT_EQ(a.multiplicity, b.multiplicity);
}

const CsrGraph kGraph = dgat::test::disjoint_union(dgat::test::grid(13, 14), dgat::test::star(5));

TEST(GraphHash, TellsGraphsApart) {
  const GraphHash ring = hash_graph(dgat::test::ring(10));
  EXPECT_EQ(ring, hash_graph(dgat::test::ring(10)));
  EXPECT_NE(ring, hash_graph(dgat::test::path(10)));
  EXPECT_NE(ring, hash_graph(dgat::test::ring(11)));
  EXPECT_NE(hash_graph(dgat::test::path(10)),
            hash_graph(dgat::test::disjoint_union(dgat::test::path(5), dgat::test::path(5))));
}

TEST(SpectralCache, SolvesOnceForEveryAlpha) {
  SpectralCache cache;
  const auto first = cache.solve(kGraph, {.gamma = 0.3});
  EXPECT_EQ(cache.solve(kGraph, {.gamma = 0.3}), first) << "the very same object";
  EXPECT_NE(cache.solve(kGraph, {.gamma = 0.4}), first);
  EXPECT_NE(cache.solve(kGraph, {.gamma = 0.3, .k = 2}), first);
  EXPECT_NE(cache.solve(kGraph, {.gamma = 0.3, .components = ComponentPolicy::kFirst}), first);
}

TEST(SpectralCache, GivesAnotherProcessTheSameBits) {
  const dgat::test::TempDir folder;
  const auto written = SpectralCache(folder / "spectral").solve(kGraph, {.gamma = 0.3, .k = 2});
  ASSERT_EQ(files_in(folder / "spectral").size(), 1);
  const auto read = SpectralCache(folder / "spectral").solve(kGraph, {.gamma = 0.3, .k = 2});
  EXPECT_EQ(read->seconds, written->seconds) << "read, not solved again";
  expect_same(*read, *written);
}

TEST(SpectralCache, ReplacesDamagedFiles) {
  const dgat::test::TempDir folder;
  const auto written = SpectralCache(folder.path()).solve(kGraph);
  const fs::path file = files_in(folder.path()).at(0);
  const std::string whole = read_whole_file(file);
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  for (const std::string& damaged : {std::string(), std::string("not a spectrum"),
                                     whole.substr(0, 20), whole.substr(0, whole.size() / 2),
                                     whole.substr(0, whole.size() - 1), whole + "x", flipped}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    const auto again = SpectralCache(folder.path()).solve(kGraph);
    EXPECT_EQ(again->vectors, written->vectors);
    EXPECT_EQ(read_whole_file(file).size(), whole.size()) << "repaired";
  }
}

TEST(SpectralCache, TakesManyWritersAtOnce) {
  const dgat::test::TempDir folder;
  SpectralCache shared(folder / "c");
  std::vector<std::shared_ptr<const EigenResult>> results(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0) {
        results[i] = shared.solve(kGraph);
      } else {
        results[i] = SpectralCache(folder / "c").solve(kGraph);  // as another process would
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) expect_same(*result, *results[0]);
  EXPECT_EQ(results[0], results[2]) << "one solve inside a process";
  EXPECT_EQ(files_in(folder / "c").size(), 1) << "no temporary files are left";
}

TEST(SpectralCache, AnUnwritableFolderCostsNothingButTheFile) {
  const dgat::test::TempDir folder;
  std::ofstream(folder / "file") << "in the way";
  SpectralCache cache(folder / "file");
  EXPECT_TRUE(cache.solve(kGraph)->converged);
}

TEST(SpectralCache, DoesNotKeepWhatDidNotConverge) {
  const dgat::test::TempDir folder;
  SpectralCache cache(folder / "c");
  const EigenOptions impossible{.tolerance = 1e-30, .accept = 1e-30};
  EXPECT_FALSE(cache.solve(kGraph, impossible)->converged);
  EXPECT_TRUE(files_in(folder / "c").empty());
}

}  // namespace
}  // namespace dgat::spectral
