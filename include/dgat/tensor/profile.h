#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>
#include <vector>

/// Which operations a training spends its time in. A tape counts for an operation what the
/// process computes between the end of the one before and its own end. So one tape at a time may
/// run; on small graphs an evaluation runs beside the passes (train/schedule.h), and the times are
/// mixed up.
namespace dgat::tensor {

/// Processor seconds of all threads together.
struct OperationTime {
  std::string name;    ///< of the function in ops.h or beside it
  int64_t calls = 0;   ///< forward
  double forward = 0;  ///< of training passes and evaluations
  double backward = 0;
};

/// Starts to count from zero, or stops. Off at first: then an operation costs one load more.
void profile_operations(bool on);
/// What was counted, the most expensive operation first.
std::vector<OperationTime> operation_times();

// For Tape ----------------------------------------------------------------------------------------

enum class PassPart { kForward, kBackward };
/// What was computed since the last mark belongs to no operation.
void mark_operations();
/// An operation ended. `backward` is the type of its backward step, a lambda in its function.
void count_operation(const std::type_info& backward, PassPart part);

}  // namespace dgat::tensor
