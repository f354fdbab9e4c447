#include "dgat/spectral/cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <thread>

#include "dgat/core/files.h"
#include "spectral/cache_file.h"
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
  std::ofstream(folder / "file") << "a file";
  SpectralCache cache(folder / "file");
  EXPECT_TRUE(cache.solve(kGraph)->converged);
}

TEST(SpectralCache, DoesNotKeepWhatDidNotConverge) {
  const dgat::test::TempDir folder;
  SpectralCache cache(folder / "c");
  const EigenOptions impossible{.k = 2, .tolerance = 1e-30, .accept = 1e-30, .work_limit = 1000};
  EXPECT_FALSE(cache.solve(kGraph, impossible)->converged);
  EXPECT_TRUE(files_in(folder / "c").empty());
}

TEST(SpectralCache, KeepsItsFilesToTheUser) {
  const dgat::test::TempDir folder;
  SpectralCache(folder / "c").solve(kGraph);
  const auto mode = [](const fs::path& path) { return fs::status(path).permissions(); };
  EXPECT_EQ(mode(folder / "c"), fs::perms::owner_all);
  EXPECT_EQ(mode(files_in(folder / "c").at(0)), fs::perms::owner_read | fs::perms::owner_write);
}

/// A result with one thing changed.
struct Forgery {
  const char* what;
  std::function<void(EigenResult&)> change;
};

class ForgedFile : public ::testing::TestWithParam<ComponentPolicy> {};

TEST_P(ForgedFile, WithTheRightChecksumIsSolvedAgain) {
  const std::vector<Forgery> forgeries = {
      {"nodes", [](EigenResult& r) { r.nodes += 1; }},
      {"k", [](EigenResult& r) { r.k = 1000; }},
      {"gamma", [](EigenResult& r) { r.gamma = 0.5; }},
      {"policy", [](EigenResult& r) { r.policy = static_cast<ComponentPolicy>(77); }},
      {"vectors short", [](EigenResult& r) { r.vectors.pop_back(); }},
      {"vectors empty", [](EigenResult& r) { r.vectors.clear(); }},
      {"mass short", [](EigenResult& r) { r.mass.resize(3); }},
      {"mass", [](EigenResult& r) { r.mass[0] = 100; }},
      {"components short", [](EigenResult& r) { r.component_of.clear(); }},
      {"component out of range", [](EigenResult& r) { r.component_of[5] = 1 << 30; }},
      {"component negative", [](EigenResult& r) { r.component_of[5] = -1; }},
      {"component count", [](EigenResult& r) { r.components = 1 << 30; }},
      {"isolated", [](EigenResult& r) { r.isolated = 5; }},
      {"no parts", [](EigenResult& r) { r.parts.clear(); }},
      {"more parts", [](EigenResult& r) { r.parts.push_back(r.parts[0]); }},
      {"part of another component", [](EigenResult& r) { r.parts[0].component = 7; }},
      {"part size", [](EigenResult& r) { r.parts[0].nodes = 3; }},
      {"part list", [](EigenResult& r) { r.parts[0].gaps.clear(); }},
      {"part multiplicity", [](EigenResult& r) { r.parts[0].multiplicity[0] = -4; }},
      {"solver", [](EigenResult& r) { r.parts[0].solver = static_cast<Solver>(99); }},
      {"eigenvalues short", [](EigenResult& r) { r.eigenvalues.pop_back(); }},
      {"residuals", [](EigenResult& r) { r.residuals.assign(2, 0.0); }},
      {"multiplicity", [](EigenResult& r) { r.multiplicity[0] = 1 << 20; }},
      {"not a number", [](EigenResult& r) { r.vectors[0] = std::nan(""); }},
      {"not converged", [](EigenResult& r) { r.converged = false; }},
      {"sign",
       [](EigenResult& r) {
         for (double& x : r.vectors) x = -x;
       }},
      {"norm",
       [](EigenResult& r) {
         for (double& x : r.vectors) x *= 2;
       }},
      {"another vector", [](EigenResult& r) { r.vectors[20] += 1e-4; }},
      {"zeros", [](EigenResult& r) { std::ranges::fill(r.vectors, 0.0); }},
      {"the same vector twice",
       [](EigenResult& r) {
         std::copy_n(r.vectors.begin(), r.nodes, r.vectors.begin() + r.nodes);
         for (ComponentSpectrum& part : r.parts) part.eigenvalues[1] = part.eigenvalues[0];
         r.eigenvalues[1] = r.eigenvalues[0];
       }},
      {"another eigenvalue",
       [](EigenResult& r) {
         for (ComponentSpectrum& part : r.parts) part.eigenvalues[0] *= 0.9;
         r.eigenvalues[0] *= 0.9;
       }},
  };
  const EigenOptions options{.gamma = 0.3, .k = 2, .components = GetParam()};
  const dgat::test::TempDir folder;
  const auto honest = SpectralCache(folder.path()).solve(kGraph, options);
  const fs::path file = files_in(folder.path()).at(0);
  const std::string whole = read_whole_file(file);
  ASSERT_EQ(whole, sealed(body_of(*honest)));
  const std::string name = file.filename().string();
  for (const Forgery& forgery : forgeries) {
    EigenResult forged = *honest;
    forgery.change(forged);
    forged.seconds = 12345;           // tells a file that was believed
    const dgat::test::TempDir other;  // equal notices are given once
    std::ofstream(other / name, std::ios::binary) << sealed(body_of(forged));
    ::testing::internal::CaptureStderr();
    const auto again = SpectralCache(other.path()).solve(kGraph, options);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(again->seconds, 12345) << forgery.what;
    EXPECT_EQ(again->vectors, honest->vectors) << forgery.what;
    EXPECT_NE(said.find("; solving again"), std::string::npos) << forgery.what << ": " << said;
  }
  EigenResult believed = *honest;
  believed.seconds = 12345;
  std::ofstream(file, std::ios::binary | std::ios::trunc) << sealed(body_of(believed));
  EXPECT_EQ(SpectralCache(folder.path()).solve(kGraph, options)->seconds, 12345)
      << "nothing is wrong with this one";
}

INSTANTIATE_TEST_SUITE_P(Policies, ForgedFile,
                         ::testing::Values(ComponentPolicy::kEach, ComponentPolicy::kFirst,
                                           ComponentPolicy::kLargest),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(SpectralCache, ReadsNoFileThatIsFarTooLarge) {
  const dgat::test::TempDir folder;
  const auto honest = SpectralCache(folder.path()).solve(kGraph);
  const fs::path file = files_in(folder.path()).at(0);
  fs::resize_file(file, uintmax_t{1} << 40);  // a sparse file of a terabyte
  EXPECT_EQ(SpectralCache(folder.path()).solve(kGraph)->vectors, honest->vectors);
  EXPECT_LT(fs::file_size(file), 1 << 20);
}

TEST(CacheFile, RefusesAByteThatIsNoBool) {
  const EigenResult result = solve_spectrum(dgat::test::ring(12));
  const std::string body = body_of(result);
  ASSERT_TRUE(decode(sealed(body)).has_value());
  std::string forged = body;
  forged.back() = 2;  // `converged` of the last part
  EXPECT_FALSE(decode(sealed(forged)).has_value());
}

}  // namespace
}  // namespace dgat::spectral
