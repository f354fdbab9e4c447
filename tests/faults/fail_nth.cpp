// A library for LD_PRELOAD that makes one call of a program fail, as a machine without memory, disk
// or threads would.
//
//   DGAT_FAIL=malloc|write|rename|fsync|open|thread   which kind of call
//   DGAT_FAIL_AT=N                                    the N-th call of the kind fails
//   DGAT_FAIL_LONG=1                                  so do all after it
//   DGAT_FAIL_COUNT=FILE                              the number of calls, written at exit
//   DGAT_CLOCK_BACK=SECONDS                           the wall clock is set back after 20 looks at
//   it
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

std::atomic<long> calls{0};

struct Plan {
  char kind[16] = "";
  long at = 0;
  bool on = false, persistent = false;
};

/// Read when the library is loaded. Calls count from main() on: what the loader of the system does
/// without memory is not ours.
Plan plan;

__attribute__((constructor)) void read_plan() {
  const char* kind = getenv("DGAT_FAIL");
  if (kind == nullptr) return;
  strncpy(plan.kind, kind, sizeof plan.kind - 1);
  const char* at = getenv("DGAT_FAIL_AT");
  plan.at = at != nullptr ? atol(at) : 0;
  plan.persistent = getenv("DGAT_FAIL_LONG") != nullptr;
}

__attribute__((destructor)) void write_count() {
  const char* path = getenv("DGAT_FAIL_COUNT");
  if (path == nullptr) return;
  plan.on = false;
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld\n", calls.load());
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  if (write(file, text, static_cast<size_t>(length)) != length) unlink(path);
  close(file);
}

bool fails(const char* kind) {
  if (!plan.on || strcmp(kind, plan.kind) != 0) return false;
  const long number = ++calls;
  return plan.at > 0 && (number == plan.at || (plan.persistent && number > plan.at));
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  plan.on = plan.kind[0] != 0;
  return program_main(argc, argv, environment);
}

template <class T>
T refuse(int reason, T value) {
  errno = reason;
  return value;
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*finish)(),
                      void (*loader_finish)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  program_main = main;
  return next<Start>("__libc_start_main")(counted_main, argc, argv, init, finish, loader_finish,
                                          stack_end);
}

void* malloc(size_t size) {
  return fails("malloc") ? refuse<void*>(ENOMEM, nullptr) : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return fails("malloc") ? refuse<void*>(ENOMEM, nullptr) : __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  return fails("malloc") ? refuse<void*>(ENOMEM, nullptr) : __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return fails("malloc") ? refuse<void*>(ENOMEM, nullptr) : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  if (fails("malloc")) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

ssize_t write(int file, const void* bytes, size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return fails("write") ? refuse<ssize_t>(ENOSPC, -1) : real(file, bytes, count);
}
ssize_t writev(int file, const iovec* parts, int count) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int)>("writev");
  return fails("write") ? refuse<ssize_t>(ENOSPC, -1) : real(file, parts, count);
}
int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  return fails("rename") ? refuse(EIO, -1) : real(from, to);
}
int fsync(int file) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails("fsync") ? refuse(EIO, -1) : real(file);
}
int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails("open") ? refuse(EMFILE, -1) : real(path, flags, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  static const auto real = next<FILE* (*)(const char*, const char*)>("fopen64");
  return fails("open") ? refuse<FILE*>(EMFILE, nullptr) : real(path, mode);
}
FILE* fopen(const char* path, const char* mode) {
  static const auto real = next<FILE* (*)(const char*, const char*)>("fopen");
  return fails("open") ? refuse<FILE*>(EMFILE, nullptr) : real(path, mode);
}
int clock_gettime(clockid_t clock, timespec* now) {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  static const char* const back = getenv("DGAT_CLOCK_BACK");
  static std::atomic<int> looks{0};
  const int result = real(clock, now);
  if (back != nullptr && clock == CLOCK_REALTIME && ++looks > 20) now->tv_sec -= atol(back);
  return result;
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = next<Create>("pthread_create");
  return fails("thread") ? EAGAIN : real(thread, attributes, work, argument);
}
}
