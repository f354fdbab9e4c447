#include "dgat/spectral/cache.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <system_error>
#include <utility>

#include "cache_check.h"
#include "cache_file.h"
#include "dgat/core/cache_dir.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/progress.h"

namespace dgat::spectral {
namespace fs = std::filesystem;

namespace {

std::string key_of(const graph::CsrGraph& graph, const EigenOptions& options) {
  Hash hash;
  hash.add_bytes(kCacheMagic);  // what another version left is not damaged, and not looked at
  for (const uint64_t word : hash_graph(graph)) hash.add(word);
  if (options.formula == Formula::kAuthors)
    hash.add_bytes(fmt::format("authors {:a}", options.alpha));
  hash.add_bytes(fmt::format("{:a} {} {} {} {:a} {:a} {:a} {} {} {}", options.gamma, options.k,
                             to_string(options.components), to_string(options.solver),
                             options.tolerance, options.accept, options.gap_tolerance,
                             options.factor_bytes, options.seed, options.work_limit));
  const auto [high, low] = hash.value();
  return fmt::format("{:016x}{:016x}", high, low);
}

/// More than a file of such a result ever takes: nothing larger is read.
uintmax_t most_bytes(const graph::CsrGraph& graph, const EigenOptions& options) {
  const auto n = static_cast<uintmax_t>(graph.nodes()), k = static_cast<uintmax_t>(options.k);
  return 4096 + 8 * (n * k + 2 * n) + (n / 2 + 1) * (128 + 40 * k);
}

std::optional<EigenResult> load(const fs::path& file, const graph::CsrGraph& graph,
                                const EigenOptions& options) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  std::string wrong = "it is damaged";
  try {
    std::optional<EigenResult> result;
    if (fs::file_size(file, ignored) <= most_bytes(graph, options)) {
      result = decode(read_whole_file(file));
    }
    if (result) wrong = what_is_wrong(*result, graph, options);
    if (wrong.empty()) {
      result->solver = result->parts.empty() ? "none" : to_string(result->parts.front().solver);
      return result;
    }
  } catch (const InputError&) {
    return std::nullopt;  // removed or unreadable meanwhile: solve
  }
  notice(fmt::format("spectral cache: {}: {}; solving again", file.string(), wrong));
  return std::nullopt;
}

/// Only the user reads and writes the folder and its files.
void store(const fs::path& file, const EigenResult& result) {
  try {
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    fs::permissions(file.parent_path(), fs::perms::owner_all, ignored);
    write_atomically(file, [&](std::ostream& out) {
      const std::string bytes = sealed(body_of(result));
      out.write(bytes.data(), std::ssize(bytes));
    });
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, ignored);
  } catch (const Error& error) {
    notice(fmt::format("spectral cache: not stored: {}", error.what()));
  }
}

}  // namespace

GraphHash hash_graph(const graph::CsrGraph& graph) {
  Hash hash;
  hash.add(static_cast<uint64_t>(graph.nodes()));
  hash.add(graph.directed() ? 1 : 0);
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
    hash.add(static_cast<uint64_t>(graph.degree(i)));
    for (const graph::NodeId j : graph.neighbors(i)) hash.add(static_cast<uint64_t>(j));
  }
  for (const float weight : graph.weights()) hash.add(std::bit_cast<uint32_t>(weight));
  return hash.value();
}

std::shared_ptr<const EigenResult> SpectralCache::solve(const graph::CsrGraph& graph,
                                                        const EigenOptions& options) {
  const std::string key = key_of(graph, options);
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& slot = entries_[key];
    if (!slot) slot = std::make_shared<Entry>();
    entry = slot;
  }
  const std::lock_guard lock(entry->mutex);
  if (entry->result) return entry->result;
  // Files are for the paper's operator, whose residuals are recomputed when one is read.
  const bool files = !folder_.empty() && options.formula == Formula::kPaper;
  const fs::path file = files ? folder_ / (key + ".bin") : fs::path();
  std::optional<EigenResult> known = file.empty() ? std::nullopt : load(file, graph, options);
  const bool solved_now = !known.has_value();
  if (solved_now) known = solve_spectrum(graph, options);
  auto result = std::make_shared<const EigenResult>(std::move(*known));
  if (!result->converged) return result;
  if (solved_now && !file.empty()) store(file, *result);
  entry->result = result;
  return result;
}

fs::path default_cache_folder() {
  return cache_dir() / "spectral";
}

}  // namespace dgat::spectral
