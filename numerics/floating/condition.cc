// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/condition.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/exact_accumulator.h"

namespace assay::floating {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// absolute / |sum|. A sum of absolute values beyond the range of f64 makes the quotient infinite,
// which is still an upper bound.
double Quotient(double absolute, double sum) {
  if (absolute != absolute || sum != sum) return kNaN;
  if (absolute == 0) return 1;
  if (sum == 0) return kInfinity;
  return absolute / std::fabs(sum);
}

template <class T>
double SumConditionImpl(std::span<const T> x) {
  ExactAccumulator sum;
  ExactAccumulator absolute;
  for (const T value : x) {
    if (value - value != 0) return kNaN;
    sum.Add(static_cast<double>(value));
    absolute.Add(std::fabs(static_cast<double>(value)));
  }
  return Quotient(absolute.Round<double>(), sum.Round<double>());
}

double PowerOfTwo(int exponent) {  // -1074 to 1023
  return DoubleFromBits(exponent >= -1022 ? static_cast<uint64_t>(exponent + 1023) << 52
                                          : uint64_t{1} << (exponent + 1074));
}

// The ulp at a finite reference of a format with `digits` bits and least subnormal 2^least.
double UlpAt(double reference, int digits, int least) {
  const int field = static_cast<int>((FloatBits(reference) >> 52) & 0x7ff);
  return PowerOfTwo(std::max(std::max(field, 1) - 1023 - digits + 1, least));
}

ErrorReport Report(double difference, double reference, double ulp, double most_digits) {
  ErrorReport report = {};
  report.absolute = std::fabs(difference);
  if (report.absolute == 0) return {0, 0, 0, most_digits};
  report.relative = reference == 0 ? kInfinity : report.absolute / std::fabs(reference);
  report.ulps = report.absolute / ulp;
  report.digits = std::min(std::max(0.0, -Log(report.relative) / std::numbers::ln10), most_digits);
  return report;
}

// Infinities and NaN on either side; false if both are finite.
bool SpecialReport(double computed, double reference, double most_digits, ErrorReport* report) {
  const bool finite = computed - computed == 0;
  if (finite && reference - reference == 0) return false;
  const bool same = computed == reference || (computed != computed && reference != reference);
  *report =
      same ? ErrorReport{0, 0, 0, most_digits} : ErrorReport{kInfinity, kInfinity, kInfinity, 0};
  return true;
}

}  // namespace

double SumCondition(std::span<const float> x) { return SumConditionImpl(x); }
double SumCondition(std::span<const double> x) { return SumConditionImpl(x); }

double DotCondition(std::span<const double> x, std::span<const double> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ExactAccumulator sum;
  ExactAccumulator absolute;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] - x[i] != 0 || y[i] - y[i] != 0) return kNaN;
    sum.AddProduct(x[i], y[i]);
    absolute.AddProduct(std::fabs(x[i]), std::fabs(y[i]));
  }
  const double quotient = Quotient(absolute.Round<double>(), sum.Round<double>());
  return absolute.Round<double>() == 0 ? quotient : 2 * quotient;
}

ErrorReport CompareWith(float computed, double reference) {
  ErrorReport report = {};
  if (SpecialReport(static_cast<double>(computed), reference, 9, &report)) return report;
  return Report(static_cast<double>(computed) - reference, reference, UlpAt(reference, 24, -149),
                9);
}

ErrorReport CompareWith(double computed, HiLo<double> reference) {
  ErrorReport report = {};
  if (SpecialReport(computed, reference.hi, 17, &report)) return report;
  // hi and the computed value are close where it matters: their difference is then exact.
  const HiLo<double> difference = TwoSum(computed, -reference.hi);
  return Report(difference.hi + (difference.lo - reference.lo), reference.hi,
                UlpAt(reference.hi, 53, -1074), 17);
}

}  // namespace assay::floating
