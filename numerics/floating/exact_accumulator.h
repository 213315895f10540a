// SPDX-License-Identifier: Apache-2.0
// A sum without rounding: a fixed-point register wide enough for every f64, rounded once at the
// end.
//
// The register holds 2^-2148 to 2^2048, the range of products of two f64, and 128 further bits for
// carries, in 135 limbs of 64 bits that overlap by half: limb k counts units of 2^(32 k - 2148). An
// addition touches two limbs and nothing carries until 2000 additions are pending. Blocks of
// numbers whose exponents lie together are first added up exactly in vector registers
// (internal/exact_blocks.h), at the speed of memory; the others cost a few nanoseconds a number.
// Because nothing rounds, order and grouping cannot matter: any permutation of the same numbers,
// added or merged in any way, gives the same bits.
//
// Example: ExactAccumulator a; a.Add(1e100); a.Add(1.0); a.Add(-1e100); a.Round<double>();  // 1.0
//
// Source: Neal, Fast exact summation using small and large superaccumulators (arXiv 1505.05571,
//   2015), the small one; for the blocks as there.
#ifndef ASSAY_NUMERICS_FLOATING_EXACT_ACCUMULATOR_H_
#define ASSAY_NUMERICS_FLOATING_EXACT_ACCUMULATOR_H_

#include <array>
#include <cstdint>
#include <span>

#include "numerics/floating/error_free.h"
#include "numerics/floating/half.h"

namespace assay::floating {

class ExactAccumulator {
 public:
  ExactAccumulator() = default;

  // Adds x exactly. Infinities and NaN are counted apart. At most 2^60 additions in all.
  void Add(double x);
  // Adds x[0] .. x[n-1]. An f32 is an f64 as it stands, so both land in the same register.
  void Add(std::span<const double> x);
  void Add(std::span<const float> x);

  void Add(std::span<const Half> x);
  void Add(std::span<const BFloat16> x);

  // Adds the product x y exactly, whatever its exponent. 0 times infinity is NaN.
  void AddProduct(double x, double y);

  // Adds everything that `other` holds. Exact.
  void Merge(const ExactAccumulator& other);

  // The sum rounded once to T, to nearest, ties to even (error at most half an ulp):
  //   nothing added: +0;   only -0 added: -0;   exact cancellation otherwise: +0;
  //   a NaN, or infinities of both signs: the canonical quiet NaN;   one sign of infinity: it;
  //   beyond the range of T: an infinity. Subnormal results are rounded to the subnormal grid.
  // Does not change the sum; more may be added afterwards. Cost: some 200 integer steps.
  template <BinaryFloat T>
  T Round() const;

  // The sum rounded to hi, and what is left of it rounded to lo, as if hi had been subtracted
  // exactly: 106 bits or more. lo is 0 where hi is not finite.
  HiLo<double> RoundToDoubleWord() const;

 private:
  static constexpr int kLimbs = 135;
  static constexpr int kMaxPending = 2000;  // 2000 (2^52 + 2^32) + 2^33 < 2^63

  void AddFinite(uint64_t bits);
  void AddSpecial(double x);
  void Propagate();
  // Room for `count` more additions before the next carry.
  void Reserve(int count);
  // One number after the other.
  template <class T>
  void AddSingly(std::span<const T> x);
  template <class T>
  void AddAll(std::span<const T> x);
  template <class H>
  void AddHalves(std::span<const H> x);

  std::array<int64_t, kLimbs> limbs_ = {};
  int pending_ = 0;   // additions since the last carry
  bool any_ = false;  // something was added
  bool only_minus_zero_ = true;
  bool nan_ = false;
  bool plus_infinity_ = false;
  bool minus_infinity_ = false;
};

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_EXACT_ACCUMULATOR_H_
