// SPDX-License-Identifier: Apache-2.0
//
// What the probes' kernels must leave behind, computed on the host. All exact.
#ifndef ASSAY_TOOLS_MEASURE_GPU_REFERENCE_H_
#define ASSAY_TOOLS_MEASURE_GPU_REFERENCE_H_

#include <cstdint>
#include <vector>

namespace assay::measure_gpu {

// out[thread] of FmaF32 and FmaF16 with `chains` chains of `steps` steps.
float FmaF32Reference(int64_t thread, float a, float b, int chains, int64_t steps);
uint32_t FmaF16Reference(int64_t thread, float a, float b, int chains, int64_t steps);

// The i-th 32-bit word of every buffer that is read: all different, so that a word read twice or
// left out changes a sum.
uint32_t WordAt(int64_t i);

// The sum of the four words of element i, modulo 2^32.
uint32_t ElementSum(int64_t i);

// A cycle through all places of `nodes` nodes, `stride` words apart, in random order: next[stride
// p] = stride q. The other words are 0. nodes >= 2.
std::vector<uint32_t> RandomCycle(int64_t nodes, int64_t stride, uint64_t seed);

// Where `hops` steps from `from` lead.
uint32_t Follow(const std::vector<uint32_t>& next, uint32_t from, int64_t hops);

// The matrices of the probes of matrix instructions, A [m, k] and B [k, 8]. Entries are from
// {+-1/2, +-1, +-3/2} in f16, so that sums are exact in f32 while they stay below 2^22, and twice
// that in s8.
struct MatrixShape {
  int m = 0;  // 8 or 16
  int k = 0;
  bool is_f16 = true;  // or s8

  int ARegisters() const { return m / 8 * BRegisters(); }
  int BRegisters() const { return k / (is_f16 ? 8 : 16); }
  int CRegisters() const { return m / 4; }
};

// What each of 32 lanes holds: its registers of A, then those of B, 32 times. Register i of A has
// row lane / 4 (+ 8 where i is odd and m is 16) and entries from k = 4 / bytes * (lane mod 4) on
// (+ 16 / bytes for the next pair); of B likewise with column lane / 4.
// Source: PTX ISA, "Warp-level matrix fragments".
std::vector<uint32_t> Fragments(const MatrixShape& shape);

// The entry of A B that register i of a lane holds: row lane / 4 + 8 (i / 2), column
// 2 (lane mod 4) + i mod 2.
double Product(const MatrixShape& shape, int lane, int i);

}  // namespace assay::measure_gpu

#endif  // ASSAY_TOOLS_MEASURE_GPU_REFERENCE_H_
