#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "target.h"

namespace dgat::fuzz {
namespace fs = std::filesystem;

const fs::path& folder() {
  static const fs::path path = [] {
    std::error_code error;
    const fs::path memory = "/dev/shm";
    fs::path made = (fs::is_directory(memory, error) ? memory : fs::temp_directory_path()) /
                    ("dgat-fuzz-" + std::to_string(getpid()));
    fs::create_directories(made);
    std::atexit([] {
      std::error_code ignored;
      fs::remove_all(folder(), ignored);
    });
    return made;
  }();
  return path;
}

fs::path file(std::string_view name, std::string_view bytes) {
  const fs::path path = folder() / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  return path;
}

std::pair<std::string_view, std::string_view> halves(std::string_view bytes) {
  constexpr std::string_view kCut = "----\n";
  const size_t at = bytes.find(kCut);
  if (at == std::string_view::npos) return {bytes, {}};
  return {bytes.substr(0, at), bytes.substr(at + kCut.size())};
}

namespace {
const Target* chosen = nullptr;
}

}  // namespace dgat::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  using namespace dgat::fuzz;
  const char* name = std::getenv("DGAT_FUZZ");
  const auto all = targets();
  const auto found = std::ranges::find_if(
      all, [&](const Target& target) { return name != nullptr && target.name == name; });
  if (found == all.end()) {
    for (const Target& target : all) std::printf("%s\n", std::string(target.name).c_str());
    std::fflush(stdout);
    std::_Exit(name == nullptr ? 0 : 2);
  }
  chosen = &*found;
  dgat::set_quiet(true);
  dgat::set_thread_count(1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    dgat::fuzz::chosen->read({reinterpret_cast<const char*>(data), size});
  } catch (const dgat::InternalError&) {
    throw;                        // a defect
  } catch (const dgat::Error&) {  // refused with a sentence
  }
  return 0;
}
