#include "cache_file.h"

#include <cstring>
#include <type_traits>
#include <vector>

namespace dgat::spectral {
namespace {

uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93;
  return x ^ (x >> 29);
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
  void get(bool& value) {  // other bytes than 0 and 1 are no bool
    uint8_t byte = 0;
    take(&byte, 1);
    if (byte > 1) ok_ = false;
    value = byte == 1;
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

}  // namespace

void Hash::add(uint64_t word) {
  a_ = mix((a_ ^ word) * 0x9E3779B97F4A7C15);
  b_ = mix((b_ + word) * 0xC2B2AE3D27D4EB4F);
}

void Hash::add_bytes(std::string_view bytes) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    add(word);
  }
  for (const char c : bytes) add(static_cast<unsigned char>(c));
}

std::array<uint64_t, 2> Hash::value() const {
  return {mix(a_), mix(b_)};
}

std::string sealed(std::string_view body) {
  Hash checksum;
  checksum.add_bytes(body);
  Writer head;
  for (const uint64_t word : checksum.value()) head.put(word);
  return std::string(kCacheMagic) + head.bytes() + std::string(body);
}

std::string body_of(const EigenResult& result) {
  Writer writer;
  const auto put = [&](const auto& value) { writer.put(value); };
  visit_result(put, result);
  writer.put(static_cast<uint64_t>(result.parts.size()));
  for (const ComponentSpectrum& part : result.parts) visit_part(put, part);
  return writer.bytes();
}

std::optional<EigenResult> decode(std::string_view bytes) {
  if (!bytes.starts_with(kCacheMagic)) return std::nullopt;
  bytes.remove_prefix(kCacheMagic.size());
  Reader reader(bytes);
  std::array<uint64_t, 2> stored{};
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
  return result;
}

}  // namespace dgat::spectral
