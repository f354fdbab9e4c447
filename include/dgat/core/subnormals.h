#pragma once

#include <cstdint>

/// Numbers too small for a full mantissa (below 1e-38 in float): in training they carry nothing,
/// being squares of tiny gradients and tails of softmax, and some processors take a hundred times
/// as long for each as for other numbers.
namespace dgat {

/// While it lives, they count as zero on the current thread and in the loops that it starts: a loop
/// has the same bits on every thread.
class FlushSubnormals {
 public:
  FlushSubnormals();
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  uint32_t previous_;
};

namespace detail {
/// What the current thread does with them, to be taken over by a thread that works for it.
uint32_t subnormal_mode();
void set_subnormal_mode(uint32_t mode);
}  // namespace detail

}  // namespace dgat
