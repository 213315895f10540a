// SPDX-License-Identifier: Apache-2.0
//
// Isotonic regression as the ten lines that everybody writes: the naive twin in benchmarks.
#ifndef ASSAY_NUMERICS_ISOTONIC_WALK_H_
#define ASSAY_NUMERICS_ISOTONIC_WALK_H_

#include <cstddef>
#include <span>
#include <vector>

namespace assay::isotonic {

struct WalkBlock {
  double sum;  // of weight times value
  double weight;
  size_t end;  // one past the last element
};

// The increasing fit by pooling adjacent violators, from left to right: blocks are kept on a stack,
// and while the mean below is not smaller than that on top (compared without dividing), the two
// become one.
//   y: [n] finite. weights: [n] > 0, or empty for 1. fit: [n] out; may be y.
//   blocks: the stack, whatever it holds; kept between calls, none of them waits for memory.
// Error: sums are rounded to f64, so means that lie closer than about n 2^-53 relative to the
//   largest |y| may pool or not; `Fit` has no such error. Nothing is checked.
// Cost: linear, each step waiting for the one before; 24 n bytes.
// Source: Ayer, Brunk, Ewing, Reid, Silverman, An empirical distribution function for sampling with
//   incomplete information (1955).
template <class T>
void FitByWalk(std::span<const T> y, std::span<const T> weights, std::span<T> fit,
               std::vector<WalkBlock>& blocks) {
  blocks.clear();
  for (size_t i = 0; i < y.size(); ++i) {
    const double weight = weights.empty() ? 1 : static_cast<double>(weights[i]);
    WalkBlock top = {weight * static_cast<double>(y[i]), weight, i + 1};
    while (!blocks.empty() && blocks.back().sum * top.weight >= top.sum * blocks.back().weight) {
      top.sum += blocks.back().sum;
      top.weight += blocks.back().weight;
      blocks.pop_back();
    }
    blocks.push_back(top);
  }
  size_t i = 0;
  for (const WalkBlock& block : blocks) {
    for (; i < block.end; ++i) fit[i] = static_cast<T>(block.sum / block.weight);
  }
}

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_WALK_H_
