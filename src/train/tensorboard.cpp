#include "dgat/train/tensorboard.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/train/tfrecord.h"

namespace dgat::train {
namespace fs = std::filesystem;
namespace {

constexpr const char* kEventFile = "events.out.tfevents.dgat";

constexpr std::array<uint32_t, 256> crc_table() {
  constexpr uint32_t kPolynomial = 0x82F63B78;
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

template <class Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

std::string masked_crc(std::string_view bytes) {
  constexpr uint32_t kDelta = 0xA282EAD8;
  return little_endian<uint32_t>(std::rotr(crc32c(bytes), 15) + kDelta);
}

// The protobuf wire format: a field is (number << 3 | type), then its value.
enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string field(uint64_t number, Wire type, std::string_view value) {
  std::string bytes = varint(number << 3 | static_cast<uint64_t>(type));
  if (type == Wire::kBytes) bytes += varint(value.size());
  return bytes.append(value);
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// tensorflow.Event: wall_time = 1, step = 2, file_version = 3, summary = 5.
std::string event(int64_t step, uint64_t what, std::string_view value) {
  return field(1, Wire::kFixed64, little_endian(std::bit_cast<uint64_t>(seconds_since_1970()))) +
         field(2, Wire::kVarint, varint(static_cast<uint64_t>(step))) +
         field(what, Wire::kBytes, value);
}

/// tensorflow.Summary: value = 1, with tag = 1 and simple_value = 2.
std::string scalars(const StepRecord& record) {
  std::string summary;
  for (const auto& [tag, value] : {std::pair{"loss", record.loss}, std::pair{"train", record.train},
                                   std::pair{"val", record.val}, std::pair{"test", record.test}}) {
    if (!std::isfinite(value)) continue;
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    summary += field(1, Wire::kBytes,
                     field(1, Wire::kBytes, tag) + field(2, Wire::kFixed32, little_endian(bits)));
  }
  return summary;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~crc;
}

std::string tfrecord(std::string_view data) {
  const std::string length = little_endian<uint64_t>(data.size());
  std::string record = length + masked_crc(length);
  return record.append(data) + masked_crc(data);
}

void check_events(const fs::path& path) {
  const std::string text = read_whole_file(path);
  constexpr size_t kHead = sizeof(uint64_t) + sizeof(uint32_t), kTail = sizeof(uint32_t);
  for (size_t at = 0; at < text.size();) {
    uint64_t length = 0;
    const std::string_view rest = std::string_view(text).substr(at);
    for (size_t i = 0; i < sizeof length && i < rest.size(); ++i) {
      length |= uint64_t{static_cast<uint8_t>(rest[i])} << (8 * i);
    }
    if (rest.size() < kHead + kTail || length > rest.size() - kHead - kTail) {
      throw_input("{}: the record at byte {} is cut off", path.string(), at);
    }
    const size_t size = kHead + static_cast<size_t>(length) + kTail;
    if (rest.substr(0, size) != tfrecord(rest.substr(kHead, static_cast<size_t>(length)))) {
      throw_input("{}: the checksum of the record at byte {} does not agree", path.string(), at);
    }
    at += size;
  }
}

void TensorboardLog::write(int64_t layers, int64_t split, const StepRecord& record) {
  auto [at, is_new] = files_.try_emplace({layers, split});
  std::ofstream& file = at->second;
  if (is_new) {
    const fs::path trial = folder_ / fmt::format("layers-{}-split-{}", layers, split);
    std::error_code error;
    fs::create_directories(trial, error);
    file.open(trial / kEventFile, std::ios::binary);
    if (!file) throw_input("{}: cannot be written", (trial / kEventFile).string());
    file << tfrecord(event(0, 3, "brain.Event:2"));
  }
  file << tfrecord(event(record.step, 5, scalars(record)));
}

void TensorboardLog::flush() {
  for (auto& [trial, file] : files_) {
    file.flush();
    if (!file) throw_compute("{}: writing failed; is the disk full?", folder_.string());
  }
}

void TensorboardLog::remove(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> trials;
  for (const auto& entry : fs::directory_iterator(folder, error)) trials.push_back(entry.path());
  for (const fs::path& trial : trials) {
    fs::remove(trial / kEventFile, error);
    fs::remove(trial, error);  // only when empty
  }
  fs::remove(folder, error);
}

}  // namespace dgat::train
