#include "dgat/core/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dgat/core/progress.h"
#include "dgat/core/quiet_notices.h"

namespace dgat {
namespace {
using testing::ElementsAre;

/// Keeps every line while it lives.
class Record final : public Output {
 public:
  Record() { redirect_output(this); }
  ~Record() override { redirect_output(nullptr); }
  void notice(std::string_view text) override { lines.emplace_back(text); }
  void progress(const void*, std::string_view label, int64_t done, int64_t total,
                std::string_view remark) override {
    lines.push_back(std::string(label) + " " + std::to_string(done) + "/" + std::to_string(total) +
                    " " + std::string(remark));
  }
  void finished(const void*) override { lines.emplace_back("finished"); }
  std::vector<std::string> lines;
};

TEST(Output, NoticesAndProgressGoWhereTheyAreSent) {
  Record record;
  testing::internal::CaptureStderr();
  notice("a line");
  notice("a line");
  {
    Progress job("work", 10);
    job.update(3, "fast");
  }
  EXPECT_THAT(record.lines, ElementsAre("a line", "a line", "work 3/10 fast", "finished"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Output, QuietHoldsThereToo) {
  Record record;
  {
    const QuietNotices quiet;
    notice("not this one");
  }
  set_quiet(true);
  notice("nor this one");
  Progress("work", 1).update(1);
  set_quiet(false);
  EXPECT_THAT(record.lines, ElementsAre("finished"));
}

TEST(Output, StandardErrorIsBackAfterwards) {
  { const Record record; }
  testing::internal::CaptureStderr();
  notice("output_test: a line of its own");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "output_test: a line of its own\n");
}

}  // namespace
}  // namespace dgat
