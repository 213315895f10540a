// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/thread_pool.h"

#include <algorithm>

#include "numerics/core/check.h"

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
#define ASSAY_HAS_THREADS 0
#else
#define ASSAY_HAS_THREADS 1
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#endif

namespace assay {
namespace {

void RunInOrder(int64_t n, int64_t block, absl::FunctionRef<void(int64_t, int64_t)> body) {
  for (int64_t begin = 0; begin < n;) {
    const int64_t end = n - begin > block ? begin + block : n;
    body(begin, end);
    begin = end;
  }
}

}  // namespace

#if ASSAY_HAS_THREADS

namespace {

// One loop: blocks are handed out by an atomic counter.
struct Loop {
  int64_t n;
  int64_t block;
  int64_t blocks;
  absl::FunctionRef<void(int64_t, int64_t)> body;
  std::atomic<int64_t> next{0};

  void Work() {
    for (;;) {
      const int64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= blocks) return;
      const int64_t begin = index * block;
      body(begin, n - begin > block ? begin + block : n);
    }
  }
};

}  // namespace

struct ThreadPool::Shared {
  std::atomic<bool> busy{false};  // whether a loop has the threads

  std::mutex mutex;  // guards what follows
  std::condition_variable wake;
  std::condition_variable done;
  Loop* loop = nullptr;
  uint64_t generation = 0;  // counts loops, so that a thread joins each one once
  int working = 0;          // threads inside the loop, the caller not counted
  bool stop = false;

  std::vector<std::thread> threads;

  void RunThread() {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return stop || (loop != nullptr && generation != seen); });
      if (stop) return;
      seen = generation;
      Loop* const joined = loop;
      ++working;
      lock.unlock();
      joined->Work();
      lock.lock();
      if (--working == 0) done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : shared_(std::make_unique<Shared>()) {
  ASSAY_CHECK_GE(threads, 1);
  shared_->threads.reserve(static_cast<size_t>(threads - 1));
  for (int i = 1; i < threads; ++i) {
    shared_->threads.emplace_back([shared = shared_.get()] { shared->RunThread(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->wake.notify_all();
  for (std::thread& thread : shared_->threads) thread.join();
}

int ThreadPool::threads() const { return static_cast<int>(shared_->threads.size()) + 1; }

int ThreadPool::HardwareThreads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ThreadPool::ParallelFor(int64_t n, int64_t block,
                             absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  ASSAY_CHECK_GE(n, 0);
  ASSAY_CHECK_GE(block, 1);
  if (n == 0) return;
  // Whoever finds the threads taken works alone, and so can never wait for itself.
  if (n <= block || shared_->threads.empty() || shared_->busy.exchange(true)) {
    RunInOrder(n, block, body);
    return;
  }
  Loop loop{n, block, (n - 1) / block + 1, body};
  {
    std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->loop = &loop;
    ++shared_->generation;
  }
  shared_->wake.notify_all();
  loop.Work();
  std::unique_lock<std::mutex> lock(shared_->mutex);
  // No block is left: a thread that has not joined yet must not, since `loop` ends here.
  shared_->loop = nullptr;
  shared_->done.wait(lock, [&] { return shared_->working == 0; });
  shared_->busy.store(false);
}

#else

struct ThreadPool::Shared {};

ThreadPool::ThreadPool(int threads) { ASSAY_CHECK_GE(threads, 1); }
ThreadPool::~ThreadPool() = default;
int ThreadPool::threads() const { return 1; }
int ThreadPool::HardwareThreads() { return 1; }

void ThreadPool::ParallelFor(int64_t n, int64_t block,
                             absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  ASSAY_CHECK_GE(n, 0);
  ASSAY_CHECK_GE(block, 1);
  RunInOrder(n, block, body);
}

#endif

}  // namespace assay
