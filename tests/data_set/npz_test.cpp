#include "dgat/data/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/random.h"
#include "support/npz_arrays.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

using test::stored_bytes;
using testing::HasSubstr;

constexpr DType kAllTypes[] = {DType::kBool,   DType::kInt8,    DType::kInt16,   DType::kInt32,
                               DType::kInt64,  DType::kUInt8,   DType::kUInt16,  DType::kUInt32,
                               DType::kUInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64};

/// Removed first: truncating a file makes some file systems flush it, which takes milliseconds.
void overwrite(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Npz, EveryTypeByteOrderAndLayoutHoldsTheSameNumbers) {
  const test::TempDir folder;
  const std::vector<double> values{0, 1, 1, 0, 0, 1};  // what a bool can hold, too
  for (const int level : {0, 6}) {
    std::map<std::string, ArrayInfo> arrays;
    for (const DType dtype : kAllTypes) {
      for (const bool fortran_order : {false, true}) {
        for (const bool big_endian : {false, true}) {
          const std::string key = std::string(name_of(dtype)) + (fortran_order ? "_fortran" : "") +
                                  (big_endian ? "_big" : "");
          arrays[key] = {dtype, {2, 3}, fortran_order, big_endian};
        }
      }
    }
    NpzWriter out(folder / "a.npz", {.level = level});
    for (const auto& [key, info] : arrays) {
      out.begin(key, info);
      out.append(stored_bytes(info, values));
      out.end();
    }
    out.finish();
    const NpzReader in(folder / "a.npz");
    for (const auto& [key, info] : arrays) {
      SCOPED_TRACE(key);
      EXPECT_EQ(in.info(key).shape, info.shape);
      EXPECT_EQ(in.info(key).dtype, info.dtype);
      EXPECT_EQ(in.read<double>(key), values);
      EXPECT_THAT(in.read<float>(key), testing::ElementsAreArray(values));
      EXPECT_THAT(in.read<int64_t>(key), testing::ElementsAreArray(values));
      EXPECT_THAT(in.read<uint8_t>(key), testing::ElementsAreArray(values));
    }
  }
}

TEST(Npz, ExtremeValuesOfEveryTypeSurvive) {
  const test::TempDir folder;
  const auto read_back = [&]<class T>(DType dtype, T value) {
    NpzWriter out(folder / "a.npz");
    out.begin("x", {.dtype = dtype, .shape = {1}});
    out.append(std::as_bytes(std::span(&value, 1)));
    out.end();
    out.finish();
    return NpzReader(folder / "a.npz");
  };
  EXPECT_EQ(read_back(DType::kInt8, int8_t{-128}).read<int64_t>("x")[0], -128);
  EXPECT_EQ(read_back(DType::kInt16, int16_t{-32768}).read<int64_t>("x")[0], -32768);
  EXPECT_EQ(read_back(DType::kInt32, INT32_MIN).read<int64_t>("x")[0], INT32_MIN);
  EXPECT_EQ(read_back(DType::kInt64, INT64_MIN).read<int64_t>("x")[0], INT64_MIN);
  EXPECT_EQ(read_back(DType::kUInt32, UINT32_MAX).read<int64_t>("x")[0], UINT32_MAX);
  EXPECT_EQ(read_back(DType::kUInt8, uint8_t{255}).read<uint8_t>("x")[0], 255);
  EXPECT_EQ(read_back(DType::kFloat64, 0x1p-1074).read<double>("x")[0], 0x1p-1074);
  EXPECT_EQ(read_back(DType::kFloat64, -0x1p63).read<int64_t>("x")[0], INT64_MIN);
  EXPECT_EQ(read_back(DType::kFloat16, uint16_t{0x7BFF}).read<float>("x")[0], 65504.0F);
  EXPECT_EQ(read_back(DType::kFloat16, uint16_t{0x8001}).read<float>("x")[0], -0x1p-24F);
  EXPECT_EQ(read_back(DType::kFloat16, uint16_t{0x3555}).read<float>("x")[0], 0x1.554p-2F);
  EXPECT_EQ(read_back(DType::kFloat16, uint16_t{0xFC00}).read<float>("x")[0], -INFINITY);
  EXPECT_TRUE(std::isnan(read_back(DType::kFloat16, uint16_t{0x7E00}).read<float>("x")[0]));

  EXPECT_THROW(read_back(DType::kUInt64, UINT64_MAX).read<int64_t>("x"), InputError);
  EXPECT_THROW(read_back(DType::kFloat64, 0x1p63).read<int64_t>("x"), InputError);
  EXPECT_THROW(read_back(DType::kFloat64, double{NAN}).read<int64_t>("x"), InputError);
  EXPECT_THROW(read_back(DType::kInt16, int16_t{256}).read<uint8_t>("x"), InputError);
  EXPECT_THROW(read_back(DType::kInt8, int8_t{-1}).read<uint8_t>("x"), InputError);
}

TEST(Npz, WritesArraysOfEveryShapeThatComeBackEqual) {
  const test::TempDir folder;
  Random random(1);
  std::vector<double> noise(7 * 5 * 3);
  for (double& v : noise) v = random.normal();
  const std::vector<float> none;
  const std::vector<int64_t> scalar{-7}, row{1, -2, INT64_MAX};
  const std::vector<int32_t> small{4, -5};
  for (const bool zip64 : {false, true}) {
    for (const int level : {0, 1, 9}) {
      NpzWriter out(folder / "a.npz", {.level = level, .force_zip64 = zip64});
      out.add("noise", {7, 5, 3}, noise);
      out.add("none", {0, 4}, none);
      out.add("scalar", {}, scalar);
      out.add("row", {3}, row);
      out.add("small", {2, 1}, small);
      out.finish();
      const NpzReader in(folder / "a.npz");
      EXPECT_THAT(in.keys(), testing::ElementsAre("noise", "none", "scalar", "row", "small"));
      EXPECT_EQ(in.read<double>("noise"), noise);
      EXPECT_EQ(in.read<float>("none"), none);
      EXPECT_EQ(in.read<int64_t>("scalar"), scalar);
      EXPECT_EQ(in.read<int64_t>("row"), row);
      EXPECT_EQ(in.read<int64_t>("small"), (std::vector<int64_t>{4, -5}));
      EXPECT_EQ(in.info("none").shape_text(), "[0, 4]");
      EXPECT_EQ(in.info("scalar").shape_text(), "[]");
    }
  }
}

TEST(Npz, BlocksAreTheArrayInPieces) {
  const test::TempDir folder;
  std::vector<int64_t> values(1000);
  std::iota(values.begin(), values.end(), -500);
  NpzWriter out(folder / "a.npz");
  out.add("x", {1000}, values);
  out.finish();
  const NpzReader in(folder / "a.npz");
  for (const int64_t block : {1, 7, 999, 1000, 5000}) {
    std::vector<int64_t> joined;
    in.read_blocks<int64_t>("x", block, [&](std::span<const int64_t> piece) {
      EXPECT_LE(static_cast<int64_t>(piece.size()), block);
      joined.insert(joined.end(), piece.begin(), piece.end());
    });
    EXPECT_EQ(joined, values);
  }
}

TEST(Npz, NoByteCanChangeUnseen) {
  const test::TempDir folder;
  const std::vector<double> values{0.25, -3.5, 1e9};
  NpzWriter out(folder / "a.npz", {.level = 0});
  out.add("x", {3}, values);
  out.finish();
  const std::string good = read_whole_file(folder / "a.npz");
  const size_t directory = good.find("PK\x01\x02");
  constexpr size_t kLocalHeader = 30 + 5;  // the name in it is x.npy
  for (size_t at = kLocalHeader; at < directory; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    overwrite(folder / "b.npz", bad);
    EXPECT_THROW(NpzReader(folder / "b.npz").read<double>("x"), InputError) << at;
  }
  // Cut anywhere, it is never taken for whole.
  for (size_t length = 0; length < good.size(); ++length) {
    overwrite(folder / "b.npz", good.substr(0, length));
    EXPECT_THROW(NpzReader(folder / "b.npz").read<double>("x"), InputError) << length;
  }
}

TEST(Npz, GarbageInTheDirectoryIsRefusedNotObeyed) {
  const test::TempDir folder;
  const std::vector<double> values(40, 1.5);
  NpzWriter out(folder / "a.npz", {.force_zip64 = true});
  out.add("x", {40}, values);
  out.finish();
  const std::string good = read_whole_file(folder / "a.npz");
  Random random(5);
  for (int trial = 0; trial < 2000; ++trial) {  // whatever happens, it is an InputError or right
    std::string bad = good;
    for (int k = 0; k < 3; ++k) bad[random.below(bad.size())] = static_cast<char>(random.bits32());
    overwrite(folder / "b.npz", bad);
    try {
      const NpzReader in(folder / "b.npz");
      if (in.contains("x")) {
        EXPECT_EQ(in.read<double>("x"), values);
      }
    } catch (const InputError&) {
    }
  }
}

TEST(Npz, EqualContentGivesEqualBytes) {
  const test::TempDir folder;
  const std::vector<float> values{1, 2, 3};
  for (const char* name : {"a.npz", "b.npz"}) {
    NpzWriter out(folder / name);
    out.add("x", {3}, values);
    out.finish();
  }
  EXPECT_EQ(read_whole_file(folder / "a.npz"), read_whole_file(folder / "b.npz"));
}

TEST(Npz, NothingAppearsWithoutFinish) {
  const test::TempDir folder;
  {
    NpzWriter out(folder / "a.npz");
    out.add("x", {1}, std::vector<float>{1});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Npz, AnArrayMustFillItsShape) {
  const test::TempDir folder;
  NpzWriter out(folder / "a.npz");
  EXPECT_THROW(out.add("x", {2}, std::vector<float>{1}), InternalError);
}

TEST(Npz, AsksForAnArrayThatIsNotThereInWords) {
  const test::TempDir folder;
  NpzWriter out(folder / "a.npz");
  out.finish();
  const NpzReader in(folder / "a.npz");
  EXPECT_TRUE(in.keys().empty());
  EXPECT_THAT([&] { in.read<float>("x"); },
              testing::ThrowsMessage<InputError>(HasSubstr("a.npz: has no array x")));
}

}  // namespace
}  // namespace dgat::data
