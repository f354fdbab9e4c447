#pragma once

#include <cstdint>
#include <string_view>

namespace dgat {

/// Where notices and progress go in a program that embeds dgat. Calls come from any thread.
class Output {
 public:
  virtual ~Output() = default;
  /// Equal lines may be repeated.
  virtual void notice(std::string_view text) = 0;
  /// How far a job is; `job` tells jobs apart. total 0: unknown.
  virtual void progress(const void* job, std::string_view label, int64_t done, int64_t total,
                        std::string_view remark) = 0;
  virtual void finished(const void* job) = 0;
};

/// Sends notices and progress to `output` instead of standard error; nullptr ends that. set_quiet()
/// and QuietNotices hold for both. Needs: the object lives until the next call, and no job of dgat
/// runs meanwhile.
void redirect_output(Output* output);

}  // namespace dgat
