#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <optional>
#include <type_traits>

/// How Python calls dgat: without the GIL, with Ctrl-C, notices and progress as Python knows them.
namespace dgat::python {

/// Runs `work` on a thread of its own. Meanwhile the calling thread runs Python's signal handlers
/// and hands notices and progress to the package every few milliseconds. An exception of one of
/// these (KeyboardInterrupt) stops the work at its next check and is thrown when it has stopped.
/// Needs: the GIL, which is released while the work runs.
void run_watched(const std::function<void()>& work);

/// run_watched() with a result.
template <class Work>
auto watched(Work&& work) {
  using Result = std::invoke_result_t<Work>;
  if constexpr (std::is_void_v<Result>) {
    run_watched([&] { work(); });
  } else {
    std::optional<Result> result;
    run_watched([&] { result.emplace(work()); });
    return std::move(*result);
  }
}

/// Errors become Python's, notices and progress go to dgat._messages, and fit, predict and so on
/// can be stopped.
void add_calls(pybind11::module_& module);

}  // namespace dgat::python
