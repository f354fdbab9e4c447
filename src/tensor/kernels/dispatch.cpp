#include <atomic>
#include <cstdlib>
#include <string_view>

#include "dgat/core/error.h"
#include "dgat/tensor/simd.h"
#include "kernels/kernels.h"

namespace dgat::tensor {
namespace {

constexpr SimdLevel kLevels[] = {SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512};

void check_supported(SimdLevel level) {
  if (level > best_simd_level()) {
    throw_input("simd: this processor has no {}; the best it can do is {}", to_string(level),
                to_string(best_simd_level()));
  }
}

SimdLevel initial_level() {
  const char* wanted = std::getenv("DGAT_SIMD");
  if (wanted == nullptr || *wanted == '\0') return best_simd_level();
  for (const SimdLevel level : kLevels) {
    if (to_string(level) == wanted) {
      check_supported(level);
      return level;
    }
  }
  throw_input("DGAT_SIMD: '{}' is not a level; use baseline, avx2 or avx512", wanted);
}

std::atomic<SimdLevel>& level_in_use() {
  static std::atomic<SimdLevel> level{initial_level()};
  return level;
}

}  // namespace

SimdLevel best_simd_level() {
#ifdef DGAT_X86_KERNELS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return SimdLevel::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SimdLevel::kAvx2;
#endif
  return SimdLevel::kBaseline;
}

SimdLevel simd_level() {
  return level_in_use().load(std::memory_order_relaxed);
}

void set_simd_level(SimdLevel level) {
  check_supported(level);
  level_in_use() = level;
}

std::string to_string(SimdLevel level) {
  switch (level) {
    case SimdLevel::kBaseline:
      return "baseline";
    case SimdLevel::kAvx2:
      return "avx2";
    case SimdLevel::kAvx512:
      return "avx512";
  }
  return "unknown";
}

template <class T>
const Kernels<T>& kernels() {
#ifdef DGAT_X86_KERNELS
  switch (simd_level()) {
    case SimdLevel::kAvx512:
      return avx512::table<T>();
    case SimdLevel::kAvx2:
      return avx2::table<T>();
    case SimdLevel::kBaseline:
      break;
  }
#endif
  return baseline::table<T>();
}

template const Kernels<float>& kernels();
template const Kernels<double>& kernels();

}  // namespace dgat::tensor
