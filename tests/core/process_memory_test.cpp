#include "dgat/core/process_memory.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

extern char** environ;

namespace dgat {
namespace {

constexpr int64_t kLarge = int64_t{512} << 20;

/// Run in a process of its own by the test below.
TEST(ProcessMemory, DISABLED_ExitsWithZeroWhenItsPeakIsSmall) {
  std::_Exit(peak_rss_bytes() > 0 && peak_rss_bytes() < kLarge / 2 ? 0 : 1);
}

/// ru_maxrss survives exec: a small program started by a large one reported that one's memory.
TEST(ProcessMemory, AChildOfALargeProcessReportsItsOwnPeak) {
#ifndef __linux__
  GTEST_SKIP() << "VmHWM is Linux's";
#endif
  {
    std::vector<char> touched(static_cast<size_t>(kLarge), 1);
    ASSERT_GE(peak_rss_bytes(), kLarge) << touched.back();
  }
  std::string program = "/proc/self/exe", all = "--gtest_also_run_disabled_tests",
              filter = "--gtest_filter=ProcessMemory.DISABLED_*";
  char* arguments[] = {program.data(), filter.data(), all.data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ), 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the child reports the memory of its parent";
}

}  // namespace
}  // namespace dgat
