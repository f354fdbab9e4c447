#include "dgat/tensor/profile.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace dgat::tensor {
namespace {

struct Profile {
  std::mutex mutex;
  std::map<std::string, OperationTime, std::less<>> operations;
  double mark = 0;
};
Profile& profile() {
  static Profile all;
  return all;
}
std::atomic<bool> profiling = false;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// "a::Var<float> a::linear<float>(a::Tape<float>&, ...)::{lambda(...)#2}" is in the function
/// "linear".
std::string function_of(const std::type_info& lambda) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(lambda.name(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return lambda.name();
  const std::string_view text = demangled.get();
  int depth = 0;  // of template arguments
  size_t begin = 0, end = std::string_view::npos;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' && depth == 0 && !text.substr(i).starts_with("(anonymous namespace)")) {
      return std::string(text.substr(begin, std::min(end, i) - begin));
    }
    if (text[i] == '<' && depth++ == 0) end = i;
    if (text[i] == '>') --depth;
    if (depth == 0 && (text[i] == ':' || text[i] == ' ')) {
      begin = i + 1;
      end = std::string_view::npos;
    }
  }
  return std::string(text);
}

}  // namespace

void profile_operations(bool on) {
  const std::scoped_lock lock(profile().mutex);
  profile().operations.clear();
  profile().mark = processor_seconds();
  profiling = on;
}

std::vector<OperationTime> operation_times() {
  const std::scoped_lock lock(profile().mutex);
  std::vector<OperationTime> times;
  for (const auto& [name, time] : profile().operations) times.push_back(time);
  std::ranges::stable_sort(times, std::greater(),
                           [](const OperationTime& time) { return time.forward + time.backward; });
  return times;
}

void mark_operations() {
  if (!profiling.load(std::memory_order_relaxed)) return;
  const std::scoped_lock lock(profile().mutex);
  profile().mark = processor_seconds();
}

void count_operation(const std::type_info& backward, PassPart part) {
  if (!profiling.load(std::memory_order_relaxed)) return;
  const double now = processor_seconds();
  const std::string name = function_of(backward);
  const std::scoped_lock lock(profile().mutex);
  OperationTime& time = profile().operations[name];
  time.name = name;
  (part == PassPart::kForward ? time.forward : time.backward) += now - profile().mark;
  if (part == PassPart::kForward) ++time.calls;
  profile().mark = processor_seconds();
}

}  // namespace dgat::tensor
