// SPDX-License-Identifier: Apache-2.0

#include "search/index/index.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "search/index/internal/distance.h"
#include "search/index/internal/top_k.h"

namespace assay::index {
namespace {

using internal::Candidate;
using internal::TopK;

// Queries that share one pass over a tile of rows: 32 queries of 784 floats are 98 KiB, which
// leaves room beside the tile in a second-level cache of 512 KiB.
constexpr int64_t kQueryBlock = 32;
// A tile of rows stays in the second-level cache while the block's queries pass over it.
constexpr int64_t kTileBytes = 256 * 1024;
constexpr int64_t kMaxTileRows = 1024;
// Fewer queries than this would leave threads idle: rows are then split into segments as well.
constexpr int64_t kManyQueries = 64;
constexpr int64_t kSegmentRows = 16384;
// A longer list would be most of a segment, and every segment keeps one for every query.
constexpr int64_t kMaxSegmentKept = 1024;
constexpr int64_t kMaxResultEntries = int64_t{1} << 27;

template <class T>
constexpr int64_t kLanes = std::is_same_v<T, float> ? internal::kF32Lanes : internal::kU8Lanes;

constexpr int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <class T>
bool AllFinite(std::span<const T> row) {
  if constexpr (std::is_same_v<T, float>) {
    // The exponent of an infinity or a NaN is all ones, so x - x is NaN for them and 0 otherwise.
    return std::all_of(row.begin(), row.end(), [](float x) { return x - x == 0.0f; });
  } else {
    return true;
  }
}

// Whether f32 is wide enough for x.x, and so, by Cauchy and Schwarz, for x.y with any y of which
// the same holds: no partial sum overflows, and what terms lose below 2^-126, at most 2^-150 each,
// is less than 2^-35 of sqrt(x.x y.y). false for 0 and NaN.
bool FitsF32(double square) { return square >= 0x1p-100 && square <= 0x1p120; }

// x.x of a padded row, in the order in which the kernels add: in f32, or in f64 where f32 is too
// narrow. u8: exact.
double SquareSum(const float* row, int64_t stride) {
  const double square = internal::InnerProductReference(row, row, stride);
  return FitsF32(square) ? square : internal::WideInnerProduct(row, row, stride);
}
double SquareSum(const uint8_t* row, int64_t stride) {
  int64_t sum = 0;
  for (int64_t i = 0; i < stride; ++i) sum += int64_t{row[i]} * row[i];
  return static_cast<double>(sum);
}

double CosineKey(double dot, double xx, double yy) {
  if (xx == 0 || yy == 0) return 1.0;
  // Written so that a NaN stays a NaN.
  const double key = 1.0 - dot / std::sqrt(xx * yy);
  if (key < 0.0) return 0.0;
  if (key > 2.0) return 2.0;
  return key;
}

}  // namespace

// One block of queries on its way over the rows, with all the memory it needs.
template <class T>
struct FlatIndex<T>::Block {
  using Query = std::conditional_t<std::is_same_v<T, float>, float, int16_t>;
  using Sum = std::conditional_t<std::is_same_v<T, float>, float, int32_t>;

  int64_t count = 0;
  hwy::AlignedFreeUniquePtr<Query[]> queries;  // [kQueryBlock, stride]
  hwy::AlignedFreeUniquePtr<Sum[]> sums;       // [kQueryBlock, tile_rows]
  int64_t tile_rows = 0;
  double squares[kQueryBlock];
  bool searchable[kQueryBlock];
  TopK best[kQueryBlock];
  Work work;
};

template <class T>
FlatIndex<T>::FlatIndex(int64_t dimension, Metric metric, const IndexOptions& options)
    : dimension_(dimension),
      stride_(RoundUp(dimension, kLanes<T>)),
      metric_(metric),
      options_(options) {}

template <class T>
absl::StatusOr<FlatIndex<T>> FlatIndex<T>::Create(int64_t dimension, Metric metric,
                                                  const IndexOptions& options) {
  if (dimension < 1 || dimension > kMaxDimension) {
    return absl::InvalidArgumentError(
        absl::StrCat("index: dimension is ", dimension, ", expected 1 to ", kMaxDimension));
  }
  if (metric != Metric::kL2 && metric != Metric::kInnerProduct && metric != Metric::kCosine) {
    return absl::InvalidArgumentError(
        absl::StrCat("index: metric is ", static_cast<int>(metric),
                     ", expected 0 (l2), 1 (inner product) or 2 (cosine)"));
  }
  if (options.max_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("index: max_bytes is ", options.max_bytes, ", expected 0 or more"));
  }
  return FlatIndex(dimension, metric, options);
}

template <class T>
absl::Status FlatIndex<T>::Reserve(int64_t rows, hwy::AlignedFreeUniquePtr<T[]>& old) {
  const int64_t most = options_.max_bytes / row_bytes();
  if (rows > most) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "index: ", rows, " rows of ", row_bytes(), " bytes exceed max_bytes = ", options_.max_bytes,
        "; room is for ", most, " rows"));
  }
  if (rows <= capacity_) return absl::OkStatus();
  const int64_t grown = std::min(std::max(rows, capacity_ + capacity_ / 2), most);
  const auto bytes = static_cast<uint64_t>(grown) * static_cast<uint64_t>(row_bytes());
  hwy::AlignedFreeUniquePtr<T[]> block;
  if (bytes <= std::numeric_limits<size_t>::max() / 2) {
    block = hwy::AllocateAligned<T>(static_cast<size_t>(grown * stride_));
  }
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("index: the system has no ", bytes, " bytes for ", grown, " rows"));
  }
  if (size_ > 0) std::memcpy(block.get(), rows_.get(), static_cast<size_t>(size_ * row_bytes()));
  old = std::exchange(rows_, std::move(block));
  capacity_ = grown;
  return absl::OkStatus();
}

template <class T>
absl::Status FlatIndex<T>::Add(std::span<const T> rows) {
  const auto length = static_cast<int64_t>(rows.size());
  if (length % dimension_ != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("index: ", length, " values are no whole number of rows of ", dimension_));
  }
  if (length == 0) return absl::OkStatus();
  absl::StatusOr<MatrixView<const T>> view =
      MatrixView<const T>::Create(rows, length / dimension_, dimension_);
  if (!view.ok()) return view.status();
  return Add(*view);
}

template <class T>
absl::Status FlatIndex<T>::Add(MatrixView<const T> rows) {
  if (rows.cols() != dimension_) {
    return absl::InvalidArgumentError(
        absl::StrCat("index: rows have ", rows.cols(), " columns, expected ", dimension_));
  }
  if (rows.rows() > std::numeric_limits<int64_t>::max() - size_) {
    return absl::ResourceExhaustedError("index: the row numbers would overflow");
  }
  // The rows may be the index's own: they stay where they are until they are copied.
  hwy::AlignedFreeUniquePtr<T[]> old;
  if (absl::Status reserved = Reserve(size_ + rows.rows(), old); !reserved.ok()) return reserved;
  // The inner product of floats needs no square; the L2 of bytes comes from squares and products.
  const bool needs_squares =
      metric_ == Metric::kCosine || (metric_ == Metric::kL2 && std::is_same_v<T, uint8_t>);
  for (int64_t i = 0; i < rows.rows(); ++i) {
    T* row = rows_.get() + size_ * stride_;
    for (int64_t j = 0; j < dimension_; ++j) row[j] = rows(i, j);
    std::fill(row + dimension_, row + stride_, T{0});
    if (needs_squares) squares_.push_back(SquareSum(row, stride_));
    if constexpr (std::is_same_v<T, float>) {
      const bool finite = AllFinite(std::span<const T>(row, static_cast<size_t>(dimension_)));
      searchable_.push_back(finite ? 1 : 0);
      if (!finite) ++unsearchable_;
    }
    ++size_;
  }
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<std::span<const T>> FlatIndex<T>::Row(int64_t id) const {
  if (id < 0 || id >= size_) {
    return absl::NotFoundError(
        absl::StrCat("index: no row has id ", id, "; there are ", size_, " rows"));
  }
  return std::span<const T>(rows_.get() + id * stride_, static_cast<size_t>(dimension_));
}

template <class T>
void FlatIndex<T>::Scan(Block& block, int64_t begin, int64_t end) const {
  for (int64_t tile = begin; tile < end; tile += block.tile_rows) {
    const int64_t rows = std::min(block.tile_rows, end - tile);
    if constexpr (std::is_same_v<T, float>) {
      const internal::F32Tile sums = {
          block.queries.get(), block.count,    rows_.get() + tile * stride_, rows, stride_,
          block.sums.get(),    block.tile_rows};
      if (metric_ == Metric::kL2) {
        internal::SquaredL2(sums);
      } else {
        internal::InnerProducts(sums);
      }
    } else {
      internal::InnerProducts(internal::U8Tile{block.queries.get(), block.count,
                                               rows_.get() + tile * stride_, rows, stride_,
                                               block.sums.get(), block.tile_rows});
    }
    for (int64_t q = 0; q < block.count; ++q) {
      if (!block.searchable[q]) continue;
      TopK& best = block.best[q];
      const auto* sums = block.sums.get() + q * block.tile_rows;
      const double xx = block.squares[q];
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t id = tile + r;
        double key = 0;
        switch (metric_) {
          case Metric::kL2:
            if constexpr (std::is_same_v<T, float>) {
              key = sums[r];
            } else {
              // Whole numbers below 2^33, so f64 is exact: no cancellation, unlike in f32.
              key = xx + squares_[id] - 2.0 * sums[r];
            }
            break;
          case Metric::kInnerProduct:
            key = -static_cast<double>(sums[r]);
            break;
          case Metric::kCosine: {
            const double yy = squares_[id];
            double dot = sums[r];
            if constexpr (std::is_same_v<T, float>) {
              if (!(FitsF32(xx) && FitsF32(yy)) && xx != 0 && yy != 0) {
                dot = internal::WideInnerProduct(block.queries.get() + q * stride_,
                                                 rows_.get() + id * stride_, stride_);
              }
            }
            key = CosineKey(dot, xx, yy);
            break;
          }
        }
        // False for NaN as well.
        if (!(key <= best.threshold())) continue;
        if constexpr (std::is_same_v<T, float>) {
          if (!searchable_[id]) continue;
        }
        best.Offer(key, id);
      }
    }
    block.work.tile_bytes += rows * row_bytes();
  }
  const int64_t pairs = block.count * (end - begin);
  block.work.distances += pairs;
  block.work.pair_bytes += pairs * dimension_ * static_cast<int64_t>(sizeof(T));
}

template <class T>
absl::StatusOr<SearchResult> FlatIndex<T>::Search(std::span<const T> queries, int64_t k,
                                                  const SearchOptions& options) const {
  const auto length = static_cast<int64_t>(queries.size());
  if (length % dimension_ != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("search: ", length, " values are no whole number of queries of ", dimension_));
  }
  absl::StatusOr<MatrixView<const T>> view =
      MatrixView<const T>::Create(queries, length / dimension_, dimension_);
  if (!view.ok()) return view.status();
  return Search(*view, k, options);
}

template <class T>
absl::StatusOr<SearchResult> FlatIndex<T>::Search(MatrixView<const T> queries, int64_t k,
                                                  const SearchOptions& options) const {
  if (k < 1) {
    return absl::InvalidArgumentError(absl::StrCat("search: k is ", k, ", expected 1 or more"));
  }
  if (queries.cols() != dimension_) {
    return absl::InvalidArgumentError(
        absl::StrCat("search: queries have ", queries.cols(), " columns, expected ", dimension_));
  }
  const int64_t m = queries.rows();
  if (m > 0 && k > kMaxResultEntries / m) {
    return absl::ResourceExhaustedError(absl::StrCat("search: ", m, " queries with k = ", k,
                                                     " ask for more than ", kMaxResultEntries,
                                                     " results; ask in smaller batches"));
  }
  SearchResult result;
  result.queries = m;
  result.k = k;
  const auto entries = static_cast<size_t>(m * k);
  const double padding = LargerIsCloser(metric_) ? -std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<double>::infinity();
  result.ids.assign(entries, -1);
  result.distances.assign(entries, padding);
  result.found.assign(static_cast<size_t>(m), 0);
  if (m == 0 || size_ == 0) return result;

  // The shape of the work depends on m and size() alone, never on the threads: so do the counts.
  const int64_t kept = std::min(k, size_);
  const int64_t blocks = (m + kQueryBlock - 1) / kQueryBlock;
  const bool split_rows = m < kManyQueries && kept <= kMaxSegmentKept;
  const int64_t segment_rows = split_rows ? kSegmentRows : size_;
  const int64_t segments = (size_ + segment_rows - 1) / segment_rows;
  const int64_t tile_rows = std::clamp<int64_t>(kTileBytes / row_bytes() / 4 * 4, 4, kMaxTileRows);
  std::vector<Work> works(static_cast<size_t>(blocks * segments));
  // Candidates of every (segment, query): one segment writes where no other does.
  std::vector<Candidate> candidates(static_cast<size_t>(segments * m * kept));
  std::vector<int64_t> counts(static_cast<size_t>(segments * m), 0);

  const auto scan = [&](int64_t first_item, int64_t last_item) {
    using Query = typename Block::Query;
    Block block;
    block.tile_rows = tile_rows;
    block.queries = hwy::AllocateAligned<Query>(static_cast<size_t>(kQueryBlock * stride_));
    block.sums =
        hwy::AllocateAligned<typename Block::Sum>(static_cast<size_t>(kQueryBlock * tile_rows));
    ASSAY_CHECK(block.queries != nullptr && block.sums != nullptr);
    for (int64_t item = first_item; item < last_item; ++item) {
      const int64_t segment = item / blocks;
      const int64_t first_query = item % blocks * kQueryBlock;
      block.count = std::min(kQueryBlock, m - first_query);
      block.work = {};
      block.work.query_bytes = block.count * stride_ * static_cast<int64_t>(sizeof(Query));
      for (int64_t q = 0; q < block.count; ++q) {
        Query* query = block.queries.get() + q * stride_;
        bool finite = true;
        for (int64_t j = 0; j < dimension_; ++j) {
          const T value = queries(first_query + q, j);
          if constexpr (std::is_same_v<T, float>) finite = finite && value - value == 0.0f;
          query[j] = static_cast<Query>(value);
        }
        std::fill(query + dimension_, query + stride_, Query{0});
        block.searchable[q] = finite;
        if constexpr (std::is_same_v<T, float>) {
          block.squares[q] = SquareSum(query, stride_);
        } else {
          double sum = 0;  // exact: whole numbers below 2^53
          for (int64_t j = 0; j < dimension_; ++j) sum += static_cast<double>(query[j]) * query[j];
          block.squares[q] = sum;
        }
        Candidate* list = candidates.data() + (segment * m + first_query + q) * kept;
        block.best[q] = TopK(std::span<Candidate>(list, static_cast<size_t>(kept)));
      }
      const int64_t begin = segment * segment_rows;
      Scan(block, begin, std::min(begin + segment_rows, size_));
      for (int64_t q = 0; q < block.count; ++q) {
        TopK& best = block.best[q];
        counts[segment * m + first_query + q] = static_cast<int64_t>(best.Finish().size());
        block.work.heap_pushes += best.pushes();
        block.work.heap_moves += best.moves();
      }
      works[item] = block.work;
    }
  };
  const int64_t items = blocks * segments;
  if (options.pool != nullptr && items > 1) {
    options.pool->ParallelFor(items, 1, scan);
  } else {
    scan(0, items);
  }

  Work total;
  for (const Work& work : works) total += work;
  std::vector<Candidate> merged(static_cast<size_t>(kept));
  for (int64_t q = 0; q < m; ++q) {
    std::span<const Candidate> best(candidates.data() + q * kept, static_cast<size_t>(counts[q]));
    if (segments > 1) {
      TopK top(merged);
      for (int64_t segment = 0; segment < segments; ++segment) {
        const Candidate* list = candidates.data() + (segment * m + q) * kept;
        for (int64_t i = 0; i < counts[segment * m + q]; ++i) top.Offer(list[i].key, list[i].id);
      }
      best = top.Finish();
      total.heap_pushes += top.pushes();
      total.heap_moves += top.moves();
    }
    result.found[q] = static_cast<int64_t>(best.size());
    for (size_t i = 0; i < best.size(); ++i) {
      result.ids[q * k + i] = best[i].id;
      result.distances[q * k + i] = LargerIsCloser(metric_) ? -best[i].key : best[i].key;
    }
  }
  if (options.explain) result.work = total;
  return result;
}

template class FlatIndex<float>;
template class FlatIndex<uint8_t>;

}  // namespace assay::index
