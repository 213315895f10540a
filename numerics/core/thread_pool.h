// SPDX-License-Identifier: Apache-2.0
//
// The one thread pool: loops and reductions over fixed blocks, whose results do not depend on how
// many threads ran them.
#ifndef ASSAY_NUMERICS_CORE_THREAD_POOL_H_
#define ASSAY_NUMERICS_CORE_THREAD_POOL_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace assay {

// A number of threads that wait for loops to run. The thread that calls ParallelFor works too, so
// ThreadPool(1) starts no thread, and neither does any pool in WebAssembly built without threads:
// there all blocks run in order on the caller.
//
//   ThreadPool pool(4);
//   double sum = pool.ParallelReduce(
//       n, 1024, 0.0, [&](int64_t begin, int64_t end) { return Sum(x, begin, end); },
//       [](double a, double b) { return a + b; });
//
// A loop started while another one has the threads, inside one of its blocks or elsewhere, runs on
// the thread that starts it: loops may nest, over several pools too, and several threads may share
// a pool.
class ThreadPool {
 public:
  // At least one thread (checked).
  explicit ThreadPool(int threads);
  // Waits for the threads; no loop may be running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // How many threads work on a loop, the caller among them: what was asked for, or 1 where there
  // are no threads.
  int threads() const;

  // Threads that this machine runs at once, at least 1.
  static int HardwareThreads();

  // Calls body(begin, end) for the blocks [0, block), [block, 2 block), ... of [0, n), the last one
  // cut at n; each once, in any order and on any thread, and returns when all are done. n >= 0 and
  // block >= 1 (checked). The body must not throw, and must write only what its block owns.
  // Cost: one atomic increment a block, and some microseconds to wake the threads.
  void ParallelFor(int64_t n, int64_t block,
                   absl::FunctionRef<void(int64_t begin, int64_t end)> body);

  // The values map(begin, end) of the blocks, as in ParallelFor, combined in a fixed binary tree:
  // neighbours first, (b0 b1) (b2 b3) ..., then pairs of pairs; an odd one out passes up
  // unchanged. So the result depends on n, block and the functions alone, never on threads(), and
  // a sum of rounded values errs by at most log2(blocks) more roundings.
  // `empty` is the result for n = 0, and is not combined otherwise. T is copied; map and combine
  // must be pure up to what their block owns.
  // Cost: as ParallelFor, and ceil(n / block) values of T.
  template <class T, class Map, class Combine>
  T ParallelReduce(int64_t n, int64_t block, T empty, Map map, Combine combine) {
    if (n == 0) return empty;
    struct Slot {  // std::vector<bool> would pack what threads write apart
      T value;
    };
    std::vector<Slot> slots(static_cast<size_t>((n - 1) / block + 1), Slot{std::move(empty)});
    ParallelFor(n, block, [&](int64_t begin, int64_t end) {
      slots[static_cast<size_t>(begin / block)].value = map(begin, end);
    });
    for (size_t step = 1; step < slots.size(); step *= 2) {
      for (size_t i = 0; i + step < slots.size(); i += 2 * step) {
        slots[i].value = combine(std::move(slots[i].value), std::move(slots[i + step].value));
      }
    }
    return std::move(slots[0].value);
  }

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_THREAD_POOL_H_
