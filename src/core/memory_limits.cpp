#include "dgat/core/memory_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace dgat {
namespace fs = std::filesystem;
namespace {

/// The number in a file of one line; nothing for "max" and where there is no such file.
std::optional<int64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  int64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

/// The number behind a key, as in /proc/meminfo and memory.stat.
std::optional<int64_t> number_of(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t value = 0;
    if (words >> name >> value && name == key) return value;
  }
  return std::nullopt;
}

/// The names that the files of a group have in a version of the interface.
struct GroupFiles {
  const char *limit, *usage, *droppable;
};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

/// What is left in a group and in those around it. In a container the path may name a group that is
/// not visible there; its own group is then the root of the tree.
int64_t left_in_groups(const fs::path& tree, const fs::path& group, const GroupFiles& files) {
  int64_t left = INT64_MAX;
  for (fs::path at = group.relative_path();; at = at.parent_path()) {
    const fs::path folder = tree / at;
    const auto limit = number_in(folder / files.limit), usage = number_in(folder / files.usage);
    if (limit && usage) {
      const int64_t droppable = number_of(folder / "memory.stat", files.droppable).value_or(0);
      left = std::min(left, std::max<int64_t>(0, *limit - (*usage - droppable)));
    }
    if (at.empty()) return left;
  }
}

}  // namespace

int64_t available_memory(const fs::path& root) {
  int64_t left = INT64_MAX;
  if (const auto kib = number_of(root / "proc/meminfo", "MemAvailable:")) left = *kib * 1024;
  const fs::path tree = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path path = line.substr(second + 1);
    if (controllers == ",,") {
      left = std::min(left, left_in_groups(tree, path, kVersion2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      left = std::min(left, left_in_groups(tree / "memory", path, kVersion1));
    }
  }
  return left;
}

int64_t available_memory() {
  return std::min(available_memory("/"), address_space_left());
}

int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  if (!(statm >> pages)) return INT64_MAX;
  const auto most = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
  return std::max<int64_t>(0, most - pages * sysconf(_SC_PAGESIZE));
}

int64_t threads_with_room() {
  constexpr int64_t kMegabyte = 1 << 20;
  constexpr int64_t kEach = (8 + 64 + 128) * kMegabyte;  // stack, heap, buffer of OpenBLAS
  constexpr int64_t kOfCaller = 256 * kMegabyte;         // its own buffer, and room to work in
  const int64_t left = address_space_left();
  return left == INT64_MAX ? INT64_MAX : std::max<int64_t>(0, (left - kOfCaller) / kEach);
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace dgat
