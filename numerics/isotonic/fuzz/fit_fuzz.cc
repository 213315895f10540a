// SPDX-License-Identifier: Apache-2.0
//
// Any row, weights and bounds: Fit refuses what it says it refuses and touches nothing, or its fit
// and blocks are proven, and the other calls give the same. (Rows that threads share are too long
// for this; isotonic_test has them.)
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/isotonic/certificate.h"
#include "numerics/isotonic/fuzz/bytes.h"
#include "numerics/isotonic/isotonic.h"
#include "numerics/isotonic/isotonic_reference.h"

namespace assay::isotonic::fuzz {
namespace {

// What a fit must leave alone where it fails.
constexpr int64_t kUntouched = -7;

// Whether the bounds leave a finite number.
bool HasRoom(const Options& options) {
  return options.lower <= options.upper && options.lower < HUGE_VAL && options.upper > -HUGE_VAL;
}

template <class T>
bool IsValid(const std::vector<T>& y, const std::vector<T>& weights, const Options& options) {
  bool valid = HasRoom(options) && (weights.empty() || weights.size() == y.size());
  bool any = weights.empty();
  for (T v : y) valid = valid && std::isfinite(v);
  for (T w : weights) {
    valid = valid && std::isfinite(w) && w >= 0;
    any = any || w > 0;
  }
  return valid && any;
}

// -0 and 0 are told apart.
template <class T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](T x, T y) { return FloatBits(x) == FloatBits(y); });
}

// The certificate says which element fails.
void Require(const absl::Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  ASSAY_CHECK(status.ok());
}

template <class T>
void FuzzRow(const std::vector<T>& y, const std::vector<T>& weights, Options options) {
  std::vector<T> fit(y.size(), T(kUntouched));
  std::vector<int64_t> ends = {kUntouched};
  const absl::Status status = Fit(y, weights, fit, options, &ends);
  ASSAY_CHECK_EQ(status.ok(), IsValid(y, weights, options));
  if (!status.ok()) {
    ASSAY_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    ASSAY_CHECK(std::all_of(fit.begin(), fit.end(), [](T v) { return v == T(kUntouched); }));
    ASSAY_CHECK(ends == std::vector<int64_t>{kUntouched});
    return;
  }
  const std::span<const T> values(y), masses(weights);
  Require(Certify(values, masses, std::span<const T>(fit), options));
  Require(CertifyBlocks(values, masses, ends, options.direction));
  if (y.size() <= 6) {
    std::vector<int64_t> expected_ends;
    const std::vector<T> expected = FitReference(values, masses, options, &expected_ends);
    ASSAY_CHECK(fit == expected);
    ASSAY_CHECK(ends == expected_ends);
  }

  std::vector<T> other = y;  // in place
  std::vector<int64_t> other_ends;
  ASSAY_CHECK(Fit(other, weights, other, options, &other_ends).ok());
  ASSAY_CHECK(SameBits(other, fit));
  ASSAY_CHECK(other_ends == ends);

  // As three rows of a matrix, which three threads deal out among them; one row of weights for all.
  static ThreadPool pool(3);
  options.pool = &pool;
  const int64_t n = static_cast<int64_t>(y.size());
  std::vector<T> rows;
  for (int r = 0; r < 3; ++r) rows.insert(rows.end(), y.begin(), y.end());
  std::vector<T> fits(rows.size());
  const MatrixView<const T> weight_rows =
      weights.empty() ? MatrixView<const T>() : MatrixView<const T>(weights.data(), 3, n, 0);
  ASSAY_CHECK(FitRows(MatrixView<const T>(rows.data(), 3, n, n), weight_rows,
                      MatrixView<T>(fits.data(), 3, n, n), options)
                  .ok());
  for (int64_t r = 0; r < 3; ++r) {
    ASSAY_CHECK(SameBits(std::vector<T>(fits.begin() + r * n, fits.begin() + (r + 1) * n), fit));
  }

  if constexpr (sizeof(T) == 4) {
    // The same numbers as f64 make the same blocks.
    const std::vector<double> y64(y.begin(), y.end()), weights64(weights.begin(), weights.end());
    std::vector<double> fit64(y.size());
    std::vector<int64_t> ends64;
    ASSAY_CHECK(Fit(y64, weights64, fit64, options, &ends64).ok());
    ASSAY_CHECK(ends64 == ends);
    Require(Certify(y64, weights64, fit64, options));
  }
}

template <class T>
void FuzzFit(Bytes& bytes, const Options& options) {
  const Kind kind = static_cast<Kind>(bytes.Below(kKinds));
  const uint32_t weight_kind = bytes.Below(kKinds + 1);
  const size_t count = bytes.Below(48);
  // Longer rows repeat short ones: what works on tiles must meet several.
  constexpr size_t kRepeats[] = {1, 1, 1, 2, 30, 90};
  const size_t repeats = kRepeats[bytes.Below(6)];
  const std::vector<T> base = bytes.Numbers<T>(kind, count);
  std::vector<T> base_weights;
  if (weight_kind < kKinds) {
    const size_t missing = bytes.Below(64) == 63 && count > 0 ? 1 : 0;
    base_weights = bytes.Weights<T>(static_cast<Kind>(weight_kind), count - missing);
  }
  std::vector<T> y, weights;
  for (size_t r = 0; r < repeats; ++r) {
    y.insert(y.end(), base.begin(), base.end());
    weights.insert(weights.end(), base_weights.begin(), base_weights.end());
  }
  if (weight_kind < kKinds && weights.empty() && !y.empty()) return;  // would mean weights of 1
  FuzzRow(y, weights, options);
}

// Labels and counts against the same numbers as f64.
void FuzzIntegers(Bytes& bytes, const Options& options) {
  const size_t count = bytes.Below(64);
  std::vector<uint8_t> labels;
  std::vector<int64_t> successes, totals;
  std::vector<double> label_values, rates, weights;
  bool valid_labels = true, valid_counts = true, any = count == 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t byte = bytes.Byte();
    labels.push_back(byte < 250 ? byte & 1 : static_cast<uint8_t>(byte));
    label_values.push_back(labels.back());
    valid_labels = valid_labels && labels.back() <= 1;
    // Totals are powers of two, so that the rates are exact.
    const int64_t total = byte == 255 ? -1 : byte % 8 == 7 ? 0 : int64_t{1} << (byte % 7);
    const int64_t success = total == 0 && byte != 247 ? 0 : static_cast<int64_t>(byte >> 4) - 5;
    totals.push_back(total);
    successes.push_back(success);
    weights.push_back(static_cast<double>(total));
    rates.push_back(total > 0 ? static_cast<double>(success) / static_cast<double>(total) : 0);
    valid_counts = valid_counts && total >= 0 && (total > 0 || success == 0);
    any = any || total > 0;
  }
  const bool bounds = HasRoom(options);
  std::vector<double> fit(count, kUntouched), expected(count);
  std::vector<int64_t> ends, expected_ends;
  absl::Status status = FitLabels(labels, fit, options, &ends);
  ASSAY_CHECK_EQ(status.ok(), valid_labels && bounds);
  if (status.ok()) {
    ASSAY_CHECK(Fit(label_values, {}, expected, options, &expected_ends).ok());
    ASSAY_CHECK(SameBits(fit, expected));
    ASSAY_CHECK(ends == expected_ends);
  } else {
    ASSAY_CHECK(fit == std::vector<double>(count, kUntouched));
  }
  status = FitCounts(successes, totals, fit, options, &ends);
  ASSAY_CHECK_EQ(status.ok(), valid_counts && any && bounds);
  if (status.ok() && count > 0) {
    Require(Certify(rates, weights, fit, options));
    Require(CertifyBlocks(rates, weights, ends, options.direction));
  }
}

}  // namespace
}  // namespace assay::isotonic::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::isotonic::Direction;
  using assay::isotonic::fuzz::Kind;
  assay::isotonic::fuzz::Bytes bytes(std::span<const uint8_t>(data, size));
  assay::isotonic::Options options;
  const uint32_t choice = bytes.Byte();
  if (choice & 1) options.direction = Direction::kDecreasing;
  const Kind kind = choice & 2 ? Kind::kHostile : Kind::kSmall;
  if (choice & 4) options.lower = bytes.Number<double>(kind);
  if (choice & 8) options.upper = bytes.Number<double>(kind);
  if ((choice >> 4) % 5 == 0) {
    assay::isotonic::fuzz::FuzzIntegers(bytes, options);
  } else if (choice & 16) {
    assay::isotonic::fuzz::FuzzFit<double>(bytes, options);
  } else {
    assay::isotonic::fuzz::FuzzFit<float>(bytes, options);
  }
  return 0;
}
