#include "dgat/core/subnormals.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dgat {
namespace detail {

#if defined(__x86_64__)
namespace {
constexpr uint32_t kFlush = 0x8040;  // results to zero, operands as zero
}
uint32_t subnormal_mode() {
  return _mm_getcsr() & kFlush;
}
void set_subnormal_mode(uint32_t mode) {
  const uint32_t now = _mm_getcsr();
  const uint32_t wanted = (now & ~kFlush) | mode;
  if (wanted != now) _mm_setcsr(wanted);
}
#else  // elsewhere they are as fast as other numbers
namespace {
constexpr uint32_t kFlush = 0;
}
uint32_t subnormal_mode() {
  return 0;
}
void set_subnormal_mode(uint32_t) {}
#endif

}  // namespace detail

FlushSubnormals::FlushSubnormals() : previous_(detail::subnormal_mode()) {
  detail::set_subnormal_mode(detail::kFlush);
}
FlushSubnormals::~FlushSubnormals() {
  detail::set_subnormal_mode(previous_);
}

}  // namespace dgat
