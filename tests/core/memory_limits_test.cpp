#include "dgat/core/memory_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "support/temp_dir.h"

namespace dgat {
namespace fs = std::filesystem;

/// A machine with 8 GB available, as files.
class MemoryLimits : public testing::Test {
 protected:
  void SetUp() override {
    put("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n");
  }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  int64_t available() const { return available_memory(root_.path()); }
  test::TempDir root_;
};

TEST(ThreadsWithRoom, AreAsManyAsUlimitLeavesSpaceFor) {
  EXPECT_EQ(threads_with_room(), INT64_MAX) << "the tests run without ulimit -v";
  const pid_t child = fork();
  if (child == 0) {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = static_cast<rlim_t>(pages) * 4096 + (rlim_t{1} << 30);
    const rlimit space{limit, limit};
    if (setrlimit(RLIMIT_AS, &space) != 0) _exit(2);
    const int64_t left = address_space_left(), room = threads_with_room();
    _exit(left <= int64_t{1} << 30 && left > int64_t{900} << 20 && room == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(MemoryLimits, WithoutGroupsTheMachineDecides) {
  EXPECT_EQ(available(), 8'000'000LL * 1024);
  put("proc/self/cgroup", "0::/user\n");
  put("sys/fs/cgroup/user/memory.max", "max\n");
  put("sys/fs/cgroup/user/memory.current", "5\n");
  EXPECT_EQ(available(), 8'000'000LL * 1024);
}

TEST_F(MemoryLimits, ALimitOfAnOuterGroupHolds) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/memory.max", "1000000\n");
  put("sys/fs/cgroup/a/memory.current", "400000\n");
  put("sys/fs/cgroup/a/memory.stat", "anon 300000\ninactive_file 100000\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.current", "1000\n");
  EXPECT_EQ(available(), 700'000);
  put("sys/fs/cgroup/a/b/memory.max", "1500\n");
  EXPECT_EQ(available(), 500);
}

TEST_F(MemoryLimits, VersionOneAndAContainerWhosePathIsHidden) {
  put("proc/self/cgroup", "5:cpu:/docker/1\n4:hugetlb,memory:/docker/1\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000\n");
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1900\n");
  put("sys/fs/cgroup/memory/memory.stat", "cache 900\ntotal_inactive_file 600\n");
  EXPECT_EQ(available(), 700);
}

TEST_F(MemoryLimits, AFullGroupLeavesNothing) {
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "1000\n");
  put("sys/fs/cgroup/memory.current", "3000\n");
  EXPECT_EQ(available(), 0);
}

TEST_F(MemoryLimits, ThisProcessHasMemory) {
  EXPECT_GT(resident_bytes(), 1'000'000);
  EXPECT_GT(available_memory(), 0);
}

}  // namespace dgat
