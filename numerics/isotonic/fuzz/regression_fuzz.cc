// SPDX-License-Identifier: Apache-2.0
//
// Points, scores and queries of any bits: a status where the documentation says so, and otherwise
// fits that a certificate proves, functions that go through them, and predictions that a scan finds
// too.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/isotonic/calibration.h"
#include "numerics/isotonic/certificate.h"
#include "numerics/isotonic/fuzz/bytes.h"
#include "numerics/isotonic/radix_sort.h"
#include "numerics/isotonic/regression.h"
#include "numerics/isotonic/reliability.h"

namespace assay::isotonic {
namespace {

using Vector = std::vector<double>;
constexpr double kUntouched = -123;

// A row of one kind.
Vector Row(fuzz::Bytes& bytes, size_t n) {
  const fuzz::Kind kind = static_cast<fuzz::Kind>(bytes.Below(fuzz::kKinds));
  return bytes.Numbers<double>(kind, n);
}
double Number(fuzz::Bytes& bytes) { return Row(bytes, 1)[0]; }

bool Finite(const Vector& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

bool Same(double a, double b) { return CanonicalBits(a) == CanonicalBits(b); }

double Scan(std::span<const double> x, std::span<const double> y, double query,
            Interpolation interpolation) {
  size_t a = 0;
  while (a + 1 < x.size() && x[a + 1] <= query) ++a;
  if (query <= x[0] || a + 1 == x.size() || x[a] == query) return y[a];
  return interpolation == Interpolation::kStep ? y[a] : y[a + 1];
}

void AskFunction(fuzz::Bytes& bytes, const IsotonicRegression& f, Vector queries) {
  const std::span<const double> x = f.x_thresholds(), y = f.y_thresholds();
  const Vector more = Row(bytes, bytes.Below(32));
  queries.insert(queries.end(), more.begin(), more.end());
  Vector out(queries.size(), kUntouched);
  if (!Finite(queries)) {
    ASSAY_CHECK(f.Predict(queries, out).code() == absl::StatusCode::kInvalidArgument);
    ASSAY_CHECK(out == Vector(out.size(), kUntouched));
    queries.erase(
        std::remove_if(queries.begin(), queries.end(), [](double q) { return !std::isfinite(q); }),
        queries.end());
    out.resize(queries.size());
  }
  std::sort(queries.begin(), queries.end());
  for (Interpolation how : {Interpolation::kStep, Interpolation::kStepNext}) {
    ASSAY_CHECK(f.Predict(queries, out, how, Outside::kClip).ok());
    for (size_t i = 0; i < queries.size(); ++i) {
      ASSAY_CHECK_EQ(out[i], Scan(x, y, queries[i], how));
    }
  }
  ASSAY_CHECK(f.Predict(queries, out, Interpolation::kLinear, Outside::kClip).ok());
  for (size_t i = 0; i < queries.size(); ++i) {
    const double before = Scan(x, y, queries[i], Interpolation::kStep);
    const double after = Scan(x, y, queries[i], Interpolation::kStepNext);
    ASSAY_CHECK(std::min(before, after) <= out[i] && out[i] <= std::max(before, after));
    ASSAY_CHECK(i == 0 || (f.increasing() ? out[i - 1] <= out[i] : out[i - 1] >= out[i]));
  }
  Vector nan(queries.size());
  bool outside = false;
  ASSAY_CHECK(f.Predict(queries, nan).ok());
  for (size_t i = 0; i < queries.size(); ++i) {
    const bool here = queries[i] < x.front() || queries[i] > x.back();
    ASSAY_CHECK(here ? std::isnan(nan[i]) : Same(nan[i], out[i]));
    outside = outside || here;
  }
  ASSAY_CHECK_EQ(f.Predict(queries, nan, Interpolation::kLinear, Outside::kRaise).ok(), !outside);
}

void FuzzPoints(fuzz::Bytes& bytes) {
  RegressionOptions options;
  const uint32_t flags = bytes.Byte();
  options.trend = static_cast<Trend>(flags % 3);
  options.ties = flags & 4 ? Ties::kPrimary : flags & 8 ? Ties::kTertiary : Ties::kSecondary;
  options.centred = (flags & 16) != 0;
  if (flags & 32) options.x_tolerance = Number(bytes);
  if (flags & 64) {
    options.lower = Number(bytes);
    options.upper = Number(bytes);
  }
  const size_t n = bytes.Byte() % 48;
  const Vector x = Row(bytes, n), y = Row(bytes, n);
  const Vector weights =
      flags & 128 ? bytes.Weights<double>(static_cast<fuzz::Kind>(bytes.Below(fuzz::kKinds)), n)
                  : Vector{};
  const bool good = n > 0 && Finite(x) && Finite(y) && Finite(weights) &&
                    options.lower <= options.upper && options.x_tolerance >= 0 &&
                    std::isfinite(options.x_tolerance) &&
                    std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; }) &&
                    (weights.empty() ||
                     std::any_of(weights.begin(), weights.end(), [](double w) { return w > 0; }));

  Vector fit(n, kUntouched);
  const absl::Status status = FitPoints(x, y, weights, fit, options);
  const absl::StatusOr<IsotonicRegression> f = IsotonicRegression::Fit(x, y, weights, options);
  ASSAY_CHECK_EQ(status.ok(), good);
  ASSAY_CHECK_EQ(f.ok(), good && options.ties != Ties::kPrimary);
  if (!good) {
    ASSAY_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    ASSAY_CHECK(fit == Vector(n, kUntouched));
    return;
  }
  // Which way kAuto goes is in the function.
  RegressionOptions plain = options;
  plain.ties = Ties::kSecondary;
  plain.centred = false;
  const absl::StatusOr<IsotonicRegression> line = IsotonicRegression::Fit(x, y, weights, plain);
  ASSAY_CHECK(line.ok());
  const bool increasing = line->increasing();
  // Primary fits are those of the points in order of (x, y); secondary ones are equal where x is,
  // and those of the same points in order of (x, -y): an optimum that happens to be equal within
  // ties is the optimum among all that are. Merged ties are another matter, as are points without
  // weight.
  if (options.x_tolerance == 0 && options.ties != Ties::kTertiary) {
    std::vector<size_t> order;
    for (size_t i = 0; i < n; ++i) {
      if (weights.empty() || weights[i] > 0) order.push_back(i);
    }
    const bool ascending = increasing == (options.ties == Ties::kPrimary);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return x[a] != x[b] ? x[a] < x[b] : ascending ? y[a] < y[b] : y[a] > y[b];
    });
    Vector sorted_y, sorted_w, sorted_fit;
    for (size_t k = 0; k < order.size(); ++k) {
      sorted_y.push_back(y[order[k]]);
      if (!weights.empty()) sorted_w.push_back(weights[order[k]]);
      sorted_fit.push_back(fit[order[k]]);
      if (options.ties == Ties::kSecondary && k > 0 && x[order[k]] == x[order[k - 1]]) {
        ASSAY_CHECK_EQ(sorted_fit[k], sorted_fit[k - 1]);
      }
    }
    const Options row{increasing ? Direction::kIncreasing : Direction::kDecreasing, options.lower,
                      options.upper};
    const absl::Status proof = Certify(sorted_y, sorted_w, sorted_fit, row);
    ASSAY_CHECK(proof.ok());
  }
  // The function goes through the fits.
  if (options.x_tolerance == 0 && options.ties == Ties::kSecondary) {
    for (size_t i = 0; i < n; ++i) {
      if (!weights.empty() && weights[i] == 0) continue;
      double at = x[i];
      const std::span<double> one(&at, 1);
      ASSAY_CHECK(line->Predict(one, one, Interpolation::kStep).ok());
      ASSAY_CHECK_EQ(at, fit[i]);
    }
  }
  if (f.ok()) AskFunction(bytes, *f, x);
}

void FuzzScores(fuzz::Bytes& bytes) {
  Options options;
  const uint32_t flags = bytes.Byte();
  options.direction = flags & 1 ? Direction::kDecreasing : Direction::kIncreasing;
  if (flags & 2) {
    options.lower = Number(bytes);
    options.upper = Number(bytes);
  }
  const size_t n = bytes.Byte();
  const Vector scores = Row(bytes, n);
  std::vector<uint8_t> labels;
  for (size_t i = 0; i < n; ++i) {
    labels.push_back(static_cast<uint8_t>(flags & 4 ? bytes.Byte() : bytes.Byte() & 1));
  }
  const bool good =
      n > 0 && Finite(scores) && options.lower <= options.upper &&
      std::all_of(labels.begin(), labels.end(), [](uint8_t label) { return label <= 1; });
  const absl::StatusOr<Calibrator> c = Calibrator::Fit(scores, labels, options);
  ASSAY_CHECK_EQ(c.ok(), good);
  if (!good) return;
  RegressionOptions regression;
  regression.trend = flags & 1 ? Trend::kDecreasing : Trend::kIncreasing;
  regression.lower = options.lower;
  regression.upper = options.upper;
  const absl::StatusOr<IsotonicRegression> f =
      IsotonicRegression::Fit(scores, Vector(labels.begin(), labels.end()), {}, regression);
  ASSAY_CHECK(f.ok());
  const auto equal = [](std::span<const double> a, std::span<const double> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  ASSAY_CHECK(equal(c->function().x_thresholds(), f->x_thresholds()));
  ASSAY_CHECK(equal(c->function().y_thresholds(), f->y_thresholds()));
  int64_t total = 0, successes = 0;
  for (const CalibrationBlock& block : c->blocks()) {
    total += block.total;
    successes += block.successes;
  }
  ASSAY_CHECK_EQ(total, static_cast<int64_t>(n));
  ASSAY_CHECK_EQ(successes, static_cast<int64_t>(std::count(labels.begin(), labels.end(), 1)));
  AskFunction(bytes, c->function(), scores);
}

void FuzzProbabilities(fuzz::Bytes& bytes) {
  const uint32_t flags = bytes.Byte();
  const int bins = static_cast<int>(bytes.Byte()) - (flags & 1 ? 1 : -1);
  const Binning binning = flags & 2 ? Binning::kEqualMass : Binning::kEqualWidth;
  const size_t n = bytes.Byte();
  Vector p;
  std::vector<uint8_t> labels;
  for (size_t i = 0; i < n; ++i) {
    p.push_back(flags & 4 ? Number(bytes) : static_cast<double>(bytes.Byte()) / 255);
    labels.push_back(static_cast<uint8_t>(bytes.Byte() & 1));
  }
  const bool good = n > 0 && bins >= 1 &&
                    std::all_of(p.begin(), p.end(), [](double v) { return v >= 0 && v <= 1; });
  const absl::StatusOr<Assessment> a = Assess(p, labels, bins, binning);
  ASSAY_CHECK_EQ(a.ok(), good);
  if (!good) return;
  const absl::StatusOr<std::vector<ReliabilityBin>> diagram =
      ReliabilityDiagram(p, labels, bins, binning);
  int64_t count = 0;
  for (const ReliabilityBin& bin : *diagram) {
    count += bin.count;
    // Rounded twice, so one step beside the edges at most, and two where f64 rounds p B up.
    ASSAY_CHECK(bin.count == 0 || (bin.mean_probability >= bin.low * (1 - 0x1p-51) &&
                                   bin.mean_probability <= bin.high * (1 + 0x1p-51)));
  }
  ASSAY_CHECK_EQ(count, static_cast<int64_t>(n));
  const double slack = (bins + 10) * 0x1p-52;
  ASSAY_CHECK(std::fabs(a->reliability - a->resolution + a->uncertainty + a->within_bins -
                        a->brier) <= slack);
  ASSAY_CHECK(std::fabs(a->miscalibration - a->discrimination + a->uncertainty - a->brier) <=
              slack);
  ASSAY_CHECK(a->brier >= 0 && a->brier <= 1 && a->log_loss >= 0);
  ASSAY_CHECK(a->expected_error <= a->maximum_error + slack);
}

void FuzzSort(fuzz::Bytes& bytes) {
  Vector x = Row(bytes, bytes.Bits(2) % 3000);
  x.erase(std::remove_if(x.begin(), x.end(), [](double v) { return std::isnan(v); }), x.end());
  std::vector<size_t> order;
  for (size_t i = 0; i < x.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x[a] < x[b]; });
  const internal::BigArray<KeyAndIndex> sorted = SortedWithIndex(x, nullptr);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSAY_CHECK_EQ(sorted[i].index, static_cast<uint64_t>(order[i]));
  }
}

}  // namespace
}  // namespace assay::isotonic

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::isotonic::fuzz::Bytes bytes(std::span<const uint8_t>(data, size));
  switch (bytes.Below(4)) {
    case 0:
      assay::isotonic::FuzzScores(bytes);
      break;
    case 1:
      assay::isotonic::FuzzProbabilities(bytes);
      break;
    case 2:
      assay::isotonic::FuzzSort(bytes);
      break;
    default:
      assay::isotonic::FuzzPoints(bytes);
  }
  return 0;
}
