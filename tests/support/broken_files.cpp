#include "support/broken_files.h"

#include <fstream>
#include <ostream>
#include <stdexcept>

#include "support/temp_dir.h"

namespace dgat::test {

std::filesystem::path broken_folder() {
  return data_folder() / "broken";
}

std::vector<BrokenFile> broken_files() {
  std::ifstream in(broken_folder() / "expected.txt");
  std::vector<BrokenFile> files;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) throw std::runtime_error("expected.txt: no tab in: " + line);
    files.push_back({broken_folder() / line.substr(0, tab), line.substr(tab + 1)});
  }
  return files;
}

std::ostream& operator<<(std::ostream& out, const BrokenFile& broken) {
  return out << broken.path.filename().string();
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

}  // namespace dgat::test
