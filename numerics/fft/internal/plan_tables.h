// SPDX-License-Identifier: Apache-2.0
//
// plan_tables.h: what a plan knows, and the transform that it drives.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_PLAN_TABLES_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_PLAN_TABLES_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/internal/columns.h"

namespace assay::fft::internal {

// A pass of Stockham's algorithm and where its twiddles begin.
struct PassInfo {
  int radix;
  int64_t m;
  int64_t stride;
  int64_t twiddle_offset;  // into PlanTables::twiddles
};

template <class T>
struct PlanTables {
  int64_t n = 0;
  double l2_bound = 0;
  double path_bound = 0;
  int64_t scratch_size = 0;  // on one thread
  Roots<T> roots;
  // One of three: two sweeps over blocks of columns;
  std::unique_ptr<BlockTables<T>> blocks;
  // Stockham's passes, for what is too short or too odd for that. Pass after pass, for
  // j = 1..radix-1: m real parts of w^(j p), p = 0..m-1, then m imaginary parts;
  std::vector<PassInfo> passes;
  std::unique_ptr<T[]> twiddles;
  // or Bluestein's chirp: the transform of length M, the chirp exp(-i pi j^2 / n), and the
  // transform of its conjugate, divided by M; both interleaved.
  std::unique_ptr<const PlanTables<T>> inner;
  std::unique_ptr<T[]> chirp;
  std::unique_ptr<T[]> kernel;
};

// No prime factor above 13.
bool IsSmooth(int64_t n);

// 2^-24 or 2^-53.
template <class T>
inline constexpr double kUnit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

// The tables for 1 <= n <= kMaxSize; null without memory.
template <class T>
std::unique_ptr<PlanTables<T>> MakeTables(int64_t n, const Sweeps<T>& sweeps);

// How many T of scratch a transform on so many threads needs.
template <class T>
int64_t ScratchSize(const PlanTables<T>& t, int threads);

// Scratch begins wherever the caller's memory does; blocks want whole lines of the cache.
inline constexpr int64_t kLine = 64;
template <class T>
T* AlignUp(T* at) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(at);
  return reinterpret_cast<T*>((address + (kLine - 1)) & ~uintptr_t{kLine - 1});
}

// Pieces of scratch, lent to whoever runs: at most `threads` at a time.
template <class T>
class Borrowed {
 public:
  Borrowed(T* begin, int64_t size, int threads)
      : begin_(begin), size_(size), taken_(static_cast<size_t>(threads)) {}
  template <class Body>
  void With(Body body) {
    size_t i = 0;
    while (taken_[i].exchange(true)) i = (i + 1) % taken_.size();
    body(begin_ + static_cast<int64_t>(i) * size_);
    taken_[i].store(false);
  }

 private:
  T* begin_;
  int64_t size_;
  std::vector<std::atomic<bool>> taken_;
};

// The bounds of Plan for steps of these radices, with `more` twiddle products beside those between
// the steps.
struct Bounds {
  double l2;
  double path;
};
template <class T>
Bounds BoundsOf(const std::vector<int>& radices, int more);

// As Transform below, for what has not the short way.
template <class T>
void TransformLong(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward,
                   ThreadPool* pool);

// The n-point transform of interleaved `in` into interleaved `out` (the same memory or disjoint).
// The backward transform is conj(F(conj(x))); both conjugations ride on the first and the last
// pass. `scratch` is of ScratchSize(t, threads of the pool); pool may be null.
template <class T>
void Transform(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward,
               ThreadPool* pool) {
  if (t.blocks == nullptr || !t.blocks->butterfly_first) {
    return TransformLong(t, in, out, scratch, backward, pool);
  }
  t.blocks->sweeps->both(*t.blocks, in, out, AlignUp(scratch), nullptr, backward ? T{-1} : T{1});
}

// The passes, for people; see Plan::Describe.
template <class T>
std::string Describe(const PlanTables<T>& t);

absl::Status NoMemory(int64_t n);

// The buffers of a transform: sizes in elements, bytes of one element, and what the plan wants.
struct Buffer {
  const void* data;
  size_t size;
  int64_t element_bytes;
  int64_t wanted;
};

inline bool Overlap(const Buffer& a, const Buffer& b) {
  const uintptr_t at_a = reinterpret_cast<uintptr_t>(a.data);
  const uintptr_t at_b = reinterpret_cast<uintptr_t>(b.data);
  return at_a < at_b + b.size * static_cast<size_t>(b.element_bytes) &&
         at_b < at_a + a.size * static_cast<size_t>(a.element_bytes);
}

// What is wrong with the buffers, in words; `who` begins them.
absl::Status Fault(std::string_view who, const Buffer& in, const Buffer& out, const Buffer& scratch,
                   bool in_place_allowed);

// Ok if in and out have the sizes wanted, scratch at least, and none overlaps another, but for
// in == out where that is allowed. Inline, since short transforms take some tens of nanoseconds.
inline absl::Status CheckBuffers(std::string_view who, const Buffer& in, const Buffer& out,
                                 const Buffer& scratch, bool in_place_allowed) {
  const bool sizes = static_cast<int64_t>(in.size) == in.wanted &&
                     static_cast<int64_t>(out.size) == out.wanted &&
                     static_cast<int64_t>(scratch.size) >= scratch.wanted;
  if (sizes && !Overlap(scratch, in) && !Overlap(scratch, out) &&
      (!Overlap(in, out) || (in_place_allowed && in.data == out.data))) {
    return absl::OkStatus();
  }
  return Fault(who, in, out, scratch, in_place_allowed);
}

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_PLAN_TABLES_H_
