// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/unimodal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "numerics/core/bits.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/isotonic/internal/check_row.h"
#include "numerics/isotonic/internal/points.h"
#include "numerics/isotonic/isotonic.h"

namespace assay::isotonic {
namespace {

using floating::AddDoubleWords;
using floating::FastTwoSum;
using floating::TwoProduct;
using DoubleWord = floating::HiLo<double>;

// Relative errors of a product and of a quotient are below 2^-102 (Joldes, Muller, Popescu 2017,
// algorithms 11 and 17).
DoubleWord Multiply(DoubleWord a, DoubleWord b) {
  const DoubleWord p = TwoProduct(a.hi, b.hi);
  return FastTwoSum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
DoubleWord Divide(DoubleWord a, DoubleWord b) {
  const double high = a.hi / b.hi;
  const DoubleWord product = Multiply({high, 0}, b);
  const DoubleWord rest = AddDoubleWords(a, {-product.hi, -product.lo});
  return FastTwoSum(high, rest.hi / b.hi);
}
bool Less(DoubleWord a, DoubleWord b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }

// The power of two by which a number of [2^k, 2^(k+1)) comes to [1, 2), as far as f64 has it.
double Scale(double x) {
  const int exponent = static_cast<int>(FloatBits(x) >> 52 & 0x7ff) - 1023;
  return DoubleFromBits(static_cast<uint64_t>(1023 + std::clamp(-exponent, -1022, 1022)) << 52);
}

// What the rising fit of the first k points explains: the sum over its blocks of S^2 / W, for
// k = 0 .. n. Its error is sum w y^2 less that. The stack of blocks at k is the fit at k, since
// pooling adjacent violators never looks ahead.
std::vector<DoubleWord> Explained(std::span<const double> y, std::span<const double> weights) {
  struct Block {
    DoubleWord sum, weight, mean, before;
  };
  std::vector<Block> blocks;
  blocks.reserve(y.size());
  std::vector<DoubleWord> explained;
  explained.reserve(y.size() + 1);
  explained.push_back({0, 0});
  for (size_t i = 0; i < y.size(); ++i) {
    Block top = {TwoProduct(y[i], weights[i]), {weights[i], 0}, {y[i], 0}, explained.back()};
    // Means, not products across: those of small weights underflow.
    while (!blocks.empty() && !Less(blocks.back().mean, top.mean)) {
      top.sum = AddDoubleWords(blocks.back().sum, top.sum);
      top.weight = AddDoubleWords(blocks.back().weight, top.weight);
      top.mean = Divide(top.sum, top.weight);
      top.before = blocks.back().before;
      blocks.pop_back();
    }
    blocks.push_back(top);
    explained.push_back(AddDoubleWords(top.before, Multiply(top.mean, top.sum)));
  }
  return explained;
}

// The length of the rising part.
size_t Cut(std::vector<double> y, std::vector<double> weights) {
  const size_t n = y.size();
  // The largest weight and the largest |y| to about 1: no square overflows, and with weights above
  // 2^-900 what underflows is below 2^-1074 where the whole is above 2^-900.
  double largest_y = 0;
  for (double v : y) largest_y = std::max(largest_y, std::fabs(v));
  const double y_scale = Scale(largest_y);
  const double weight_scale = Scale(*std::max_element(weights.begin(), weights.end()));
  DoubleWord total = {0, 0};
  for (size_t i = 0; i < n; ++i) {
    y[i] *= y_scale;
    weights[i] *= weight_scale;
    total = AddDoubleWords(total, Multiply(TwoProduct(y[i], y[i]), {weights[i], 0}));
  }
  const std::vector<DoubleWord> rising = Explained(y, weights);
  std::reverse(y.begin(), y.end());
  std::reverse(weights.begin(), weights.end());
  const std::vector<DoubleWord> falling = Explained(y, weights);

  std::vector<DoubleWord> explained;
  explained.reserve(n + 1);
  DoubleWord most = {0, 0};
  for (size_t k = 0; k <= n; ++k) {
    explained.push_back(AddDoubleWords(rising[k], falling[n - k]));
    if (Less(most, explained.back())) most = explained.back();
  }
  const double tie = static_cast<double>(n) * 0x1p-98 * total.hi;
  const DoubleWord enough = AddDoubleWords(most, {-tie, 0});
  size_t cut = 0;
  while (Less(explained[cut], enough)) ++cut;
  return cut;
}

}  // namespace

absl::StatusOr<Unimodal> FitUnimodal(std::span<const double> y, std::span<const double> weights,
                                     std::span<double> fit, ThreadPool* pool) {
  if (absl::Status status = internal::CheckFit(y, weights, fit.size()); !status.ok()) return status;
  if (y.empty()) return absl::InvalidArgumentError("y has 0 elements; expected at least 1");
  const internal::Points points(y, weights, Direction::kIncreasing);
  const size_t cut = Cut(points.y, points.weights);
  std::vector<double> values = points.y;
  Options options;
  options.pool = pool;
  for (const bool rising : {true, false}) {
    const size_t begin = rising ? 0 : cut, count = rising ? cut : values.size() - cut;
    if (count == 0) continue;
    options.direction = rising ? Direction::kIncreasing : Direction::kDecreasing;
    const std::span<double> part = std::span<double>(values).subspan(begin, count);
    const absl::Status status =
        Fit(part, std::span<const double>(points.weights).subspan(begin, count), part, options);
    if (!status.ok()) return status;
  }
  floating::ExactAccumulator error;
  for (size_t i = 0; i < values.size(); ++i) {
    const double r = values[i] - points.y[i];
    error.Add(points.weights[i] * r * r);  // in range wherever the term is
  }
  internal::Expand(values, weights, {}, fit);
  return Unimodal{std::max_element(fit.begin(), fit.end()) - fit.begin(), error.Round<double>()};
}

}  // namespace assay::isotonic
