// SPDX-License-Identifier: Apache-2.0
//
// What an operation must do, counted by formula: arithmetic, and the bytes that have to cross the
// border of the machine's memory at least once.
//
// A count is that of the plain loop. Every addition, subtraction, multiplication, division,
// comparison and exponential is one operation; every element that the loop reads or writes is moved
// once, however often it is used ("compulsory traffic": what a cache of endless size would leave).
// work_test.cc runs the loops on numbers and arrays that count, and finds the formulas again.
#ifndef ASSAY_GPU_ROOFLINE_WORK_H_
#define ASSAY_GPU_ROOFLINE_WORK_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace assay::roofline {

enum class Precision : uint8_t { kF64, kF32, kF16, kI8 };
constexpr int kPrecisions = 4;

// Bytes of one element: 8, 4, 2 or 1.
int64_t BytesOf(Precision precision);

struct Work {
  int64_t flops = 0;
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;

  int64_t bytes() const { return bytes_read + bytes_written; }
  friend bool operator==(const Work&, const Work&) = default;
};

// Operations a byte: the place on the horizontal axis of a roofline. Infinity where nothing is
// moved and something is computed, 0 where nothing is done at all.
double Intensity(const Work& work);

// All of these fail with InvalidArgument for a negative size, and where a count leaves 62 bits.

// C = A B for A [m, k] and B [k, n]: 2 m n k operations; A and B are read, C is written.
absl::StatusOr<Work> MatMul(int64_t m, int64_t n, int64_t k, Precision precision);

// outputs = f(inputs), element by element.
//   inputs, outputs: arrays of n elements that are read and written.
absl::StatusOr<Work> Elementwise(int64_t n, int64_t inputs, int64_t outputs,
                                 int64_t flops_per_element, Precision precision);

// The sum of n elements into one: n - 1 operations, or none.
absl::StatusOr<Work> Reduction(int64_t n, Precision precision);

// Softmax over the rows of a matrix [rows, columns], less the maximum of the row.
// Fused: a row is read once, stays on the chip and is written once.
absl::StatusOr<Work> Softmax(int64_t rows, int64_t columns, Precision precision);
// The same in three passes over memory: maximum; exponentials and their sum; quotients.
absl::StatusOr<Work> SoftmaxInThreePasses(int64_t rows, int64_t columns, Precision precision);

// n elements from one place in memory to another.
absl::StatusOr<Work> Copy(int64_t n, Precision precision);

}  // namespace assay::roofline

#endif  // ASSAY_GPU_ROOFLINE_WORK_H_
