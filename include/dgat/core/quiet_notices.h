#pragma once

namespace dgat {

/// While such an object exists, notices of the current thread are not printed: for code that
/// repeats a computation whose notices were printed before.
class QuietNotices {
 public:
  QuietNotices();
  ~QuietNotices();
  QuietNotices(const QuietNotices&) = delete;
  QuietNotices& operator=(const QuietNotices&) = delete;
};

}  // namespace dgat
