#include "call.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/output.h"
#include "dgat/core/parallel.h"

namespace py = pybind11;

namespace dgat::python {
namespace {

constexpr auto kPause = std::chrono::milliseconds(20);

struct Job {
  std::string label, remark;
  int64_t done = 0, total = 0;
  bool finished = false;
};

/// Keeps what dgat says until a thread with the GIL takes it.
class Mailbox final : public Output {
 public:
  void notice(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    notices_.emplace_back(text);
  }
  void progress(const void* job, std::string_view label, int64_t done, int64_t total,
                std::string_view remark) override {
    const std::lock_guard lock(mutex_);
    if (!wanted_) return;
    jobs_[job] = {std::string(label), std::string(remark), done, total, false};
  }
  void finished(const void* job) override {
    const std::lock_guard lock(mutex_);
    if (const auto at = jobs_.find(job); at != jobs_.end()) at->second.finished = true;
  }
  void want_progress(bool wanted) {
    const std::lock_guard lock(mutex_);
    wanted_ = wanted;
    if (!wanted) jobs_.clear();
  }
  /// Needs: the GIL.
  void deliver() {
    std::vector<std::string> notices;
    std::map<const void*, Job> jobs;
    {
      const std::lock_guard lock(mutex_);
      notices.swap(notices_);
      jobs = jobs_;
      std::erase_if(jobs_, [](const auto& entry) { return entry.second.finished; });
    }
    if (notices.empty() && jobs.empty()) return;
    const py::module_ messages = py::module_::import("dgat._messages");
    for (const auto& [id, job] : jobs) {
      messages.attr("show_progress")(reinterpret_cast<uintptr_t>(id), job.label, job.done,
                                     job.total, job.remark, job.finished);
    }
    for (const std::string& text : notices) messages.attr("give_notice")(text);
  }

 private:
  std::mutex mutex_;
  bool wanted_ = false;
  std::vector<std::string> notices_;
  std::map<const void*, Job> jobs_;
};

Mailbox& mailbox() {
  static auto* const box = new Mailbox;  // never destroyed: threads may outlive static objects
  return *box;
}

/// A thread with work, and whether the work is done.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work)
      : thread_([this, &work] {
          try {
            work();
          } catch (...) {
            error_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          done_ = true;
          changed_.notify_all();
        }) {}
  ~Worker() { thread_.join(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool done_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return done_; });
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }
  /// Needs: done.
  const std::exception_ptr& error() const { return error_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses the others
};

void translate(std::exception_ptr pending) {
  try {
    if (pending) std::rethrow_exception(pending);
  } catch (const Interrupted& error) {
    PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const InputError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

void run_watched(const std::function<void()>& work) {
  std::exception_ptr raised;  // by Python code: a signal handler, or a warning that is an error
  const auto run_python = [&raised](auto&& code) {
    try {
      code();
    } catch (py::error_already_set&) {
      raised = std::current_exception();
    }
  };
  std::exception_ptr failed;
  {
    const py::gil_scoped_release without;
    Worker worker(work);
    while (!worker.done_within(kPause)) {
      const py::gil_scoped_acquire with;
      run_python([] {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        mailbox().deliver();
      });
      if (!raised) continue;
      request_interrupt();
      const py::gil_scoped_release again;
      worker.wait();
      request_interrupt(false);
      break;
    }
    failed = worker.error();
  }
  if (!raised) run_python([] { mailbox().deliver(); });
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
}

void add_calls(py::module_& module) {
  redirect_output(&mailbox());
  py::register_exception_translator(translate);
  module.def(
      "want_progress", [](bool wanted) { mailbox().want_progress(wanted); }, py::arg("wanted"));
  module.def("set_threads", &set_thread_count, py::arg("threads"));
  module.def("threads", &thread_count);
  // For tests: works without the GIL until it is stopped or the time is over.
  module.def(
      "wait",
      [](double seconds) {
        watched([seconds] {
          const auto end =
              std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
          while (std::chrono::steady_clock::now() < end) {
            throw_if_interrupted("wait");
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        });
      },
      py::arg("seconds"));
}

}  // namespace dgat::python
