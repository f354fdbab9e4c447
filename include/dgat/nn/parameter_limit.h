#pragma once

#include <cstdint>
#include <string>

namespace dgat::nn {

/// While such an object exists, a ParameterSet that the current thread makes holds at most so many
/// numbers. For models whose shape comes from a file: nothing is allocated beyond what is there.
class ParameterLimit {
 public:
  explicit ParameterLimit(int64_t numbers) : previous_(limit()) { limit() = numbers; }
  ~ParameterLimit() { limit() = previous_; }
  ParameterLimit(const ParameterLimit&) = delete;
  ParameterLimit& operator=(const ParameterLimit&) = delete;
  /// Throws: InputError when a set of `held` numbers cannot get rows x cols more.
  static void check(int64_t held, const std::string& name, int64_t rows, int64_t cols);

 private:
  static int64_t& limit();
  int64_t previous_;
};

}  // namespace dgat::nn
