// Reading and writing npz data sets, and building large graphs within their memory.
// Run:     build/release/bin/data_bench
// Prints:  times beside error columns: entries that did not come back equal (0), and for the
//          builder the peak memory over that of the result. The edge list is counted in, because
//          a reader holds it at that moment. Goals: 1e6 nodes and 1e7 edges in 3 s on two cores,
//          under 3 times the memory of the result.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "dgat/core/random.h"
#include "dgat/data/npz_dataset.h"
#include "dgat/data/sha256.h"
#include "dgat/graph/builder.h"

namespace {

using namespace dgat;
using graph::Edge;
using graph::NodeId;

std::vector<Edge> random_edges(NodeId nodes, int64_t count) {
  Random random(1);
  std::vector<Edge> edges(static_cast<size_t>(count));
  const auto n = static_cast<uint64_t>(nodes);
  for (Edge& e : edges) {
    e = {static_cast<NodeId>(random.below(n)), static_cast<NodeId>(random.below(n))};
  }
  return edges;
}

/// A bag-of-words set: rows with about one percent of the columns filled.
data::Dataset bag_of_words(NodeId nodes, int64_t words, int64_t edges) {
  Random random(2);
  data::Dataset set;
  set.graph = graph::build_graph(nodes, random_edges(nodes, edges)).graph;
  set.labels.assign(static_cast<size_t>(nodes), 0);
  set.classes = 1;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> columns;
  for (NodeId i = 0; i < nodes; ++i) {
    for (int64_t c = 0; c < words; ++c) {
      if (random.below(100) == 0) columns.push_back(static_cast<int32_t>(c));
    }
    offsets.push_back(static_cast<int64_t>(columns.size()));
  }
  std::vector<float> ones(columns.size(), 1.0F);
  set.features = data::Features::sparse(nodes, words, offsets, columns, std::move(ones));
  return set;
}

class TemporaryFile {
 public:
  TemporaryFile() : path_(std::filesystem::temp_directory_path() / "dgat-data-bench.npz") {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void read_npz(benchmark::State& state) {
  const TemporaryFile file;
  const auto set =
      bag_of_words(static_cast<NodeId>(state.range(0)), state.range(1), state.range(2));
  data::write_npz(set, file.path());
  data::Dataset back;
  for (auto _ : state) back = data::read_npz(file.path(), {});
  state.counters["wrong"] =
      (back.graph == set.graph ? 0 : 1) + (back.features == set.features ? 0 : 1);
  state.counters["file_MB"] = static_cast<double>(std::filesystem::file_size(file.path())) / 1e6;
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(read_npz)
    ->Args({18660, 4735, 790777})  // the size of fb100_cornell5
    ->Args({10000, 500, 1000000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void write_npz(benchmark::State& state) {
  const TemporaryFile file;
  const auto set =
      bag_of_words(static_cast<NodeId>(state.range(0)), state.range(1), state.range(2));
  for (auto _ : state) data::write_npz(set, file.path());
  state.counters["wrong"] = data::read_npz(file.path(), {}).features == set.features ? 0 : 1;
}
BENCHMARK(write_npz)->Args({18660, 4735, 790777})->Unit(benchmark::kMillisecond)->UseRealTime();

void sha256(benchmark::State& state) {
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    data::Sha256 hash;
    hash.update(bytes);
    benchmark::DoNotOptimize(hash.finish());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sha256)->Arg(16)->Arg(1 << 26);

/// A line of /proc/self/status in bytes, 0 where there is none.
int64_t memory(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes = 0;
    if (word == key && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

void build_graph_memory(benchmark::State& state) {
  const auto nodes = static_cast<NodeId>(state.range(0));
  const int64_t count = state.range(1);
  for (auto _ : state) {
    const int64_t before = memory("VmRSS:");
    const auto edges = random_edges(nodes, count);
    std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
    const auto start = std::chrono::steady_clock::now();
    const graph::BuildResult built = graph::build_graph(nodes, edges);
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    const auto result = static_cast<double>(built.graph.offsets().size_bytes() +
                                            built.graph.targets().size_bytes());
    state.counters["peak_over_result"] = static_cast<double>(memory("VmHWM:") - before) / result;
    state.counters["result_MB"] = result / 1e6;
    state.counters["lost_edges"] =
        static_cast<double>(count - built.graph.edges() - built.self_loops - built.duplicates);
  }
}
BENCHMARK(build_graph_memory)
    ->Args({1000000, 10000000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3)
    ->UseManualTime();

}  // namespace
