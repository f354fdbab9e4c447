#include "dgat/spectral/cache.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "dgat/core/cache_dir.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/progress.h"

namespace dgat::spectral {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "dgat spectrum 2\n";  // changes with layout and meaning

/// Two independent multiply-xor hashes over 64-bit words.
class Hash {
 public:
  void add(uint64_t word) {
    a_ = mix((a_ ^ word) * 0x9E3779B97F4A7C15);
    b_ = mix((b_ + word) * 0xC2B2AE3D27D4EB4F);
  }
  void add_bytes(std::string_view bytes) {
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      add(word);
    }
    for (const char c : bytes) add(static_cast<unsigned char>(c));
  }
  GraphHash value() const { return {mix(a_), mix(b_)}; }

 private:
  static uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93;
    return x ^ (x >> 29);
  }
  uint64_t a_ = 0x243F6A8885A308D3, b_ = 0x13198A2E03707344;
};

std::string key_of(const graph::CsrGraph& graph, const EigenOptions& options) {
  Hash hash;
  hash.add_bytes(kMagic);  // what another version left is not damaged, and not looked at
  for (const uint64_t word : hash_graph(graph)) hash.add(word);
  hash.add_bytes(fmt::format("{:a} {} {} {} {:a} {:a} {:a} {} {}", options.gamma, options.k,
                             to_string(options.components), to_string(options.solver),
                             options.tolerance, options.accept, options.gap_tolerance,
                             options.factor_bytes, options.seed));
  const auto [high, low] = hash.value();
  return fmt::format("{:016x}{:016x}", high, low);
}

/// Values as their bytes, vectors with their length before them.
class Writer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The counterpart; runs dry (ok() false) instead of reading past the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }
  template <class T>
  void get(T& value) {
    take(&value, 1);
  }
  template <class T>
  void get(std::vector<T>& values) {
    uint64_t size = 0;
    get(size);
    if (size > bytes_.size() / sizeof(T)) ok_ = false;
    if (!ok_) return;
    values.resize(size);
    take(values.data(), size);
  }

 private:
  template <class T>
  void take(T* to, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const size_t size = count * sizeof(T);
    if (!ok_ || size > bytes_.size()) {
      ok_ = false;
      return;
    }
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  std::string_view bytes_;
  bool ok_ = true;
};

/// One list of fields serves both directions.
template <class Stream, class Part>
void visit_part(Stream&& each, Part& part) {
  each(part.component);
  each(part.nodes);
  each(part.eigenvalues);
  each(part.residuals);
  each(part.gaps);
  each(part.angle_bounds);
  each(part.multiplicity);
  each(part.solver);
  each(part.iterations);
  each(part.certified);
  each(part.converged);
}
template <class Stream, class Result>
void visit_result(Stream&& each, Result& result) {
  each(result.nodes);
  each(result.k);
  each(result.gamma);
  each(result.policy);
  each(result.eigenvalues);
  each(result.residuals);
  each(result.gaps);
  each(result.angle_bounds);
  each(result.multiplicity);
  each(result.vectors);
  each(result.iterations);
  each(result.seconds);
  each(result.converged);
  each(result.components);
  each(result.isolated);
  each(result.mass);
  each(result.component_of);
}

std::string encode(const EigenResult& result) {
  Writer writer;
  const auto put = [&](const auto& value) { writer.put(value); };
  visit_result(put, result);
  writer.put(static_cast<uint64_t>(result.parts.size()));
  for (const ComponentSpectrum& part : result.parts) visit_part(put, part);
  Hash checksum;
  checksum.add_bytes(writer.bytes());
  Writer file;
  for (const uint64_t word : checksum.value()) file.put(word);
  return std::string(kMagic) + file.bytes() + writer.bytes();
}

std::optional<EigenResult> decode(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  bytes.remove_prefix(kMagic.size());
  Reader reader(bytes);
  GraphHash stored{};
  for (uint64_t& word : stored) reader.get(word);
  if (!reader.ok()) return std::nullopt;
  Hash checksum;
  checksum.add_bytes(bytes.substr(sizeof stored));
  if (checksum.value() != stored) return std::nullopt;
  EigenResult result;
  const auto get = [&](auto& value) { reader.get(value); };
  visit_result(get, result);
  uint64_t parts = 0;
  reader.get(parts);
  for (uint64_t p = 0; p < parts && reader.ok(); ++p) {
    visit_part(get, result.parts.emplace_back());
  }
  if (!reader.at_end()) return std::nullopt;
  result.solver = result.parts.empty() ? "none" : to_string(result.parts.front().solver);
  return result;
}

std::optional<EigenResult> load(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  std::optional<EigenResult> result;
  try {
    result = decode(read_whole_file(file));
  } catch (const InputError&) {
    return std::nullopt;  // removed or unreadable meanwhile: solve
  }
  if (!result) notice(fmt::format("spectral cache: {} is damaged, solving anew", file.string()));
  return result;
}

void store(const fs::path& file, const EigenResult& result) {
  try {
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    write_atomically(file, [&](std::ostream& out) {
      const std::string bytes = encode(result);
      out.write(bytes.data(), std::ssize(bytes));
    });
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
  const fs::path file = folder_.empty() ? fs::path() : folder_ / (key + ".bin");
  std::optional<EigenResult> known = file.empty() ? std::nullopt : load(file);
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
