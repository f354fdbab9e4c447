#pragma once

#include <atomic>
#include <exception>
#include <functional>

namespace dgat {

namespace detail {
/// Work for a worker of the calling thread's team.
struct Job {
  void (*function)(void* context) = nullptr;
  void* context = nullptr;
  std::atomic<bool> done{false};
};
}  // namespace detail

/// Work that another thread does while the caller continues. That thread is a worker of the
/// caller's loops, so the number of busy threads does not grow. Loops inside the work run on that
/// thread. The thread that starts the work also waits for it.
class SideTask {
 public:
  SideTask() = default;
  ~SideTask();  ///< waits; an exception of the work is lost
  SideTask(const SideTask&) = delete;
  SideTask& operator=(const SideTask&) = delete;

  /// Needs: not pending(). With one thread, or while another SideTask of this thread waits for a
  /// worker, the work is left for wait().
  void start(std::function<void()> work);
  bool pending() const { return pending_; }
  /// Returns when the work is done; does it here when no worker has begun. Rethrows its exception.
  void wait();

 private:
  void run() noexcept;
  std::function<void()> work_;
  std::exception_ptr error_;
  bool pending_ = false, posted_ = false;
  uint32_t subnormals_ = 0;  // FlushSubnormals of the thread that started it
  detail::Job job_;
};

}  // namespace dgat
