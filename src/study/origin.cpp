#include "dgat/study/origin.h"

#include <commit.h>  // written by cmake/DgatCommit.cmake

#include <ctime>

#include "dgat/tensor/simd.h"
#include "dgat/train/results_version.h"
#include "processor.h"

namespace dgat::study {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[sizeof "2026-11-18"];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d", &utc));
}

}  // namespace

Origin present_origin() {
  return {train::kResultsVersion, DGAT_COMMIT, today(), processor_name(),
          to_string(tensor::simd_level())};
}

}  // namespace dgat::study
