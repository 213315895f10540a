// SPDX-License-Identifier: Apache-2.0
//
// lines.h: what transforms over several axes share: the check of a shape, buffers that must not
// overlap, and columns of a matrix handed out as contiguous lines.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_LINES_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_LINES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "numerics/core/check.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/plan_tables.h"

namespace assay::fft::internal {

// Columns of n elements that are gathered at once: whole cache lines of any element from every row,
// in a buffer that fits the second-level cache up to some thousand rows.
constexpr int64_t ColumnsAtOnce(int64_t n) { return n <= 4096 ? 16 : 8; }

// Below this many elements waking threads costs more than it saves.
inline constexpr int64_t kWorthSharing = 1 << 14;

// Fails (kInvalidArgument) unless 1 <= axes <= rank, every extent is at least 1 and the product is
// at most kMaxSize. `who` begins the message, which shows the shape.
inline absl::Status CheckShape(std::string_view who, std::span<const int64_t> shape, int axes) {
  auto wrong = [&](std::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(who, ": ", axes, " axes of the shape [",
                                                   absl::StrJoin(shape, ", "), "], expected ",
                                                   expected));
  };
  if (axes < 1 || axes > static_cast<int64_t>(shape.size())) {
    return wrong("from one axis to all of them");
  }
  int64_t size = 1;
  for (int64_t extent : shape) {
    if (extent < 1) return wrong("extents of at least 1");
    if (extent > kMaxSize / size) return wrong(absl::StrCat("at most ", kMaxSize, " elements"));
    size *= extent;
  }
  return absl::OkStatus();
}

inline int64_t Product(std::span<const int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

// Fails (kInvalidArgument) unless the sizes are those wanted (the scratch may be longer) and
// nothing overlaps, but for `in` and `out` beginning at the same place where that is allowed.
template <class In, class Out, class T>
absl::Status CheckBuffers(std::string_view who, std::span<const In> in, int64_t want_in,
                          std::span<Out> out, int64_t want_out, std::span<T> scratch,
                          int64_t want_scratch, bool in_place_allowed) {
  return CheckBuffers(who, {in.data(), in.size(), sizeof(In), want_in},
                      {out.data(), out.size(), sizeof(Out), want_out},
                      {scratch.data(), scratch.size(), sizeof(T), want_scratch}, in_place_allowed);
}

inline int Threads(const ThreadPool* pool) { return pool == nullptr ? 1 : pool->threads(); }

// Calls body(begin, end, scratch) for contiguous parts of [0, count), one for each thread, with
// `each` elements of the scratch that are nobody else's. work: elements in all.
template <class T, class Body>
void Share(ThreadPool* pool, int64_t count, int64_t work, std::span<T> scratch, int64_t each,
           Body body) {
  const int64_t threads = work < kWorthSharing ? 1 : Threads(pool);
  if (threads == 1) return body(int64_t{0}, count, scratch.first(static_cast<size_t>(each)));
  const int64_t block = (count + threads - 1) / threads;
  pool->ParallelFor(count, block, [&](int64_t begin, int64_t end) {
    const size_t offset = static_cast<size_t>(begin / block * each);
    body(begin, end, scratch.subspan(offset, static_cast<size_t>(each)));
  });
}

template <class E, class T>
constexpr int64_t ColumnBuffer(int64_t n) {
  return static_cast<int64_t>(sizeof(E) / sizeof(T)) * ColumnsAtOnce(n) * n;
}

// The columns of `outer` row-major matrices [n, inner], one after the other in `data`: calls
// block(columns, count, rest) with some of them in `columns`, element j of column q at
// [q + count * j], and writes back what it leaves there.
//   scratch: for each thread ColumnBuffer<E, T>(n) + rest.
template <class E, class T, class Block>
void ForColumns(E* data, int64_t outer, int64_t n, int64_t inner, std::span<T> scratch,
                int64_t rest, ThreadPool* pool, Block block) {
  const int64_t width = ColumnsAtOnce(n), blocks = (inner + width - 1) / width;
  const int64_t buffer = ColumnBuffer<E, T>(n);
  Share(pool, outer * blocks, outer * n * inner, scratch, buffer + rest,
        [&](int64_t begin, int64_t end, std::span<T> own) {
          E* const columns = reinterpret_cast<E*>(own.data());
          for (int64_t i = begin; i < end; ++i) {
            const int64_t first = i % blocks * width;
            const int64_t count = std::min(width, inner - first);
            E* const corner = data + i / blocks * n * inner + first;
            for (int64_t j = 0; j < n; ++j) {
              std::copy_n(corner + j * inner, count, columns + j * count);
            }
            block(columns, count, own.subspan(static_cast<size_t>(buffer)));
            for (int64_t j = 0; j < n; ++j) {
              std::copy_n(columns + j * count, count, corner + j * inner);
            }
          }
        });
}

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_LINES_H_
