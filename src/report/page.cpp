#include "dgat/report/page.h"

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "json.h"
#include "web_assets.h"

namespace dgat::report {
namespace {

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

/// Text before and after a mark, which must be there.
std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view mark) {
  const size_t place = text.find(mark);
  expects(place != std::string_view::npos, "the page template holds every mark");
  return {text.substr(0, place), text.substr(place + mark.size())};
}

}  // namespace

std::string to_json(const Page& page) {
  Json sections = Json::array();
  for (const Section& section : page.sections) {
    Json blocks = Json::array();
    for (const Block& block : section.blocks) blocks.push_back(to_json(block));
    sections.push_back(
        {{"title", section.title}, {"text", section.text}, {"blocks", std::move(blocks)}});
  }
  const Json object = {{"version", 1},
                       {"title", page.title},
                       {"subtitle", page.subtitle},
                       {"sections", std::move(sections)}};
  // Names come from files of any encoding: what is not UTF-8 becomes U+FFFD.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string render(const Page& page) {
  const auto [before_title, after_title] = cut(kPageTemplate, "@TITLE@");
  const auto [before_style, after_style] = cut(after_title, "@STYLE@");
  const auto [before_data, after_data] = cut(after_style, "@DATA@");
  const auto [before_script, after_script] = cut(after_data, "@SCRIPT@");

  std::string html;
  html += before_title;
  html += html_escaped(page.title);
  html += before_style;
  html += kStyle;
  html += before_data;
  // Inside a script element only `<` can end the data or open a comment; in JSON it stands in
  // strings alone, where an escape means the same.
  for (const char c : to_json(page)) {
    if (c == '<') {
      html += "\\u003c";
    } else {
      html += c;
    }
  }
  html += before_script;
  html += kScript;
  html += after_script;
  return html;
}

void write_page(const Page& page, const std::filesystem::path& path) {
  const std::string html = render(page);
  write_atomically(path, [&](std::ostream& out) { out << html; });
}

}  // namespace dgat::report
