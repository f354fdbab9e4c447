#pragma once

#include <string>
#include <string_view>

#include "dgat/core/output.h"
#include "dgat/core/progress.h"

namespace dgat::test {

/// Keeps every notice while it lives, also those that were printed before or that an earlier test
/// has turned off. Notices are off afterwards.
class HeardNotices final : public Output {
 public:
  HeardNotices() {
    set_quiet(false);
    redirect_output(this);
  }
  ~HeardNotices() override {
    redirect_output(nullptr);
    set_quiet(true);
  }
  HeardNotices(const HeardNotices&) = delete;
  HeardNotices& operator=(const HeardNotices&) = delete;

  void notice(std::string_view line) override { text.append(line).append("\n"); }
  void progress(const void*, std::string_view, int64_t, int64_t, std::string_view) override {}
  void finished(const void*) override {}

  std::string text;  ///< one line per notice
};

}  // namespace dgat::test
