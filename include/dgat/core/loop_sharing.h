#pragma once

#include <cstdint>

namespace dgat {

/// Whether work of many short loops is faster when threads share the loops, found out by time.
///
/// It depends on the machine and the hour: two cores that do not share a cache (or two virtual ones
/// that the host has put on distant cores) pass a line of memory to each other many times slower
/// than neighbours, and a loop of ten microseconds is then better left to one thread. Results do
/// not depend on it, so both ways are tried every now and then, and the faster one is kept.
class LoopSharing {
 public:
  /// Of every kPeriod pieces of work the first ones are samples: kSamples of each way.
  static constexpr int64_t kPeriod = 512, kSamples = 8;

  /// How the next piece of work shall be done.
  bool shared() const { return position_ < kSamples || (position_ >= 2 * kSamples && faster_); }

  /// The time it took.
  void record(double seconds) {
    if (position_ < 2 * kSamples) {
      (position_ < kSamples ? shared_seconds_ : alone_seconds_) += seconds;
    }
    ++position_;
    if (position_ == 2 * kSamples) faster_ = shared_seconds_ <= alone_seconds_;
    if (position_ == kPeriod) {
      position_ = 0;
      shared_seconds_ = alone_seconds_ = 0;
    }
  }

 private:
  int64_t position_ = 0;  // in the period
  double shared_seconds_ = 0, alone_seconds_ = 0;
  bool faster_ = true;
};

}  // namespace dgat
