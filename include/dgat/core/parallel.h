#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

/// Parallel loops that give the same bits at every thread count.
///
/// A range is cut into blocks of a fixed size, chosen by the caller and never by the number of
/// threads. A free thread takes the next block. Reductions add the blocks' results in block order.
/// A nested loop runs on the thread that starts it.
namespace dgat {

/// Threads a loop may use. 0 (the start value) means all cores.
void set_thread_count(int threads);
int thread_count();

/// Limits the loops started by the current thread while it lives (side-by-side jobs share cores).
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int previous_;
};

namespace detail {
using BlockFunction = void (*)(void* context, int64_t block);
/// Runs function(context, b) for b in [0, blocks); rethrows the first exception by block order.
void run_blocks(int64_t blocks, BlockFunction function, void* context);
}  // namespace detail

/// Number of blocks that [0, n) is cut into.
constexpr int64_t block_count(int64_t n, int64_t grain) {
  return (n + grain - 1) / grain;
}

/// body(block, begin, end) for every block of [0, n).
template <class Body>
void parallel_blocks(int64_t n, int64_t grain, Body&& body) {
  struct Context {
    std::remove_reference_t<Body>* body;
    int64_t n, grain;
  } context{std::addressof(body), n, grain};
  if (n <= 0) return;
  detail::run_blocks(
      block_count(n, grain),
      [](void* raw, int64_t block) {
        auto& c = *static_cast<Context*>(raw);
        const int64_t begin = block * c.grain;
        const int64_t end = begin + c.grain < c.n ? begin + c.grain : c.n;
        (*c.body)(block, begin, end);
      },
      &context);
}

/// body(begin, end) for every block of [0, n).
template <class Body>
void parallel_for(int64_t n, int64_t grain, Body&& body) {
  parallel_blocks(n, grain, [&](int64_t, int64_t begin, int64_t end) { body(begin, end); });
}

/// Sum over blocks of body(begin, end), added in block order.
template <class T, class Body>
T parallel_sum(int64_t n, int64_t grain, Body&& body) {
  if (n <= 0) return T{};
  std::vector<T> partial(static_cast<size_t>(block_count(n, grain)));
  parallel_blocks(n, grain, [&](int64_t block, int64_t begin, int64_t end) {
    partial[static_cast<size_t>(block)] = body(begin, end);
  });
  T sum{};
  for (const T& p : partial) sum += p;
  return sum;
}

}  // namespace dgat
