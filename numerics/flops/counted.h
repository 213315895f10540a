// SPDX-License-Identifier: Apache-2.0
//
// counted.h: numbers that count what is done to them, for tests.
#ifndef ASSAY_NUMERICS_FLOPS_COUNTED_H_
#define ASSAY_NUMERICS_FLOPS_COUNTED_H_

#include <cstdint>
#include <map>
#include <string>

#include "numerics/core/elementary.h"

namespace assay::flops {

struct Tally {
  int64_t multiply = 0;
  int64_t add = 0;  // and subtract
  int64_t divide = 0;
  int64_t function = 0;  // exp, log, sqrt, tanh, erf
  int64_t Total() const { return multiply + add + divide + function; }
};

// A double whose arithmetic is counted where `tally` points. Copies, comparisons and changes of
// sign are free, as in operations.h.
class Counted {
 public:
  Counted() = default;
  Counted(double value) : value_(value) {}  // NOLINT: constants are numbers
  double value() const { return value_; }

  static inline thread_local Tally* tally = nullptr;

  friend Counted operator+(Counted a, Counted b) { return ++tally->add, a.value_ + b.value_; }
  friend Counted operator-(Counted a, Counted b) { return ++tally->add, a.value_ - b.value_; }
  friend Counted operator*(Counted a, Counted b) { return ++tally->multiply, a.value_ * b.value_; }
  friend Counted operator/(Counted a, Counted b) { return ++tally->divide, a.value_ / b.value_; }
  Counted operator-() const { return -value_; }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  friend bool operator<(Counted a, Counted b) { return a.value_ < b.value_; }
  friend bool operator==(Counted a, Counted b) = default;

  friend Counted Exp(Counted x) { return ++tally->function, assay::Exp(x.value_); }
  friend Counted Log(Counted x) { return ++tally->function, assay::Log(x.value_); }
  friend Counted Sqrt(Counted x) { return ++tally->function, assay::Sqrt(x.value_); }
  friend Counted Tanh(Counted x) { return ++tally->function, assay::Tanh(x.value_); }
  friend Counted Erf(Counted x) { return ++tally->function, assay::Erf(x.value_); }

 private:
  double value_ = 0;
};

enum class Phase { kForward, kDx, kDw, kAgain };

// What was done under one name.
struct Work {
  Tally tally[4];                 // by phase
  int64_t product_flops[4] = {};  // 2 m k n of the products called
  // Elements of A, B and C of the forward products called.
  int64_t a = 0, b = 0, c = 0;
};
using Meter = std::map<std::string, Work>;

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_COUNTED_H_
