#pragma once

#include <cstdint>
#include <filesystem>

namespace dgat {

/// Bytes that this process may still take before the system refuses or kills it: the smallest of
/// what the machine has available, what is left of the memory limit of every control group that the
/// process is in (cgroup v1 and v2; page cache that can be dropped counts as free), and of
/// `ulimit -v`. INT64_MAX where nothing is known.
int64_t available_memory();

/// The same without `ulimit -v`, from a tree that holds /proc and /sys/fs/cgroup. For tests.
int64_t available_memory(const std::filesystem::path& root);

/// What is left of `ulimit -v`; INT64_MAX without such a limit.
int64_t address_space_left();

/// How many more threads that compute have room in the address space, with a stack, a heap of their
/// own and a buffer of BLAS each. OpenBLAS waits for ever where there is none for its buffer.
int64_t threads_with_room();

/// Memory of this process that is in RAM now.
int64_t resident_bytes();

}  // namespace dgat
