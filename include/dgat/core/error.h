#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace dgat {

/// Base of everything dgat throws on purpose. Messages read
///   where: what is wrong, the value seen, what to do
/// in lower case, on one line. Input files are named with line or key.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user's input cannot be used: a bad file, flag or value (exit code 2).
class InputError : public Error {
 public:
  using Error::Error;
};

/// A computation could not be carried out: divergence, no convergence, full disk (exit code 1).
class ComputeError : public Error {
 public:
  using Error::Error;
};

/// The user asked to stop (Ctrl-C). What was finished is saved before this is thrown.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// A defect of dgat itself: a broken invariant.
class InternalError : public Error {
 public:
  using Error::Error;
};

// Not templates: the hundreds of calls below compile to a call each.
[[noreturn]] void throw_formatted_input(fmt::string_view text, fmt::format_args args);
[[noreturn]] void throw_formatted_compute(fmt::string_view text, fmt::format_args args);

/// throw_input("{}:{}: node id {} is outside [0, {})", file, line, id, n);
template <class... Args>
[[noreturn]] void throw_input(fmt::format_string<Args...> text, Args&&... args) {
  throw_formatted_input(text, fmt::make_format_args(args...));
}

template <class... Args>
[[noreturn]] void throw_compute(fmt::format_string<Args...> text, Args&&... args) {
  throw_formatted_compute(text, fmt::make_format_args(args...));
}

/// Checks one of our own invariants; the text names it.
inline void expects(bool condition, const char* invariant) {
  if (!condition) throw InternalError(std::string("internal: broken invariant: ") + invariant);
}

}  // namespace dgat
