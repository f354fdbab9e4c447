#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dgat/report/charts.h"

namespace dgat::report {

struct Section {
  std::string title;
  std::string text;  ///< a sentence or two above the blocks; plain text
  std::vector<Block> blocks;
};

/// One self-contained page: sections of blocks. docs/report.md describes the data inside it.
struct Page {
  std::string title, subtitle;
  std::vector<Section> sections;
};

/// The page as one HTML file: style, script and data inside, no request to anywhere. Text of any
/// content is safe: it is stored as JSON without `<` and never parsed as HTML.
std::string render(const Page& page);

/// The data of the page, one JSON object on one line.
std::string to_json(const Page& page);

/// render() into a file that appears whole or not at all.
void write_page(const Page& page, const std::filesystem::path& path);

}  // namespace dgat::report
