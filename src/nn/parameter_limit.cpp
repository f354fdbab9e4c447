#include "dgat/nn/parameter_limit.h"

#include "dgat/core/error.h"

namespace dgat::nn {

int64_t& ParameterLimit::limit() {
  thread_local int64_t numbers = INT64_MAX;
  return numbers;
}

void ParameterLimit::check(int64_t held, const std::string& name, int64_t rows, int64_t cols) {
  int64_t numbers = 0;
  const bool overflow = __builtin_mul_overflow(rows, cols, &numbers);
  if (!overflow && numbers <= limit() - held) return;
  throw_input("parameter {} of {} x {} numbers does not fit: the file holds {} numbers in all",
              name, rows, cols, limit());
}

}  // namespace dgat::nn
