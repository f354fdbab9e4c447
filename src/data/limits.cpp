#include "dgat/data/limits.h"

#include <fmt/format.h>

#include <atomic>

#include "dgat/core/error.h"

namespace dgat::data {
namespace {

std::atomic<int64_t> memory_per_byte{kMemoryPerByte};

/// Both factors are not negative; what does not fit is as large as a number can be.
int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

}  // namespace

void set_memory_per_byte(int64_t bytes) {
  memory_per_byte = bytes;
}

int64_t allowed_memory(int64_t file_bytes) {
  const int64_t more = product(memory_per_byte, file_bytes);
  return more > INT64_MAX - kFreeMemory ? INT64_MAX : kFreeMemory + more;
}

void check_memory(int64_t bytes, int64_t file_bytes, const std::string& where,
                  const std::string& what) {
  if (bytes <= allowed_memory(file_bytes)) return;
  constexpr double kMegabyte = 1e6;
  throw_input(
      "{}: {} needs {:.0f} MB or more, and a file of {} bytes may take {:.0f} MB; raise "
      "--memory-per-byte above {} if the file is right",
      where, what, static_cast<double>(bytes) / kMegabyte, file_bytes,
      static_cast<double>(allowed_memory(file_bytes)) / kMegabyte, memory_per_byte.load());
}

void check_node_count(int64_t nodes, int64_t file_bytes, const std::string& where) {
  if (nodes > kMaxNodes) throw_input("{}: has {} nodes; at most {} fit", where, nodes, kMaxNodes);
  check_memory(product(nodes, kMemoryPerNode), file_bytes, where,
               fmt::format("a graph of {} nodes", nodes));
}

}  // namespace dgat::data
