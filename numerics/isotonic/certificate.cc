// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/certificate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "numerics/core/bits.h"
#include "numerics/isotonic/internal/check_row.h"
#include "numerics/isotonic/internal/exact_sum.h"

namespace assay::isotonic {
namespace {

using internal::CheckFit;
using internal::CheckRow;
using internal::Dyadic;
using internal::ExactSum;
using internal::HalfSteps;
using internal::Number;
using internal::ProductSum;
using internal::ToDyadic;

constexpr Dyadic kOne = {1, 0, false};

// y and weights read in the order in which the fit increases.
template <class T>
struct Row {
  std::span<const T> y, weights;
  bool reversed;

  int64_t size() const { return static_cast<int64_t>(y.size()); }
  size_t At(int64_t i) const { return static_cast<size_t>(reversed ? size() - 1 - i : i); }
  double Y(int64_t i) const { return static_cast<double>(y[At(i)]); }
  double Weight(int64_t i) const {
    return weights.empty() ? 1.0 : static_cast<double>(weights[At(i)]);
  }
  std::string Name(const char* array, int64_t i) const {
    return std::string(array) + "[" + std::to_string(At(i)) + "]";
  }
  // "elements 3 to 5, whose mean is about 0.25"
  std::string Mean(int64_t begin, int64_t end) const {
    double sum = 0, weight = 0, scale = 0;  // means of a few elements may overflow without scaling
    for (int64_t i = begin; i < end; ++i) scale = std::max(scale, Weight(i));
    for (int64_t i = begin; i < end; ++i) {
      weight += Weight(i) / scale;
      sum += (Y(i) - sum) * (Weight(i) / scale / weight);
    }
    const size_t a = At(begin), b = At(end - 1);
    return "elements " + std::to_string(std::min(a, b)) + " to " + std::to_string(std::max(a, b)) +
           ", whose mean is about " + Number(sum);
  }
};

// The number of T nearest to a bound; an infinite bound stays one.
template <class T>
T NearestOf(double bound) {
  constexpr double kMost = std::numeric_limits<T>::max();
  return static_cast<T>(std::isinf(bound) ? bound : std::clamp(bound, -kMost, kMost));
}

template <class T>
absl::Status CertifyRow(std::span<const T> y, std::span<const T> weights, std::span<const T> fit,
                        const Options& options, int half_ulps) {
  if (absl::Status status = CheckFit(y, weights, fit.size()); !status.ok()) return status;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(options.lower <= options.upper) || options.lower == kInfinity ||
      options.upper == -kInfinity) {
    return absl::InvalidArgumentError("lower is " + Number(options.lower) + " and upper " +
                                      Number(options.upper) +
                                      "; expected lower <= upper with finite numbers between them");
  }
  if (half_ulps < 0 || half_ulps > 1 << 20) {
    return absl::InvalidArgumentError("half_ulps is " + std::to_string(half_ulps) +
                                      "; expected 0 to 2^20");
  }
  const T lower = NearestOf<T>(options.lower), upper = NearestOf<T>(options.upper);

  // Elements of weight 0: as the last one before that has a weight, or the first that has one.
  const int64_t n = static_cast<int64_t>(y.size());
  if (!weights.empty()) {
    int64_t source = 0;
    while (source < n && weights[static_cast<size_t>(source)] == 0) ++source;
    for (int64_t i = 0; i < n; ++i) {
      const size_t k = static_cast<size_t>(i);
      if (weights[k] > 0) source = i;
      const T expected = fit[static_cast<size_t>(source)];
      if (weights[k] > 0 || fit[k] == expected) continue;
      return absl::FailedPreconditionError(
          "fit[" + std::to_string(i) + "] is " + Number(static_cast<double>(fit[k])) +
          "; expected that of element " + std::to_string(source) + ", " +
          Number(static_cast<double>(expected)) + ", as the element's weight is 0");
    }
  }

  const Row<T> row{y, weights, options.direction == Direction::kDecreasing};
  const auto value = [&](int64_t i) { return fit[row.At(i)]; };
  for (int64_t i = 0; i < n; ++i) {
    const T v = value(i);
    if (!(lower <= v && v <= upper)) {
      return absl::FailedPreconditionError(
          row.Name("fit", i) + " is " + Number(static_cast<double>(v)) + "; expected " +
          Number(static_cast<double>(lower)) + " to " + Number(static_cast<double>(upper)));
    }
    // Both bounds may be the same infinity.
    if (!std::isfinite(v) && lower != upper) {
      return absl::FailedPreconditionError(row.Name("fit", i) + " is infinite; expected a number");
    }
    if (i > 0 && !(value(i - 1) <= v)) {
      return absl::FailedPreconditionError(
          row.Name("fit", i - 1) + " and " + row.Name("fit", i) + " are " +
          Number(static_cast<double>(value(i - 1))) + " and " + Number(static_cast<double>(v)) +
          (row.reversed ? "; expected no increase" : "; expected no decrease"));
    }
  }

  ProductSum sum;
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    const T v = value(begin);
    while (end < n && value(end) == v) ++end;
    // What lies exactly halfway rounds to v if v is even.
    const int tie_fails = half_ulps == 1 && (FloatBits(v) & 1) != 0 ? 1 : 0;
    // First parts from the left against L, then last parts from the right against H.
    for (const bool first : {true, false}) {
      if (v == (first ? lower : upper)) continue;  // the exact fit may be beyond
      const Dyadic limit = HalfSteps(v, first ? -half_ulps : half_ulps);
      sum.Clear();
      for (int64_t k = 0; k < end - begin; ++k) {
        const int64_t i = first ? begin + k : end - 1 - k;
        const double w = row.Weight(i);
        if (w == 0) continue;
        const Dyadic weight = ToDyadic(w);
        sum.Add(weight, ToDyadic(row.Y(i)), !first);
        sum.Add(weight, limit, first);
        if (sum.Sign() >= tie_fails) continue;
        return absl::FailedPreconditionError(
            row.Name("fit", i) + " is " + Number(static_cast<double>(v)) + "; expected " +
            (first ? "no more" : "no less") + " than the mean of " +
            (first ? row.Mean(begin, i + 1) : row.Mean(i, end)) +
            (half_ulps == 0 ? "" : ", rounded"));
      }
    }
  }
  return absl::OkStatus();
}

// A total without its leading and trailing zero words.
struct Total {
  explicit Total(const ProductSum& sum) : words(sum.Magnitude()), negative(sum.Sign() < 0) {
    end = static_cast<int>(words.size());
    while (end > 0 && words[static_cast<size_t>(end - 1)] == 0) --end;
    while (begin < end && words[static_cast<size_t>(begin)] == 0) ++begin;
  }
  uint64_t Word(int k) const { return words[static_cast<size_t>(k)]; }
  static int Exponent(int k) { return ProductSum::kUnitExponent + 64 * k; }

  std::array<uint64_t, ProductSum::kSize> words;
  int begin = 0;
  int end;
  bool negative;
};

// Room for products of two totals.
using TotalSum = ExactSum<2 * ProductSum::kSize + 1, 2 * ProductSum::kUnitExponent>;

// Adds a b c, or subtracts it.
void AddProduct(TotalSum& sum, const Dyadic& a, const Dyadic& b, const Total& c, bool subtract) {
  const Wide128 ab = MultiplyWide(a.significand, b.significand);
  const bool minus = ((a.negative != b.negative) != c.negative) != subtract;
  for (int k = c.begin; k < c.end; ++k) {
    const int exponent = a.exponent + b.exponent + Total::Exponent(k);
    sum.Add(MultiplyWide(ab.low, c.Word(k)), exponent, minus);
    if (ab.high != 0) sum.Add(MultiplyWide(ab.high, c.Word(k)), exponent + 64, minus);
  }
}

// Adds a b, or subtracts it.
void AddProduct(TotalSum& sum, const Total& a, const Total& b, bool subtract) {
  for (int i = a.begin; i < a.end; ++i) {
    for (int j = b.begin; j < b.end; ++j) {
      sum.Add(MultiplyWide(a.Word(i), b.Word(j)), Total::Exponent(i) + Total::Exponent(j),
              (a.negative != b.negative) != subtract);
    }
  }
}

template <class T>
absl::Status CertifyRowBlocks(std::span<const T> y, std::span<const T> weights,
                              std::span<const int64_t> block_ends, Direction direction) {
  if (absl::Status status = CheckRow(y, weights); !status.ok()) return status;
  const int64_t n = static_cast<int64_t>(y.size());
  int64_t last = 0;
  for (size_t b = 0; b < block_ends.size(); ++b) {
    if (block_ends[b] <= last || block_ends[b] > n) {
      return absl::FailedPreconditionError(
          "block_ends[" + std::to_string(b) + "] is " + std::to_string(block_ends[b]) +
          "; expected more than " + std::to_string(last) + " and at most " + std::to_string(n));
    }
    if (last > 0 && !weights.empty() && weights[static_cast<size_t>(last)] == 0) {
      return absl::FailedPreconditionError("block " + std::to_string(b) + " begins with element " +
                                           std::to_string(last) +
                                           " of weight 0; expected it in the block before");
    }
    last = block_ends[b];
  }
  if (last != n) {
    return absl::FailedPreconditionError("the last block ends at " + std::to_string(last) +
                                         "; expected " + std::to_string(n));
  }

  const Row<T> row{y, weights, direction == Direction::kDecreasing};
  const size_t blocks = block_ends.size();
  // In the order in which the fit increases: block b ends where the next one begins.
  const auto end_of = [&](size_t b) {
    if (!row.reversed) return block_ends[b];
    return b + 1 == blocks ? n : n - block_ends[blocks - 2 - b];
  };
  ProductSum no_sum;
  Total sum_before(no_sum), weight_before(no_sum);
  int64_t begin = 0, begin_before = 0;
  for (size_t b = 0; b < blocks; ++b) {
    const int64_t end = end_of(b);
    ProductSum exact_sum, exact_weight;
    for (int64_t i = begin; i < end; ++i) {
      const Dyadic w = ToDyadic(row.Weight(i));
      exact_sum.Add(w, ToDyadic(row.Y(i)));
      exact_weight.Add(w, kOne);
    }
    const Total sum(exact_sum), weight(exact_weight);
    if (weight.begin == weight.end) {
      return absl::FailedPreconditionError(
          "block " + std::to_string(b) +
          " has elements of weight 0 alone; expected them in the next");
    }
    if (b > 0) {
      // S1 / W1 < S2 / W2, both weights positive.
      TotalSum difference;
      AddProduct(difference, sum, weight_before, false);
      AddProduct(difference, sum_before, weight, true);
      if (difference.Sign() <= 0) {
        return absl::FailedPreconditionError(
            row.Mean(begin_before, begin) + ", and " + row.Mean(begin, end) +
            ", are blocks; expected strictly " + (row.reversed ? "decreasing" : "increasing") +
            " means");
      }
    }
    TotalSum excess;  // of a first part's sum over its share in the block's, times W
    for (int64_t i = begin; end - begin > 1 && i < end; ++i) {
      if (row.Weight(i) == 0) continue;
      const Dyadic w = ToDyadic(row.Weight(i));
      AddProduct(excess, w, ToDyadic(row.Y(i)), weight, false);
      AddProduct(excess, w, kOne, sum, true);
      if (excess.Sign() < 0) {
        return absl::FailedPreconditionError(row.Mean(begin, i + 1) + ", are in one block with " +
                                             row.Mean(begin, end) +
                                             "; expected a block that no first part would leave");
      }
    }
    sum_before = sum;
    weight_before = weight;
    begin_before = begin;
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Certify(std::span<const double> y, std::span<const double> weights,
                     std::span<const double> fit, const Options& options, int half_ulps) {
  return CertifyRow(y, weights, fit, options, half_ulps);
}
absl::Status Certify(std::span<const float> y, std::span<const float> weights,
                     std::span<const float> fit, const Options& options, int half_ulps) {
  return CertifyRow(y, weights, fit, options, half_ulps);
}

absl::Status CertifyBlocks(std::span<const double> y, std::span<const double> weights,
                           std::span<const int64_t> block_ends, Direction direction) {
  return CertifyRowBlocks(y, weights, block_ends, direction);
}
absl::Status CertifyBlocks(std::span<const float> y, std::span<const float> weights,
                           std::span<const int64_t> block_ends, Direction direction) {
  return CertifyRowBlocks(y, weights, block_ends, direction);
}

}  // namespace assay::isotonic
