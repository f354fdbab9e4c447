#include "support/temp_dir.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace dgat::test {
namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "dgat-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

fs::path data_folder() {
  return DGAT_TEST_DATA;
}

fs::path shared_datasets() {
  const fs::path folder = fs::path(DGAT_SHARED) / "datasets";
  return fs::exists(folder) ? folder : fs::path();
}

}  // namespace dgat::test
