#include "dgat/nn/precomputed.h"

#include <fmt/format.h>
#include <unistd.h>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"

namespace dgat::nn {
namespace {

constexpr int64_t kWorthANotice = int64_t{1} << 28;

std::string in_gigabytes(int64_t bytes) {
  return fmt::format("{:.3g} GB", static_cast<double>(bytes) * 1e-9);
}

}  // namespace

int64_t default_memory_budget() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages / 2 * page : int64_t{1} << 32;
}

std::shared_ptr<const void> PrecomputedParts::find_or_make(
    const std::string& name, std::type_index type, const std::function<PartSize()>& size,
    const std::function<std::shared_ptr<const void>()>& make) {
  const std::lock_guard lock(mutex_);
  if (const auto at = entries_.find(name); at != entries_.end()) {
    expects(at->second.type == type, "a precomputed part keeps its type");
    return at->second.part;
  }
  const PartSize needs = size();
  const std::string detail = needs.detail.empty() ? "" : fmt::format(" ({})", needs.detail);
  if (needs.bytes > budget_ - bytes_) {
    throw_input(
        "{}: needs {}{}, {} of the memory budget are left; raise --memory-budget or choose "
        "a model that precomputes less",
        name, in_gigabytes(needs.bytes), detail, in_gigabytes(budget_ - bytes_));
  }
  if (needs.bytes > kWorthANotice) {
    notice(fmt::format("{}: takes {}{}", name, in_gigabytes(needs.bytes), detail));
  }
  std::shared_ptr<const void> part = make();
  bytes_ += needs.bytes;
  entries_.emplace(name, Entry{type, part});
  return part;
}

int64_t PrecomputedParts::bytes_left() const {
  const std::lock_guard lock(mutex_);
  return budget_ - bytes_;
}

}  // namespace dgat::nn
