#pragma once

namespace dgat {

/// While one lives, notices of the current thread are left out: the hundredth repetition of a line
/// is not worth knowing.
class QuietNotices {
 public:
  QuietNotices();
  ~QuietNotices();
  QuietNotices(const QuietNotices&) = delete;
  QuietNotices& operator=(const QuietNotices&) = delete;
};

}  // namespace dgat
