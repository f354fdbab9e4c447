#include "spill_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "dgat/core/error.h"
#include "dgat/core/memory_limits.h"
#include "dgat/tensor/pool.h"

namespace dgat::tensor {
namespace {

/// A file without a name: -1 and errno where the folder does not allow one.
int nameless_file(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = folder / "dgat-spill-XXXXXX";  // a file system without them: NFS
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

void check(int error, const std::filesystem::path& folder, int64_t bytes) {
  if (error == 0) return;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    throw_compute(
        "spill: {} has no room for another file of {} MiB; name a folder on a larger disk",
        folder.string(), bytes >> 20);
  }
  throw_compute("spill: a file of {} MiB in {} failed: {}", bytes >> 20, folder.string(),
                std::strerror(error));
}

}  // namespace

void check_spill_folder(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) {
    throw_input("spill: {} is not a folder; make it first", folder.string());
  }
  struct statfs system {};
  if (statfs(folder.c_str(), &system) == 0 &&
      (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)) {
    throw_input("spill: {} is in memory, so it saves none; name a folder on a disk",
                folder.string());
  }
  const int file = nameless_file(folder);
  if (file < 0) {
    throw_input("spill: no file can be made in {}: {}", folder.string(), std::strerror(errno));
  }
  close(file);
}

void SpillFiles::begin(const std::filesystem::path& folder, int64_t in_memory) {
  check_spill_folder(folder);
  const std::lock_guard lock(mutex_);
  if (scopes_++ > 0) return;
  folder_ = folder;
  in_memory_ = in_memory;
  most_resident_ = resident_bytes() + in_memory;
  statistics_ = {.bytes_in_files = statistics_.bytes_in_files,
                 .peak_bytes_in_files = statistics_.bytes_in_files};
}

void SpillFiles::end() {
  const std::lock_guard lock(mutex_);
  --scopes_;
}

bool SpillFiles::is_short_of(size_t bytes) {
  const std::lock_guard lock(mutex_);
  return statistics_.bytes_in_files + static_cast<int64_t>(bytes) > in_memory_;
}

void* SpillFiles::make(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto size = static_cast<int64_t>(bytes);
  const int file = nameless_file(folder_);
  if (file < 0) check(errno, folder_, size);
  int error = posix_fallocate(file, 0, size);
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) error = errno;
  }
  if (error != 0) {
    close(file);
    check(error, folder_, size);
  }
  madvise(memory, bytes, MADV_SEQUENTIAL);
  buffers_.emplace(memory, Buffer{.file = file, .bytes = size});
  inside_ += size;
  statistics_.bytes_in_files += size;
  statistics_.peak_bytes_in_files =
      std::max(statistics_.peak_bytes_in_files, statistics_.bytes_in_files);
  return memory;
}

bool SpillFiles::owns(void* memory) {
  const std::lock_guard lock(mutex_);
  return buffers_.contains(memory);
}

void SpillFiles::take(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto at = buffers_.find(memory);
  if (at == buffers_.end()) return;
  at->second.order = next_order_++;
  make_room(at->second.bytes);
  in_use_.emplace(at->second.order, memory);
}

bool SpillFiles::give_back(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto at = buffers_.find(memory);
  if (at == buffers_.end()) return true;
  in_use_.erase(at->second.order);
  outside_.erase(at->second.order);
  at->second.order = 0;
  const bool keep = statistics_.bytes_in_files <= in_memory_;
  if (!keep) unmap(at);
  if (backwards_ > 0) read_ahead();
  return keep;
}

void SpillFiles::destroy(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto at = buffers_.find(memory);
  if (at != buffers_.end()) unmap(at);
}

void SpillFiles::read_backwards(int more) {
  const std::lock_guard lock(mutex_);
  backwards_ += more;
  if (backwards_ > 0) read_ahead();
}

SpillStatistics SpillFiles::statistics() {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

/// For a buffer that is about to be filled. What a pass read of buffers outside memory is in memory
/// again; it goes first, because it is on the disk.
void SpillFiles::make_room(int64_t bytes) {
  const auto excess = [&] {
    return std::max(inside_ - in_memory_, resident_bytes() + bytes - most_resident_);
  };
  if (excess() <= 0) return;
  for (const auto& [order, memory] : outside_) {
    madvise(memory, static_cast<size_t>(buffers_.at(memory).bytes), MADV_DONTNEED);
  }
  // A process that grows by other things would leave no matrix in memory, and the disk all the
  // work.
  const int64_t least = in_memory_ / 4;
  for (int64_t left = excess(); left > 0 && inside_ > least && !in_use_.empty();) {
    void* oldest = in_use_.begin()->second;
    Buffer& buffer = buffers_.at(oldest);
    left -= buffer.bytes;
    send_out(oldest, buffer);
  }
}

void SpillFiles::unmap(std::unordered_map<void*, Buffer>::iterator at) {
  if (leaving_ == at->first) leaving_ = nullptr;
  const Buffer& buffer = at->second;
  if (!buffer.outside) inside_ -= buffer.bytes;
  statistics_.bytes_in_files -= buffer.bytes;
  munmap(at->first, static_cast<size_t>(buffer.bytes));
  close(buffer.file);
  buffers_.erase(at);
}

/// Starts to write a buffer. Its pages are dropped when the next one leaves, so that the disk works
/// beside the processor; at most one buffer is on its way.
void SpillFiles::send_out(void* memory, Buffer& buffer) {
  finish_leaving();
  if (sync_file_range(buffer.file, 0, 0, SYNC_FILE_RANGE_WRITE) != 0) {
    check(errno, folder_, buffer.bytes);
  }
  madvise(memory, static_cast<size_t>(buffer.bytes), MADV_DONTNEED);
  buffer.outside = true;
  inside_ -= buffer.bytes;
  in_use_.erase(buffer.order);
  outside_.emplace(buffer.order, memory);
  statistics_.bytes_written += buffer.bytes;
  leaving_ = memory;
}

void SpillFiles::finish_leaving() {
  if (leaving_ == nullptr) return;
  const Buffer& buffer = buffers_.at(leaving_);
  leaving_ = nullptr;
  constexpr unsigned kAll =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  if (sync_file_range(buffer.file, 0, 0, kAll) != 0) check(errno, folder_, buffer.bytes);
  posix_fadvise(buffer.file, 0, 0, POSIX_FADV_DONTNEED);
}

/// Brings back what left last, as far as there is room.
void SpillFiles::read_ahead() {
  while (!outside_.empty()) {
    const auto last = std::prev(outside_.end());
    void* memory = last->second;
    Buffer& buffer = buffers_.at(memory);
    if (inside_ + buffer.bytes > in_memory_) return;
    madvise(memory, static_cast<size_t>(buffer.bytes), MADV_WILLNEED);
    buffer.outside = false;
    inside_ += buffer.bytes;
    outside_.erase(last);
    in_use_.emplace(buffer.order, memory);
  }
}

SpillFiles& spill_files() {
  static auto* files = new SpillFiles;
  return *files;
}

SpillScope::SpillScope(const std::filesystem::path& folder, int64_t in_memory) {
  trim_pool();  // what waits in memory would be used first
  spill_files().begin(folder, in_memory);
}
SpillScope::~SpillScope() {
  spill_files().end();
  trim_pool();
}

ReadBackwards::ReadBackwards() {
  spill_files().read_backwards(1);
}
ReadBackwards::~ReadBackwards() {
  spill_files().read_backwards(-1);
}

SpillStatistics spill_statistics() {
  return spill_files().statistics();
}

}  // namespace dgat::tensor
