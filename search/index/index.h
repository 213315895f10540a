// SPDX-License-Identifier: Apache-2.0
//
// FlatIndex: exact nearest-neighbour search over vectors kept in one flat matrix.
//
//   absl::StatusOr<FlatIndex<float>> index = FlatIndex<float>::Create(784, Metric::kL2);
//   if (!index.ok()) return index.status();
//   absl::Status added = index->Add(rows);                   // row-major, a multiple of 784 values
//   absl::StatusOr<SearchResult> result = index->Search(queries, 10);
//   for (int64_t id : result->Ids(0)) ...                    // the nearest of the first query
//
// Every row is looked at; the answer is exact and so is its reproduction: ids, distances and counts
// are the same bits natively and in WebAssembly, for any register width, any number of threads, and
// whether a query is asked alone or in a batch.
//
// Use it up to a few million rows, as the judge of approximate indexes at any size, or where the
// answer must be the same tomorrow. It keeps no structure that would let it skip rows.

#ifndef ASSAY_SEARCH_INDEX_INDEX_H_
#define ASSAY_SEARCH_INDEX_INDEX_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hwy/aligned_allocator.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "search/index/types.h"

namespace assay::index {

// The largest dimension: the sum of 32,768 products of bytes still fits 31 bits.
inline constexpr int64_t kMaxDimension = 32768;

struct IndexOptions {
  // Adding rows beyond this many bytes of stored matrix is refused (ResourceExhausted). The default
  // is 1 TiB natively and 1 GiB where addresses have 32 bits.
  int64_t max_bytes = sizeof(void*) == 4 ? int64_t{1} << 30 : int64_t{1} << 40;
};

struct SearchOptions {
  // Fills SearchResult::work.
  bool explain = false;
  // Threads to share the work among; null: the calling thread alone. Results and counts are the
  // same.
  ThreadPool* pool = nullptr;
};

// An exact index over rows of T, float or uint8_t. Ids are row numbers in the order of addition,
// from 0. It owns its rows: every Add copies.
//
// Values, for rows x and y of `dimension` elements:
//   float: sums in f32, in the fixed order of internal/distance.h (sixteen lanes, then a tree). For
//     finite input without overflow the error of a sum S of d terms t_i is at most
//     gamma(ceil(d/16) + 4) sum |t_i|, gamma(m) = m u / (1 - m u), u = 2^-24, plus two roundings a
//     term (Higham 2002, sec. 4.2). A sum that overflows to infinity is returned as such; a pair
//     whose value is NaN is not returned. Cosine divides in f64, so its only error is of its sums.
//     Where x.x or y.y, summed in f32, lies outside [2^-100, 2^120], cosine takes that square and
//     x.y from sums in f64, in the same order: no finite vectors overflow or underflow there, and
//     only a vector of zeros counts as the zero vector.
//   uint8_t: sums in integers, exact; cosine is one f64 division, one root and one subtraction.
//
// Thread safety: const functions may run at the same time; Add must not run beside anything else.
template <class T>
class FlatIndex {
 public:
  // An empty index. Fails: InvalidArgument for a dimension outside [1, kMaxDimension], an unknown
  // metric or max_bytes < 0.
  static absl::StatusOr<FlatIndex> Create(int64_t dimension, Metric metric,
                                          const IndexOptions& options = {});

  FlatIndex(FlatIndex&&) noexcept = default;
  FlatIndex& operator=(FlatIndex&&) noexcept = default;

  // Appends rows: [n, dimension], row-major. n = 0 is allowed. A row with a NaN or an infinity is
  // stored, keeps its id, and is never returned. The rows may be rows of this index.
  // Cost: amortised O(n * dimension) copies; at most one new block of memory.
  // Fails: InvalidArgument if the length is no multiple of the dimension (or the view's columns are
  // not the dimension), ResourceExhausted beyond max_bytes; the index is then unchanged.
  absl::Status Add(std::span<const T> rows);
  absl::Status Add(MatrixView<const T> rows);

  // The k nearest rows to each query.
  //   queries: [m, dimension], row-major, m >= 0. A query with a NaN or an infinity finds nothing.
  //   k: at least 1; where fewer than k rows can be returned, the rest is padding (see
  //   SearchResult).
  // Cost: m * size() * dimension multiplications; reads the matrix once for every 32 queries.
  // Memory: 16 bytes * m * min(k, size()) for each group of rows beside the result.
  // Fails: InvalidArgument for k < 1 or a length that is no multiple of the dimension,
  // ResourceExhausted if m * k exceeds 2^27 entries.
  absl::StatusOr<SearchResult> Search(std::span<const T> queries, int64_t k,
                                      const SearchOptions& options = {}) const;
  absl::StatusOr<SearchResult> Search(MatrixView<const T> queries, int64_t k,
                                      const SearchOptions& options = {}) const;

  // The row with this id: [dimension], valid until the next Add. Fails: NotFound.
  absl::StatusOr<std::span<const T>> Row(int64_t id) const;

  int64_t size() const { return size_; }
  int64_t dimension() const { return dimension_; }
  Metric metric() const { return metric_; }
  const IndexOptions& options() const { return options_; }
  // Rows that hold a NaN or an infinity, and so are never returned. Always 0 for uint8_t.
  int64_t unsearchable() const { return unsearchable_; }
  // Bytes from one stored row to the next: the dimension padded to a whole register.
  int64_t row_bytes() const { return stride_ * static_cast<int64_t>(sizeof(T)); }

 private:
  struct Block;

  FlatIndex(int64_t dimension, Metric metric, const IndexOptions& options);

  // Makes room for this many rows. Where they move, `old` takes over the memory that they leave.
  absl::Status Reserve(int64_t rows, hwy::AlignedFreeUniquePtr<T[]>& old);
  // Scans rows [begin, end) for the queries of one block.
  void Scan(Block& block, int64_t begin, int64_t end) const;

  int64_t dimension_;
  int64_t stride_;
  Metric metric_;
  IndexOptions options_;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
  int64_t unsearchable_ = 0;
  hwy::AlignedFreeUniquePtr<T[]> rows_;  // [capacity_, stride_], padded with zeros
  std::vector<double> squares_;          // x.x for each row; empty unless the metric reads it
  std::vector<uint8_t> searchable_;      // 1 if every element is finite; empty for uint8_t
};

extern template class FlatIndex<float>;
extern template class FlatIndex<uint8_t>;

}  // namespace assay::index

#endif  // ASSAY_SEARCH_INDEX_INDEX_H_
