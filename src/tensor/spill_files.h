#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <unordered_map>

#include "dgat/tensor/spill.h"

namespace dgat::tensor {

/// Buffers of the pool that are files mapped into memory (spill.h). Safe from any thread.
class SpillFiles {
 public:
  void begin(const std::filesystem::path& folder, int64_t in_memory);
  void end();
  bool on() const { return scopes_ > 0; }
  /// Whether another buffer of `bytes` and all that there are would not fit into memory.
  bool is_short_of(size_t bytes);

  /// A new buffer of `bytes`, not in use yet. Throws: ComputeError when the disk has no room.
  void* make(size_t bytes);
  bool owns(void* memory);
  /// Notes that a buffer is handed out; others may leave memory for it.
  void take(void* memory);
  /// Notes that it is given back. False: it was destroyed, because memory is short.
  bool give_back(void* memory);
  void destroy(void* memory);

  void read_backwards(int more);
  SpillStatistics statistics();

 private:
  struct Buffer {
    int file = -1;
    int64_t bytes = 0;
    int64_t order = 0;  // when it was handed out; 0: waiting
    bool outside = false;
  };
  void make_room(int64_t bytes);
  void unmap(std::unordered_map<void*, Buffer>::iterator at);
  void send_out(void* memory, Buffer& buffer);
  void finish_leaving();
  void read_ahead();

  std::mutex mutex_;
  std::filesystem::path folder_;
  std::unordered_map<void*, Buffer> buffers_;
  std::map<int64_t, void*> in_use_;   // by order, inside memory
  std::map<int64_t, void*> outside_;  // by order
  void* leaving_ = nullptr;           // is being written
  int64_t in_memory_ = 0;             // bytes that may stay
  int64_t most_resident_ = 0;         // of the process
  int64_t inside_ = 0;                // bytes in memory, waiting or in use
  int64_t next_order_ = 1;
  std::atomic<int> scopes_ = 0;
  int backwards_ = 0;
  SpillStatistics statistics_;
};

/// That of this process, never destroyed.
SpillFiles& spill_files();

}  // namespace dgat::tensor
