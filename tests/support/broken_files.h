#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace dgat::test {

/// One line of tests/data/broken/expected.txt: file TAB message. In the message, FILE stands for
/// the path that was given and FORMATS for the list of known formats.
struct BrokenFile {
  std::filesystem::path path;
  std::string message;
};
std::filesystem::path broken_folder();
std::vector<BrokenFile> broken_files();
std::ostream& operator<<(std::ostream& out, const BrokenFile& broken);

void replace_all(std::string& text, const std::string& what, const std::string& with);

}  // namespace dgat::test
