#include "dgat/tensor/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "blas_functions.h"
#include "blas_kernels.h"
#include "dgat/core/error.h"
#include "dgat/core/memory_limits.h"

namespace dgat::tensor {
namespace {

constexpr const char* kChoice = "OPENBLAS_CORETYPE";
constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";

/// An environment variable for as long as this object lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* given = std::getenv(name)) before_ = given;
    setenv(name, value, 1);
  }
  ~Environment() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

BlasLibrary open_system_library() {
  constexpr const char* kLibrary = "libopenblas.so.0";
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw_compute("{} cannot be loaded: {}; install OpenBLAS (Debian: libopenblas0)", kLibrary,
                  dlerror());
  }
  return {library, false};
}
BlasLibrary (*open_library)() = open_system_library;

BlasFunctions load() {
  const auto [library, shared] = [] {
    const Environment one_thread(kThreads, "1");
    return open_library();
  }();
  BlasFunctions found;
  found.shared = shared;
  find(library, "cblas_sgemm", found.sgemm);
  find(library, "cblas_dgemm", found.dgemm);
  find(library, "openblas_set_num_threads", found.set_num_threads);
  find(library, "openblas_get_corename", found.get_corename);
  find(library, "gotoblas_dynamic_quit", found.dynamic_quit);
  find(library, "gotoblas_dynamic_init", found.dynamic_init);
  if (!found.sgemm || !found.dgemm || !found.set_num_threads || !found.get_corename) {
    throw_compute("libopenblas.so.0 has no CBLAS interface; install another build of OpenBLAS");
  }
  return found;
}

/// Kernels without AVX2, which no processor needs that has it.
constexpr std::array<std::string_view, 16> kOld = {
    "Katmai",  "Coppermine",   "Northwood",  "Banias",     "Prescott", "Athlon",
    "Core2",   "Penryn",       "Dunnington", "Nehalem",    "Atom",     "Nano",
    "Opteron", "Opteron_SSE3", "Barcelona",  "Sandybridge"};

}  // namespace

std::string_view better_kernels(std::string_view present, SimdLevel level) {
  if (std::find(kOld.begin(), kOld.end(), present) == kOld.end()) return {};
  if (level == SimdLevel::kAvx512) return "SkylakeX";
  return level == SimdLevel::kAvx2 ? "Haswell" : "";
}

const BlasFunctions& blas() {
  static const BlasFunctions functions = load();
  return functions;
}

void check_room_for_blas() {
  constexpr int64_t kBuffer = 160 << 20;  // 128 MB, aligned, and the heap around it
  thread_local bool checked = false;
  if (checked) return;
  if (address_space_left() < kBuffer) {
    throw_compute(
        "memory: the address space (ulimit -v) has no room for the 128 MB that OpenBLAS works in; "
        "raise the limit, or use fewer --threads and --jobs");
  }
  checked = true;
}

bool use_kernels(const std::string& name) {
  if (blas().dynamic_quit == nullptr || blas().dynamic_init == nullptr) return false;
  {
    const Environment choice(kChoice, name.c_str());
    blas().dynamic_quit();
    blas().dynamic_init();
  }
  return blas_kernels() == name;
}

void open_blas_with(BlasLibrary (*open)()) {
  open_library = open;
}

void prepare_blas() {
  static const bool done = [] {
    if (blas().shared) return true;
    blas().set_num_threads(1);
    const std::string_view better = better_kernels(blas_kernels(), best_simd_level());
    if (std::getenv(kChoice) == nullptr && !better.empty()) use_kernels(std::string(better));
    return true;
  }();
  (void)done;
}

std::string blas_kernels() {
  return blas().get_corename();
}

}  // namespace dgat::tensor
