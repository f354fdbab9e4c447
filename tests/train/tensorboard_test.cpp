#include "dgat/train/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dgat/core/files.h"
#include "support/temp_dir.h"

namespace dgat::train {
namespace {

/// The definition, bit by bit.
uint32_t slow_crc32c(const std::string& bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78 : crc >> 1;
  }
  return ~crc;
}

template <class T>
T take(std::string& bytes) {
  T value{};
  EXPECT_GE(bytes.size(), sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);  // x86: little-endian
  bytes.erase(0, sizeof value);
  return value;
}

uint64_t take_varint(std::string& bytes) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = take<uint8_t>(bytes);
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
}

std::string take_text(std::string& bytes, uint64_t size) {
  std::string text = bytes.substr(0, size);
  EXPECT_EQ(text.size(), size);
  bytes.erase(0, size);
  return text;
}

/// The records of a file, with both checksums verified.
std::vector<std::string> records_of(std::string file) {
  const auto unmasked = [](uint32_t masked) {
    const uint32_t rotated = masked - 0xA282EAD8;
    return (rotated >> 17) | (rotated << 15);
  };
  std::vector<std::string> records;
  while (!file.empty()) {
    const std::string length = file.substr(0, 8);
    const auto size = take<uint64_t>(file);
    EXPECT_EQ(unmasked(take<uint32_t>(file)), slow_crc32c(length));
    records.push_back(take_text(file, size));
    EXPECT_EQ(unmasked(take<uint32_t>(file)), slow_crc32c(records.back()));
  }
  return records;
}

struct Event {
  double wall_time = 0;
  uint64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
};

Event decode(std::string bytes) {
  Event event;
  while (!bytes.empty()) {
    const uint64_t key = take_varint(bytes);
    if (key == (1 << 3 | 1)) {
      event.wall_time = take<double>(bytes);
    } else if (key == (2 << 3 | 0)) {
      event.step = take_varint(bytes);
    } else if (key == (3 << 3 | 2)) {
      event.version = take_text(bytes, take_varint(bytes));
    } else if (key == (5 << 3 | 2)) {
      std::string summary = take_text(bytes, take_varint(bytes));
      while (!summary.empty()) {
        EXPECT_EQ(take_varint(summary), 1U << 3 | 2);
        std::string value = take_text(summary, take_varint(summary));
        EXPECT_EQ(take_varint(value), 1U << 3 | 2);
        const std::string tag = take_text(value, take_varint(value));
        EXPECT_EQ(take_varint(value), 2U << 3 | 5);
        event.scalars[tag] = take<float>(value);
        EXPECT_TRUE(value.empty());
      }
    } else {
      ADD_FAILURE() << "unexpected field " << key;
      return event;
    }
  }
  return event;
}

TEST(Tensorboard, ChecksumsAreThoseOfRfc3720) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Tensorboard, EventFilesDecodeToWhatWasWritten) {
  const test::TempDir folder;
  TensorboardLog log(folder / "tb");
  log.write(2, 0, {.step = 1, .loss = 1.5, .train = 0.25, .val = 0.5, .test = 0.75});
  log.write(2, 1, {.step = 1, .loss = 9, .train = 0, .val = 0, .test = 0});
  log.write(2, 0, {.step = 300, .loss = 0.125, .train = 1, .val = NAN, .test = 0.5});
  log.flush();
  const auto records =
      records_of(read_whole_file(folder / "tb" / "layers-2-split-0" / "events.out.tfevents.dgat"));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(decode(records[0]).version, "brain.Event:2");
  EXPECT_GT(decode(records[0]).wall_time, 1.6e9);
  const Event first = decode(records[1]), second = decode(records[2]);
  EXPECT_EQ(first.step, 1U);
  EXPECT_EQ(first.scalars, (std::map<std::string, float>{
                               {"loss", 1.5F}, {"train", 0.25F}, {"val", 0.5F}, {"test", 0.75F}}));
  EXPECT_EQ(second.step, 300U) << "two bytes as a varint";
  EXPECT_EQ(second.scalars,
            (std::map<std::string, float>{{"loss", 0.125F}, {"train", 1.0F}, {"test", 0.5F}}));
  TensorboardLog::remove(folder / "tb");
  EXPECT_FALSE(std::filesystem::exists(folder / "tb"));
}

}  // namespace
}  // namespace dgat::train
