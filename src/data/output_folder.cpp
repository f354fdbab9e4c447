#include "output_folder.h"

#include <unistd.h>

#include "dgat/core/error.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {
fs::path without_trailing_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}
}  // namespace

OutputFolder::OutputFolder(const fs::path& path)
    : final_(without_trailing_slash(path)), working_(final_) {
  std::error_code error;
  if (fs::is_directory(final_, error)) return;
  if (fs::exists(final_, error)) {
    throw_input("{}: exists and is not a folder; choose another name", path.string());
  }
  working_ += fmt::format(".{}.tmp", getpid());
  if (!fs::create_directory(working_, error)) {
    throw_input("{}: cannot be created: {}; choose another place", path.string(),
                error ? error.message() : "a temporary folder of that name exists");
  }
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!committed_ && working_ != final_) fs::remove_all(working_, ignored);
}

void OutputFolder::commit() {
  if (working_ != final_) {
    std::error_code error;
    fs::rename(working_, final_, error);
    if (error) throw_compute("{}: cannot be put in place: {}", final_.string(), error.message());
  }
  committed_ = true;
}

std::string folder_name(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  const fs::path named = without_trailing_slash(error ? folder : whole);
  // A link keeps its own name: `cornell_old -> /data/x` is called cornell_old.
  const fs::path given = without_trailing_slash(folder).filename();
  return given.empty() || given == "." || given == ".." ? named.filename().string()
                                                        : given.string();
}

}  // namespace dgat::data
