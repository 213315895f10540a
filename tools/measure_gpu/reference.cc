// SPDX-License-Identifier: Apache-2.0
#include "tools/measure_gpu/reference.h"

#include <cmath>
#include <cstddef>
#include <span>

#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/floating/half.h"

namespace assay::measure_gpu {
namespace {

// Where chain k of a thread begins; in [0, 1), exact in 16 bits.
float Start(int64_t thread, int k) { return static_cast<float>((thread + k) % 32) * 0.03125f; }

double FromF16(uint16_t bits) { return FloatFromBits(floating::F32BitsFromF16Bits(bits)); }
uint16_t ToF16(double x) { return floating::F16BitsFromF64Bits(FloatBits(x)); }

// Twice an entry of A (which = 0) or B (1), by row or column and k: -3 to 3, not 0.
int TwiceEntry(int which, int line, int k) {
  constexpr int kEntries[] = {1, -1, 2, -2, 3, -3};
  return kEntries[(WordAt(1000 * which + 32 * line + k) >> 16) % 6];
}

// Entries k, k + 1, ... of a line, as many as a register holds.
uint32_t Packed(const MatrixShape& shape, int which, int line, int k) {
  uint32_t bits = 0;
  for (int i = 0; i < (shape.is_f16 ? 2 : 4); ++i) {
    const int twice = TwiceEntry(which, line, k + i);
    bits |= shape.is_f16 ? static_cast<uint32_t>(ToF16(0.5 * twice)) << (16 * i)
                         : (static_cast<uint32_t>(twice) & 0xff) << (8 * i);
  }
  return bits;
}

}  // namespace

float FmaF32Reference(int64_t thread, float a, float b, int chains, int64_t steps) {
  float sum = 0.0f;
  for (int k = 0; k < chains; ++k) {
    float x = Start(thread, k);
    for (int64_t i = 0; i < steps; ++i) x = std::fma(x, a, b);
    sum += x;
  }
  return sum;
}

uint32_t FmaF16Reference(int64_t thread, float a, float b, int chains, int64_t steps) {
  const double factor = FromF16(ToF16(a));
  const double term = FromF16(ToF16(b));
  uint32_t bits = 0;
  for (int k = 0; k < chains; ++k) {
    for (int half = 0; half < 2; ++half) {
      double x = Start(thread, k + half);
      // The product has 22 bits and the sum of it and b fewer than 53: f64 is exact, and the
      // result is rounded once.
      for (int64_t i = 0; i < steps; ++i) x = FromF16(ToF16(x * factor + term));
      bits ^= static_cast<uint32_t>(ToF16(x)) << (16 * half);
    }
  }
  return bits;
}

uint32_t WordAt(int64_t i) {
  // 2^32 / golden ratio, odd: i to word is one to one for 2^32 words.
  return static_cast<uint32_t>(i) * 2654435769u + 12345u;
}

uint32_t ElementSum(int64_t i) {
  return WordAt(4 * i) + WordAt(4 * i + 1) + WordAt(4 * i + 2) + WordAt(4 * i + 3);
}

std::vector<uint32_t> RandomCycle(int64_t nodes, int64_t stride, uint64_t seed) {
  std::vector<uint32_t> order(static_cast<size_t>(nodes));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  Random random(seed);
  // A shuffled order, closed to a ring.
  random.Shuffle(std::span<uint32_t>(order));
  std::vector<uint32_t> next(static_cast<size_t>(nodes * stride), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t to = order[i + 1 < order.size() ? i + 1 : 0];
    next[static_cast<size_t>(order[i]) * static_cast<size_t>(stride)] =
        to * static_cast<uint32_t>(stride);
  }
  return next;
}

uint32_t Follow(const std::vector<uint32_t>& next, uint32_t from, int64_t hops) {
  for (int64_t i = 0; i < hops; ++i) from = next[from];
  return from;
}

std::vector<uint32_t> Fragments(const MatrixShape& shape) {
  const int in_register = shape.is_f16 ? 2 : 4;
  std::vector<uint32_t> registers;
  for (int lane = 0; lane < 32; ++lane) {
    const int line = lane / 4;
    const int k = lane % 4 * in_register;
    for (int i = 0; i < shape.ARegisters(); ++i) {
      const int row = shape.m == 16 ? line + 8 * (i % 2) : line;
      const int pair = shape.m == 16 ? i / 2 : i;
      registers.push_back(Packed(shape, 0, row, k + 4 * in_register * pair));
    }
    for (int i = 0; i < shape.BRegisters(); ++i) {
      registers.push_back(Packed(shape, 1, line, k + 4 * in_register * i));
    }
  }
  return registers;
}

double Product(const MatrixShape& shape, int lane, int i) {
  const int row = lane / 4 + 8 * (i / 2);
  const int column = 2 * (lane % 4) + i % 2;
  int sum = 0;
  for (int k = 0; k < shape.k; ++k) sum += TwiceEntry(0, row, k) * TwiceEntry(1, column, k);
  return shape.is_f16 ? 0.25 * sum : sum;
}

}  // namespace assay::measure_gpu
