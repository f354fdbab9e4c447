#include "dgat/data/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "dgat/core/files.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text, const TextDialect& dialect = {}) {
  TextReader reader(text, "t", dialect);
  Rows rows;
  while (reader.next()) rows.emplace_back(reader.fields().begin(), reader.fields().end());
  return rows;
}

template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TextReader, SplitsAtTheSeparatorOfTheFirstRow) {
  EXPECT_EQ(rows_of("a,b\nc,d\n"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(rows_of("a;b\n"), (Rows{{"a", "b"}}));
  EXPECT_EQ(rows_of("a b,c\td\n"), (Rows{{"a b,c", "d"}}));
  EXPECT_EQ(rows_of("  a   b\tc \n"), (Rows{{"a   b", "c"}}));
  EXPECT_EQ(rows_of("  a   b  \nc d"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(rows_of("\"a,b\";c\n"), (Rows{{"a,b", "c"}}));
}

TEST(TextReader, KeepsEmptyFields) {
  EXPECT_EQ(rows_of("a,,b\n,,\n"), (Rows{{"a", "", "b"}, {"", "", ""}}));
  EXPECT_EQ(rows_of("a\t\tb\n\tx\t\n"), (Rows{{"a", "", "b"}, {"", "x", ""}}));
  EXPECT_EQ(rows_of("a,b,"), (Rows{{"a", "b", ""}}));
  EXPECT_EQ(rows_of("\"\",x\n"), (Rows{{"", "x"}}));
}

TEST(TextReader, TakesEveryLineEndAndCountsLines) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string text = "\xEF\xBB\xBF# c" + end + end + "a,b" + end + "  " + end + "c,d" + end;
    TextReader reader(text, "t", {});
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.line(), 3);
    EXPECT_EQ(reader.field(0), "a");
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.line(), 5);
    EXPECT_EQ(reader.field(1), "d");
    EXPECT_FALSE(reader.next());
  }
}

TEST(TextReader, FoldsQuotesInPlace) {
  EXPECT_EQ(rows_of("\"a \"\"b\"\"\", \"c,\nd\" ,e\"f\n1,2,3"),
            (Rows{{"a \"b\"", "c,\nd", "e\"f"}, {"1", "2", "3"}}));
  TextReader reader("\"x\ny\",1\nz,2\n", "t", {});
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 1);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 3);
}

TEST(TextReader, ReportsBrokenQuotesWhereTheRowBegins) {
  EXPECT_THAT(message_of([] { rows_of("a,b\nc,\"d\ne,f\n"); }),
              testing::HasSubstr("t:2: the quote that opens in this row is never closed"));
  EXPECT_THAT(message_of([] { rows_of("\"a\"b,c\n"); }),
              testing::HasSubstr("t:1: text follows the closing quote of 'a'"));
}

TEST(TextReader, RefusesBinary) {
  EXPECT_THAT(message_of([] { rows_of(std::string("a\0b", 3)); }),
              testing::HasSubstr("not a text file"));
}

TEST(TextReader, AVeryLongLineIsOneRow) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "1,";
  const Rows rows = rows_of(text + "2");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].size(), 300001U);
  EXPECT_EQ(rows[0].back(), "2");
}

TEST(TextReader, NumbersAreWholeOrFinite) {
  const TextReader reader("", "t", {});
  EXPECT_EQ(reader.integer("-12", "x"), -12);
  EXPECT_EQ(reader.integer("+7", "x"), 7);
  EXPECT_FLOAT_EQ(reader.real("1e-3", "x"), 1e-3F);
  EXPECT_FLOAT_EQ(reader.real("+.5", "x"), 0.5F);
  EXPECT_EQ(reader.real("1e-400", "x"), 0.0F);
  for (const char* bad : {"", "x", "1.5", "1e3", "99999999999999999999", "1 "}) {
    EXPECT_THROW(reader.integer(bad, "x"), InputError) << bad;
  }
  for (const char* bad : {"", "x", "1,5", "nan", "inf", "-inf", "1e400", "1e39", "0x10"}) {
    EXPECT_THROW(reader.real(bad, "x"), InputError) << bad;
  }
}

TEST(TextWriter, WhatIsPackedReadsBackAndTruncationIsNoticed) {
  const test::TempDir dir;
  std::string expected;
  for (const char* name : {"a.txt", "a.txt.gz"}) {
    TextWriter out(dir / name);
    expected.clear();
    std::mt19937 random(1);
    for (int i = 0; i < 50000; ++i) {
      const unsigned value = random();
      out.print("{},", value);
      expected += std::to_string(value) + ",";
    }
    out.commit();
    EXPECT_EQ(read_text(dir / name), expected);
  }
  const std::string packed = read_whole_file(dir / "a.txt.gz");
  ASSERT_LT(packed.size(), expected.size());
  std::ofstream(dir / "cut.gz", std::ios::binary) << packed.substr(0, packed.size() / 2);
  EXPECT_THAT(message_of([&] { read_text(dir / "cut.gz"); }), testing::HasSubstr("truncated"));
  std::ofstream(dir / "no_trailer.gz", std::ios::binary) << packed.substr(0, packed.size() - 8);
  EXPECT_THAT(message_of([&] { read_text(dir / "no_trailer.gz"); }),
              testing::HasSubstr("truncated"));
  std::string damaged = packed;
  damaged[damaged.size() / 2] ^= 0x55;
  std::ofstream(dir / "bad.gz", std::ios::binary) << damaged;
  EXPECT_THAT(message_of([&] { read_text(dir / "bad.gz"); }), testing::HasSubstr("damaged"));
  std::ofstream(dir / "two.gz", std::ios::binary) << packed << packed;
  EXPECT_EQ(read_text(dir / "two.gz"), expected + expected);
}

TEST(TextWriter, QuotedFieldsReadBack) {
  const test::TempDir dir;
  const std::vector<std::string> fields = {"#x", "a,b", "say \"hi\"", "two\nlines", " blank ", "ü"};
  TextWriter out(dir / "a.csv");
  for (const std::string& field : fields) {
    out.print_field(field);
    out.print(",1\n");
  }
  out.commit();
  TextReader reader(dir / "a.csv");
  for (const std::string& field : fields) {
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.field(0), field);
    EXPECT_EQ(reader.field(1), "1");
  }
  EXPECT_FALSE(reader.next());
}

}  // namespace
}  // namespace dgat::data
