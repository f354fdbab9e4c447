#include "dgat/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "support/temp_dir.h"

namespace dgat::report {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHostile = "</script><script>alert(1)</script><!--";

/// What the browser's parser takes for the data: up to the first closing tag.
json embedded_data(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = html.find(open) + open.size();
  return json::parse(html.substr(begin, html.find("</script", begin) - begin));
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Page page_with(Block block) {
  return {"title", "subtitle", {{"section", "text", {std::move(block)}}}};
}

json first_block(const Page& page) {
  return json::parse(to_json(page)).at("sections").at(0).at("blocks").at(0);
}

TEST(Page, HostileTextNeitherEndsTheDataNorEntersTheMarkup) {
  Page page = page_with(Facts{kHostile, {{kHostile, kHostile}}});
  page.title = kHostile;
  const std::string html = render(page);
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_EQ(count(html, "<script"), 2U);
  EXPECT_EQ(count(html, "</script"), 2U);
  EXPECT_EQ(embedded_data(html).at("title"), kHostile);
  EXPECT_EQ(embedded_data(html).at("sections")[0].at("blocks")[0].at("rows")[0][1], kHostile);
}

TEST(Page, AsksForNothingOutsideTheFile) {
  const std::string html = render(page_with(Code{"command", "dgat"}));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr(" src=")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  EXPECT_THAT(html, Not(HasSubstr("fetch(")));
  // The one address is the name of the SVG language.
  EXPECT_EQ(count(html, "http"),
            count(html, "http://www.w3.org/2000/svg") + count(html, "http-equiv"));
}

TEST(Page, TextThatIsNotUtf8BecomesReplacementCharacters) {
  EXPECT_EQ(first_block(page_with(Code{"a\xFFz", ""})).at("title"), "a\xEF\xBF\xBDz");
}

TEST(Page, MissingNumbersAreNull) {
  const Table table{"t", "", {{"x", Format::kNumber}}, {{std::nan("")}, {INFINITY}, {0.1}}};
  EXPECT_EQ(first_block(page_with(table)).at("rows"), json::parse("[[null],[null],[0.1]]"));
}

TEST(Page, NumbersSurviveExactly) {
  const double third = 1.0 / 3.0;
  const Table table{"t", "", {{"x", Format::kNumber}}, {{third}}};
  EXPECT_EQ(first_block(page_with(table)).at("rows")[0][0].get<double>(), third);
}

Drawing two_nodes() {
  Drawing d;
  d.title = "graph";
  d.layouts = {{"flat", {0, 1}, {0, 0}}};
  d.id = {0, 1};
  d.class_names = {"a"};
  d.label = {0, -1};
  d.degree = {1, 1};
  d.from = {0};
  d.to = {1};
  d.state = {EdgeState::kAdded};
  d.offsets = {0, 1, 2};
  d.senders = {1, 0};
  d.layers = {{"layer 1", 1, {0.25F, 1.0F}}};
  return d;
}

TEST(Drawing, ArraysTravelAsLittleEndianBase64) {
  const json block = first_block(page_with(two_nodes()));
  EXPECT_EQ(block.at("id"), "i32:AAAAAAEAAAA=");
  EXPECT_EQ(block.at("label"), "i32:AAAAAP////8=");
  EXPECT_EQ(block.at("layouts")[0].at("x"), "f32:AAAAAAAAgD8=");
  EXPECT_EQ(block.at("state"), "u8:Ag==");
  EXPECT_EQ(block.at("phi"), "f32:");
}

TEST(Drawing, WeightsAreSquareRootsInSixteenBits) {
  // sqrt(0.25) * 65535 rounds to 0x8000, and 1 is 0xFFFF.
  EXPECT_EQ(first_block(page_with(two_nodes())).at("layers")[0].at("weights"), "u16:AID//w==");
}

TEST(Drawing, IncompleteArraysAreRefused) {
  Drawing d = two_nodes();
  d.phi = {1.0F};
  EXPECT_THROW(to_json(page_with(d)), InternalError);
  d = two_nodes();
  d.layers[0].weights.pop_back();
  EXPECT_THROW(to_json(page_with(d)), InternalError);
}

TEST(Page, IsWrittenWholeUnderItsName) {
  const test::TempDir dir;
  const Page page = page_with(two_nodes());
  write_page(page, dir / "page.html");
  EXPECT_EQ(read_whole_file(dir / "page.html"), render(page));
}

}  // namespace
}  // namespace dgat::report
