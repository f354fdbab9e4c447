#include "dgat/train/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "dgat/core/error.h"

namespace dgat::train {
namespace {
using testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& body) {
  const uint64_t size = header.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes + header + body;
}

std::string example() {
  const std::vector<float> a = {1, -2, 3.5F, 4, 5, 6}, b = {7};
  const std::vector<TensorView> tensors = {{"layers.0.lin.weight", {2, 3}, a}, {"step", {}, b}};
  std::ostringstream out;
  write_safetensors(out, tensors, {{"model", "dgat"}, {"quote", "\"\\\n"}});
  return out.str();
}

TEST(SafeTensors, RoundTrip) {
  const SafeTensors file = parse_safetensors(example(), "x");
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].name, "layers.0.lin.weight");
  EXPECT_EQ(file.tensors[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(file.tensors[0].values, (std::vector<float>{1, -2, 3.5F, 4, 5, 6}));
  ASSERT_NE(file.find("step"), nullptr);
  EXPECT_EQ(file.find("step")->values, std::vector<float>{7});
  EXPECT_EQ(file.find("stop"), nullptr);
  EXPECT_EQ(file.metadata.at("quote"), "\"\\\n");
}

TEST(SafeTensors, TensorsBeginOnAMultipleOfEightBytes) {
  const std::string bytes = example();
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header % 8, 0U);
}

TEST(SafeTensors, HalfBfloatAndDoubleBecomeFloat) {
  const std::string header = R"({"h":{"dtype":"F16","shape":[6],"data_offsets":[0,12]},)"
                             R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[12,14]},)"
                             R"("d":{"dtype":"F64","shape":[1],"data_offsets":[14,22]}})";
  // 1, -2, 65504 (largest half), 2^-24 (smallest subnormal), -0, infinity
  const uint16_t half[] = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x8000, 0x7C00}, brain = 0xC0A0;
  const double wide = 0.1;
  std::string body(22, '\0');
  std::memcpy(body.data(), half, 12);
  std::memcpy(body.data() + 12, &brain, 2);
  std::memcpy(body.data() + 14, &wide, 8);
  const SafeTensors file = parse_safetensors(file_of(header, body), "x");
  const auto& h = file.find("h")->values;
  EXPECT_EQ(h[0], 1);
  EXPECT_EQ(h[1], -2);
  EXPECT_EQ(h[2], 65504);
  EXPECT_EQ(h[3], 0x1.0p-24F);
  EXPECT_TRUE(h[4] == 0 && std::signbit(h[4]));
  EXPECT_TRUE(std::isinf(h[5]));
  EXPECT_EQ(file.find("b")->values[0], -5);
  EXPECT_EQ(file.find("d")->values[0], 0.1F);
}

TEST(SafeTensors, EveryTruncationIsRefused) {
  const std::string bytes = example();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_safetensors(std::string_view(bytes).substr(0, size), "cut"), InputError)
        << size;
  }
  EXPECT_THROW(parse_safetensors(bytes + "x", "long"), InputError);
}

TEST(SafeTensors, EveryFlippedBitIsRefused) {
  const std::string bytes = example();
  const std::string key = "dgat.sha256";  // without it, the file is one of another program
  const size_t first = bytes.find(key);
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at >= first && at < first + key.size()) continue;
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_THROW(parse_safetensors(flipped, "flipped"), InputError) << at;
  }
}

TEST(SafeTensors, FilesOfOtherProgramsNeedNoChecksum) {
  const std::string text = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  EXPECT_EQ(parse_safetensors(file_of(text, "1234"), "x").tensors.size(), 1U);
}

TEST(SafeTensors, HostileHeadersAreRefusedWithTheReason) {
  const auto message = [](const std::string& bytes) -> std::string {
    try {
      parse_safetensors(bytes, "w.safetensors");
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  std::string huge(16, '\xFF');
  EXPECT_THAT(message(huge), HasSubstr("w.safetensors: the header states"));
  EXPECT_THAT(message(file_of("[1]", "")), HasSubstr("not a JSON object"));
  EXPECT_THAT(
      message(file_of(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", "12345678")),
      HasSubstr("dtype I64"));
  EXPECT_THAT(
      message(file_of(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234")),
      HasSubstr("damaged"));
  // 2^62 * 4 wraps to 0 bytes
  EXPECT_THAT(
      message(file_of(R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})",
                      "")),
      HasSubstr("do not fill"));
  EXPECT_THAT(
      message(file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "12345678")),
      HasSubstr("expected to begin at 0"));
  EXPECT_THAT(message(file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                              R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                              "1234")),
              HasSubstr("expected to begin at 4"));
  EXPECT_THAT(message(file_of(R"({"__metadata__":{"a":1}})", "")), HasSubstr("not text"));
}

}  // namespace
}  // namespace dgat::train
