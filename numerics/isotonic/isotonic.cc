// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/isotonic.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/isotonic/internal/blocks.h"
#include "numerics/isotonic/internal/bounds.h"
#include "numerics/isotonic/internal/mean.h"
#include "numerics/isotonic/internal/row.h"

namespace assay::isotonic {
namespace {

using internal::BlockFinder;
using internal::CountRow;
using internal::EndSet;
using internal::Extent;
using internal::Units;
using internal::ValueRow;

constexpr int64_t kChunk = 64 * 1024;  // points that one thread takes at a time

template <class T>
struct Strided {
  const T* data;
  int64_t stride;
  int64_t size;
  const T& operator[](int64_t i) const { return data[i * stride]; }
};

template <class T>
Extent MeasureAll(const Strided<T>& x, ThreadPool* pool) {
  const auto measure = [&x](int64_t begin, int64_t end) {
    return internal::Measure(x.data + begin * x.stride, x.stride, end - begin);
  };
  if (pool == nullptr || x.size <= kChunk) return measure(0, x.size);
  return pool->ParallelReduce(x.size, kChunk, Extent{}, measure, [](Extent a, const Extent& b) {
    a.Merge(b);
    return a;
  });
}

// What is wrong with x, which holds a number that is not finite or, if weights, below 0.
template <class T>
absl::Status FirstBad(const Strided<T>& x, bool weights, const std::string& where) {
  for (int64_t i = 0; i < x.size; ++i) {
    const double value = static_cast<double>(x[i]);
    if (std::isfinite(value) && !(weights && value < 0)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(weights ? "weights" : "y", "[", where, i, "] is ", value,
                     weights ? "; expected a finite number that is not negative"
                             : "; expected a finite number"));
  }
  ASSAY_CHECK(false);  // the caller saw something
  return absl::OkStatus();
}

// Writes the fit of `row` and the ends of its blocks.
template <class Row, class T>
class Fitter {
 public:
  Fitter(const Row& row, const Options& options, T* fit, int64_t stride)
      : row_(row),
        options_(options),
        fit_(fit),
        stride_(stride),
        exact_(row.IsExactDownTo(internal::kLowestExactBit)),
        lower_(internal::RoundBound<T>(options.lower)),
        upper_(internal::RoundBound<T>(options.upper)) {}

  void Run(std::vector<int64_t>* block_ends) {
    // Totals of 2^34 points, of terms below 2^(top + 2), stay below 2^(top + 36).
    const Units top = row_.Top();
    const Units bottom = row_.Bottom();
    const int depth = std::max(top.s - bottom.s, top.w - bottom.w);
    if (depth <= 88) {
      RunWith<2>({top.s - 88, WeightUnit(top.w - 88)}, block_ends);
    } else if (depth <= 216) {
      RunWith<4>({top.s - 216, WeightUnit(top.w - 216)}, block_ends);
    } else {
      RunWith<70>({internal::kWideUnits.s, WeightUnit(internal::kWideUnits.w)}, block_ends);
    }
  }

 private:
  static int WeightUnit(int unit) { return Row::kWeighted ? unit : 0; }

  template <int kWords>
  void RunWith(const Units& units, std::vector<int64_t>* block_ends) {
    BlockFinder<Row, kWords> finder(row_, units);
    const auto crossing = finder.Find(options_.pool);
    const int64_t size = row_.Size();
    if (options_.pool == nullptr || size <= kChunk) {
      WriteChunk(finder.ends(), 0, size);
    } else {
      // Blocks longer than a chunk first, each by all threads; then the rest, chunk by chunk.
      for (const auto& block : crossing) {
        if (block.end - block.begin > kChunk) WriteLong(block.begin, block.end);
      }
      options_.pool->ParallelFor(
          size, kChunk, [&](int64_t begin, int64_t end) { WriteChunk(finder.ends(), begin, end); });
    }
    if (block_ends == nullptr) return;
    block_ends->clear();
    for (int64_t end = 0; end < size;) {
      end = finder.ends().Next(end) + 1;
      block_ends->push_back(end);
    }
  }

  // The blocks that begin in [begin, end); the long ones are written already if there is a pool.
  void WriteChunk(const EndSet& ends, int64_t begin, int64_t end) {
    int64_t from = begin == 0 || ends.Has(begin - 1) ? begin : ends.Next(begin) + 1;
    const bool skip_long = options_.pool != nullptr && row_.Size() > kChunk;
    while (from < end) {
      const int64_t singles = std::min(ends.CountFrom(from), end - from);
      if (singles > 0) {
        for (int64_t i = from; i < from + singles; ++i) fit_[i * stride_] = Finish(Single(i));
        from += singles;
        continue;
      }
      const int64_t to = ends.Next(from) + 1;
      if (!skip_long || to - from <= kChunk) {
        internal::SumOfBlocks sum(exact_);
        if (to - from <= internal::kSumBlock) {
          Write(from, to, Mean(from, to, internal::SumBlock(row_, from, to, exact_)));
        } else {
          for (int64_t i = from; i < to; i += internal::kSumBlock) {
            sum.Add(internal::SumBlock(row_, i, std::min(to, i + internal::kSumBlock), exact_));
          }
          Write(from, to, Mean(from, to, sum.Total()));
        }
      }
      from = to;
    }
  }

  void WriteLong(int64_t begin, int64_t end) {
    ThreadPool& pool = *options_.pool;
    const int64_t blocks = (end - begin + internal::kSumBlock - 1) / internal::kSumBlock;
    std::vector<internal::Sums> sums(static_cast<size_t>(blocks));
    pool.ParallelFor(blocks, 16, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t from = begin + i * internal::kSumBlock;
        sums[static_cast<size_t>(i)] =
            internal::SumBlock(row_, from, std::min(end, from + internal::kSumBlock), exact_);
      }
    });
    internal::SumOfBlocks sum(exact_);
    for (const internal::Sums& block : sums) sum.Add(block);
    const T value = Mean(begin, end, sum.Total());
    pool.ParallelFor(end - begin, kChunk,
                     [&](int64_t from, int64_t to) { Write(begin + from, begin + to, value); });
  }

  T Mean(int64_t begin, int64_t end, const internal::Sums& sums) const {
    return Finish(internal::RoundMean<T>(row_, begin, end, sums));
  }
  T Single(int64_t i) const {
    if constexpr (std::is_same_v<Row, CountRow>) {
      return internal::RoundMean<T>(row_, i, i + 1, internal::SumBlock(row_, i, i + 1, exact_));
    } else {
      return static_cast<T>(row_.Value(i));
    }
  }
  // Within the bounds; and no -0.
  T Finish(T value) const { return std::clamp(value + T{0}, lower_, upper_); }
  void Write(int64_t begin, int64_t end, T value) {
    if (stride_ == 1) {
      std::fill(fit_ + begin, fit_ + end, value);
    } else if (stride_ == -1) {
      std::fill(fit_ - end + 1, fit_ - begin + 1, value);
    } else {
      for (int64_t i = begin; i < end; ++i) fit_[i * stride_] = value;
    }
  }

  const Row& row_;
  const Options& options_;
  T* fit_;
  int64_t stride_;
  bool exact_;
  T lower_;
  T upper_;
};

// Puts the fit of the points with a weight, and the ends of their blocks, in their places among
// all.
//   has_weight(i), for [0, size); fit: at least one of the points has a weight.
template <class T, class HasWeight>
void Spread(const std::vector<T>& fit_of_weighted, const std::vector<int64_t>* ends_of_weighted,
            int64_t size, HasWeight has_weight, T* fit, int64_t stride,
            std::vector<int64_t>* block_ends) {
  size_t next = 0;
  for (int64_t i = 0; i < size; ++i) {
    if (has_weight(i)) ++next;
    fit[i * stride] = fit_of_weighted[next == 0 ? 0 : next - 1];
  }
  if (block_ends == nullptr) return;
  block_ends->clear();
  size_t block = 0;
  next = 0;
  for (int64_t i = 0; i < size; ++i) {
    if (!has_weight(i)) continue;
    // A block ends where the next one's first point with a weight begins.
    if (next > 0 && static_cast<int64_t>(next) == (*ends_of_weighted)[block]) {
      block_ends->push_back(i);
      ++block;
    }
    ++next;
  }
  block_ends->push_back(size);
}

// Fits a row that is the points themselves, or, for a decreasing fit, the points backwards.
template <class Row, class T>
void FitRow(const Row& row, const Options& options, T* fit, int64_t stride,
            std::vector<int64_t>* block_ends) {
  if (options.direction == Direction::kIncreasing) {
    Fitter<Row, T>(row, options, fit, stride).Run(block_ends);
    return;
  }
  const int64_t size = row.Size();
  T* const last = size == 0 ? fit : fit + (size - 1) * stride;
  Fitter<Row, T>(row, options, last, -stride).Run(block_ends);
  if (block_ends == nullptr || size == 0) return;
  block_ends->pop_back();
  std::reverse(block_ends->begin(), block_ends->end());
  for (int64_t& end : *block_ends) end = size - end;
  block_ends->push_back(size);
}

// x without gaps, and backwards for a decreasing fit: x itself if it is so, else a copy.
template <class X>
const X* InOrder(const Strided<X>& x, Direction direction, std::vector<X>& copy) {
  if (x.data == nullptr || (x.stride == 1 && direction == Direction::kIncreasing)) return x.data;
  copy.resize(static_cast<size_t>(x.size));
  for (int64_t i = 0; i < x.size; ++i) {
    copy[static_cast<size_t>(i)] = x[direction == Direction::kIncreasing ? i : x.size - 1 - i];
  }
  return copy.data();
}

// One row whose values and lengths have been checked.
template <class X, class T>
void FitChecked(const Strided<X>& y, const Strided<X>& weights, const Extent& y_extent,
                const Extent& w_extent, const Options& options, T* fit, int64_t fit_stride,
                std::vector<int64_t>* block_ends) {
  std::vector<X> y_copy;
  if (weights.data == nullptr) {
    const ValueRow<X, false> row(InOrder(y, options.direction, y_copy), nullptr, y.size, y_extent,
                                 w_extent);
    FitRow(row, options, fit, fit_stride, block_ends);
    return;
  }
  if constexpr (std::is_floating_point_v<X>) {  // labels have no weights
    if (!w_extent.zeros) {
      std::vector<X> w_copy;
      const ValueRow<X, true> row(InOrder(y, options.direction, y_copy),
                                  InOrder(weights, options.direction, w_copy), y.size, y_extent,
                                  w_extent);
      FitRow(row, options, fit, fit_stride, block_ends);
      return;
    }
    std::vector<X> kept_y;
    std::vector<X> kept_weights;
    for (int64_t i = 0; i < y.size; ++i) {
      if (weights[i] == 0) continue;
      kept_y.push_back(y[i]);
      kept_weights.push_back(weights[i]);
    }
    const int64_t kept = static_cast<int64_t>(kept_y.size());
    Extent kept_y_extent = internal::Measure(kept_y.data(), 1, kept);
    Extent kept_w_extent = w_extent;
    kept_w_extent.zeros = false;
    std::vector<T> kept_fit(kept_y.size());
    std::vector<int64_t> kept_ends;
    FitChecked(Strided<X>{kept_y.data(), 1, kept}, Strided<X>{kept_weights.data(), 1, kept},
               kept_y_extent, kept_w_extent, options, kept_fit.data(), 1,
               block_ends == nullptr ? nullptr : &kept_ends);
    Spread(
        kept_fit, &kept_ends, y.size, [&weights](int64_t i) { return weights[i] != 0; }, fit,
        fit_stride, block_ends);
  }
}

// Checks one row: its values, and its weights if it has them.
template <class X>
absl::Status CheckRow(const Strided<X>& y, const Strided<X>& weights, ThreadPool* pool,
                      const std::string& where, Extent& y_extent, Extent& w_extent) {
  y_extent = MeasureAll(y, pool);
  if (!y_extent.finite) return FirstBad(y, false, where);
  if (weights.data == nullptr) return absl::OkStatus();
  w_extent = MeasureAll(weights, pool);
  if (!w_extent.finite || !w_extent.nonnegative) return FirstBad(weights, true, where);
  if (w_extent.largest == 0 && y.size > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("all ", y.size, " weights", where.empty() ? "" : " of row ",
                     where.substr(0, where.find(',')), " are 0; expected one that is not"));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(int64_t size) {
  // Exact totals are as wide as so many terms need.
  constexpr int64_t kLimit = int64_t{1} << 34;
  if (size < kLimit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a row has ", size, " elements; expected fewer than 2^34"));
}

absl::Status CheckLengths(size_t y, size_t weights, bool has_weights, size_t fit) {
  const absl::Status status = CheckSize(static_cast<int64_t>(y));
  if (!status.ok()) return status;
  if (fit == y && (!has_weights || weights == y)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("y has ", y, " elements, ",
                   has_weights ? absl::StrCat("weights ", weights, ", ") : std::string(), "fit ",
                   fit, "; expected as many of each"));
}

template <class T>
absl::Status FitOne(std::span<const T> y, std::span<const T> weights, std::span<T> fit,
                    const Options& options, std::vector<int64_t>* block_ends) {
  absl::Status status = CheckLengths(y.size(), weights.size(), !weights.empty(), fit.size());
  if (status.ok()) status = internal::CheckOptions(options);
  if (!status.ok()) return status;
  const int64_t size = static_cast<int64_t>(y.size());
  const Strided<T> values = {y.data(), 1, size};
  const Strided<T> row_weights = {weights.empty() ? nullptr : weights.data(), 1, size};
  Extent y_extent;
  Extent w_extent;
  status = CheckRow(values, row_weights, options.pool, "", y_extent, w_extent);
  if (!status.ok()) return status;
  FitChecked(values, row_weights, y_extent, w_extent, options, fit.data(), 1, block_ends);
  return absl::OkStatus();
}

template <class T>
absl::Status FitAllRows(MatrixView<const T> y, MatrixView<const T> weights, MatrixView<T> fit,
                        const Options& options) {
  const bool has_weights = weights.rows() != 0 || weights.cols() != 0;
  if (fit.rows() != y.rows() || fit.cols() != y.cols() ||
      (has_weights && (weights.rows() != y.rows() || weights.cols() != y.cols()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "y is ", y.rows(), " x ", y.cols(), ", weights ", weights.rows(), " x ", weights.cols(),
        ", fit ", fit.rows(), " x ", fit.cols(), "; expected the same shape of each"));
  }
  absl::Status status = internal::CheckOptions(options);
  if (status.ok()) status = CheckSize(y.cols());
  if (!status.ok() || y.empty()) return status;
  const int64_t rows = y.rows();
  const int64_t cols = y.cols();
  const auto row_of = [](const MatrixView<const T>& matrix, int64_t i) {
    return Strided<T>{matrix.data() + i * matrix.row_stride(), matrix.col_stride(), matrix.cols()};
  };
  const auto weights_of = [&](int64_t i) {
    return has_weights ? row_of(weights, i) : Strided<T>{nullptr, 0, cols};
  };
  // Few long rows: one after the other, each by all threads. Many: each by one thread.
  const int threads = options.pool == nullptr ? 1 : options.pool->threads();
  const bool share_rows = threads > 1 && rows < 4 * threads && cols > 2 * kChunk;
  Options row_options = options;
  if (!share_rows) row_options.pool = nullptr;
  const int64_t block = std::max<int64_t>(1, std::min(rows / (4 * threads), kChunk / cols));
  const auto for_rows = [&](absl::FunctionRef<void(int64_t, int64_t)> body) {
    if (share_rows || threads == 1) {
      body(0, rows);
    } else {
      options.pool->ParallelFor(rows, block, body);
    }
  };
  std::vector<Extent> y_extents(static_cast<size_t>(rows));
  std::vector<Extent> w_extents(has_weights ? static_cast<size_t>(rows) : 1);
  std::atomic<int64_t> first_bad{rows};
  for_rows([&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const absl::Status row_status = CheckRow(row_of(y, i), weights_of(i), row_options.pool, "",
                                               y_extents[static_cast<size_t>(i)],
                                               w_extents[has_weights ? static_cast<size_t>(i) : 0]);
      if (row_status.ok()) continue;
      int64_t known = first_bad.load();
      while (i < known && !first_bad.compare_exchange_weak(known, i)) {
      }
      break;
    }
  });
  if (first_bad < rows) {
    Extent ignored;
    return CheckRow(row_of(y, first_bad), weights_of(first_bad), nullptr,
                    absl::StrCat(first_bad.load(), ", "), ignored, ignored);
  }
  for_rows([&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      FitChecked(row_of(y, i), weights_of(i), y_extents[static_cast<size_t>(i)],
                 w_extents[has_weights ? static_cast<size_t>(i) : 0], row_options,
                 fit.data() + i * fit.row_stride(), fit.col_stride(), nullptr);
    }
  });
  return absl::OkStatus();
}

}  // namespace

absl::Status Fit(std::span<const double> y, std::span<const double> weights, std::span<double> fit,
                 const Options& options, std::vector<int64_t>* block_ends) {
  return FitOne(y, weights, fit, options, block_ends);
}
absl::Status Fit(std::span<const float> y, std::span<const float> weights, std::span<float> fit,
                 const Options& options, std::vector<int64_t>* block_ends) {
  return FitOne(y, weights, fit, options, block_ends);
}

absl::Status FitRows(MatrixView<const double> y, MatrixView<const double> weights,
                     MatrixView<double> fit, const Options& options) {
  return FitAllRows(y, weights, fit, options);
}
absl::Status FitRows(MatrixView<const float> y, MatrixView<const float> weights,
                     MatrixView<float> fit, const Options& options) {
  return FitAllRows(y, weights, fit, options);
}

absl::Status FitLabels(std::span<const uint8_t> labels, std::span<double> fit,
                       const Options& options, std::vector<int64_t>* block_ends) {
  absl::Status status = CheckLengths(labels.size(), 0, false, fit.size());
  if (status.ok()) status = internal::CheckOptions(options);
  if (!status.ok()) return status;
  const int64_t size = static_cast<int64_t>(labels.size());
  uint8_t bits = 0;
  for (uint8_t label : labels) bits |= label;
  if (bits > 1) {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] > 1) {
        return absl::InvalidArgumentError(
            absl::StrCat("labels[", i, "] is ", int{labels[i]}, "; expected 0 or 1"));
      }
    }
  }
  Extent extent;
  extent.largest = bits;
  extent.smallest = 1;
  FitChecked(Strided<uint8_t>{labels.data(), 1, size}, Strided<uint8_t>{nullptr, 0, size}, extent,
             Extent{}, options, fit.data(), 1, block_ends);
  return absl::OkStatus();
}

absl::Status FitCounts(std::span<const int64_t> successes, std::span<const int64_t> totals,
                       std::span<double> fit, const Options& options,
                       std::vector<int64_t>* block_ends) {
  const size_t n = successes.size();
  if (totals.size() != n || fit.size() != n) {
    return absl::InvalidArgumentError(absl::StrCat("successes has ", n, " elements, totals ",
                                                   totals.size(), ", fit ", fit.size(),
                                                   "; expected as many of each"));
  }
  absl::Status status = internal::CheckOptions(options);
  if (!status.ok() || n == 0) return status;
  constexpr int64_t kLimit = int64_t{1} << 62;
  int64_t sum_of_totals = 0;
  int64_t sum_of_successes = 0;
  bool zeros = false;
  for (size_t i = 0; i < n; ++i) {
    if (totals[i] < 0 || (totals[i] == 0 && successes[i] != 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("element ", i, " has ", successes[i], " successes of ", totals[i],
                       "; expected a total that is not negative, and none of none"));
    }
    zeros = zeros || totals[i] == 0;
    if (totals[i] >= kLimit - sum_of_totals || successes[i] <= -kLimit || successes[i] >= kLimit ||
        (successes[i] < 0 ? -successes[i] : successes[i]) >= kLimit - sum_of_successes) {
      return absl::InvalidArgumentError(
          absl::StrCat("sums of totals and of successes must stay below 2^62; they do not up to "
                       "element ",
                       i));
    }
    sum_of_totals += totals[i];
    sum_of_successes += successes[i] < 0 ? -successes[i] : successes[i];
  }
  if (sum_of_totals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("all ", n, " totals are 0; expected one that is not"));
  }
  std::vector<int64_t> kept_successes;
  std::vector<int64_t> kept_totals;
  if (zeros) {
    for (size_t i = 0; i < n; ++i) {
      if (totals[i] == 0) continue;
      kept_successes.push_back(successes[i]);
      kept_totals.push_back(totals[i]);
    }
    std::vector<double> kept_fit(kept_totals.size());
    std::vector<int64_t> kept_ends;
    status = FitCounts(kept_successes, kept_totals, kept_fit, options,
                       block_ends == nullptr ? nullptr : &kept_ends);
    Spread(
        kept_fit, &kept_ends, static_cast<int64_t>(n),
        [&totals](int64_t i) { return totals[static_cast<size_t>(i)] != 0; }, fit.data(), 1,
        block_ends);
    return status;
  }
  const int64_t size = static_cast<int64_t>(n);
  const CountRow row(
      InOrder(Strided<int64_t>{successes.data(), 1, size}, options.direction, kept_successes),
      InOrder(Strided<int64_t>{totals.data(), 1, size}, options.direction, kept_totals), size);
  FitRow(row, options, fit.data(), 1, block_ends);
  return absl::OkStatus();
}

}  // namespace assay::isotonic
