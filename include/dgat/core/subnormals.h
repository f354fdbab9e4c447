#pragma once

#include <cstdint>

/// Numbers too small for a full mantissa (below 1e-38 in float). In training they are squares of
/// tiny gradients and tails of softmax, and have no effect. Some processors take a hundred times as
/// long for each.
namespace dgat {

/// While it exists, they count as zero on the current thread and in the loops that it starts. So a
/// loop has the same bits on every thread.
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
/// The setting of the current thread; threads that work for it copy it.
uint32_t subnormal_mode();
void set_subnormal_mode(uint32_t mode);
}  // namespace detail

}  // namespace dgat
