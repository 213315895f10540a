// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/internal/transform.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::ntt::internal {
namespace {

// Below this a second thread costs more than it brings.
constexpr int kParallelLog = 15;

bool UseThreads(const ThreadPool* pool, int log) {
  return pool != nullptr && pool->threads() > 1 && log >= kParallelLog;
}

// body(begin, end) over [0, n) in multiples of 16.
template <class Body>
void Columns(ThreadPool* pool, size_t n, Body body) {
  if (pool == nullptr || pool->threads() == 1 || n < (size_t{1} << 14)) return body(size_t{0}, n);
  pool->ParallelFor(static_cast<int64_t>(n), int64_t{1} << 12, [&](int64_t begin, int64_t end) {
    body(static_cast<size_t>(begin), static_cast<size_t>(end));
  });
}

// Nodes of a table for leaves of 2^log numbers.
size_t RootCount(int log) { return size_t{8} << (log - kLeafLog); }

}  // namespace

absl::StatusOr<Transform> Transform::Create(uint32_t p, uint32_t g, int log) {
  Transform t(p, g, log);
  const int table_log = std::max(log, kLeafLog + 4);
  const size_t roots = RootCount(table_log);
  const size_t leaves = log < kLeafLog ? 0 : kLeafRoots << (log - kLeafLog);
  if (!t.forward_roots_.Allocate(2 * roots) || !t.backward_roots_.Allocate(2 * roots) ||
      !t.forward_leaves_.Allocate(leaves) || !t.backward_leaves_.Allocate(leaves)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("ntt: no memory for the tables of 2^", log, " points"));
  }
  t.tables_.p = p;
  t.tables_.inverse = t.field_.inverse();
  t.FillRoots(false, t.forward_roots_, t.forward_leaves_, t.tables_.forward);
  t.FillRoots(true, t.backward_roots_, t.backward_leaves_, t.tables_.backward);
  return t;
}

uint32_t Transform::RootOfOrder(int log) const {
  return static_cast<uint32_t>(PowerMod(g_, (field_.modulus() - 1) >> log, field_.modulus()));
}

void Transform::FillRoots(bool inverse, Buffer<uint32_t>& roots, Buffer<uint32_t>& leaves,
                          Roots& out) {
  // turn[k]: form of the root of order 2^k, or 1 for orders that are not there, which only nodes
  // past the largest length would use.
  uint32_t turn[48];
  const int twos = __builtin_ctz(field_.modulus() - 1);
  uint32_t root = field_.ToForm(RootOfOrder(twos));
  if (inverse) root = field_.Power(root, field_.modulus() - 2);
  for (int k = 47; k >= 0; --k) {
    turn[k] = k > twos ? field_.one() : root;
    if (k <= twos) root = field_.Multiply(root, root);
  }
  // The turn of node t is the sum over its bits of 2^-(i + 2), `shift` levels down 2^-(i + 2 +
  // shift).
  const auto fill = [&](uint32_t* to, size_t count, int shift) {
    to[0] = field_.one();
    for (size_t have = 1; have < count; have *= 2) {
      const int i = __builtin_ctzll(have);
      Scale(tables_, to, turn[i + 2 + shift], to + have, std::min(have, count - have));
    }
  };
  const size_t count = roots.size() / 2;
  fill(roots.data(), count, 0);
  for (size_t t = 0; t < count; ++t) roots[count + t] = roots[t] * field_.inverse();
  out = {roots.data(), roots.data() + count, leaves.data()};
  if (leaves.size() == 0) return;

  // Lane i of row 2^l - 1 + j is node ((16 leaf + i) << l) + j: a turn of the leaf, times one that
  // is the same in all leaves.
  uint32_t pattern[kLeafRoots];
  for (size_t l = 0; l < 4; ++l) {
    for (size_t j = 0; j < (size_t{1} << l); ++j) {
      for (size_t i = 0; i < 16; ++i) {
        pattern[16 * ((size_t{1} << l) - 1 + j) + i] = roots[(i << l) + j];
      }
    }
  }
  const size_t leaf_count = leaves.size() / kLeafRoots;
  constexpr size_t kBatch = 256;
  uint32_t bases[4][kBatch];
  for (size_t begin = 0; begin < leaf_count; begin += kBatch) {
    const size_t end = std::min(leaf_count, begin + kBatch);
    for (size_t l = 0; l < 4; ++l) {
      const int shift = 4 + static_cast<int>(l);
      fill(bases[l], end - begin, shift);
      uint32_t high = field_.one();
      for (size_t rest = begin; rest != 0; rest &= rest - 1) {
        high = field_.Multiply(high, turn[__builtin_ctzll(rest) + 2 + shift]);
      }
      Scale(tables_, bases[l], high, bases[l], end - begin);
    }
    for (size_t leaf = begin; leaf < end; ++leaf) {
      const uint32_t base[4] = {bases[0][leaf - begin], bases[1][leaf - begin],
                                bases[2][leaf - begin], bases[3][leaf - begin]};
      FillLeaf(tables_, pattern, base, leaves.data() + kLeafRoots * leaf);
    }
  }
}

void Transform::SmallForward(uint32_t* data, uint64_t node, int log) const {
  const uint32_t p = field_.modulus();
  for (int level = 0; level < log; ++level) {
    const size_t half = size_t{1} << (log - level - 1);
    for (size_t j = 0; j < (size_t{1} << level); ++j) {
      const uint32_t root = tables_.forward.form[(node << level) + j];
      uint32_t* x = data + 2 * half * j;
      for (size_t i = 0; i < half; ++i) {
        const uint32_t product = field_.Multiply(x[half + i], root);
        x[half + i] = x[i] >= product ? x[i] - product : x[i] - product + p;
        x[i] = x[i] >= p - product ? x[i] + product - p : x[i] + product;
      }
    }
  }
}

void Transform::SmallBackward(uint32_t* data, uint64_t node, int log) const {
  const uint32_t p = field_.modulus();
  for (int level = log - 1; level >= 0; --level) {
    const size_t half = size_t{1} << (log - level - 1);
    for (size_t j = 0; j < (size_t{1} << level); ++j) {
      const uint32_t root = tables_.backward.form[(node << level) + j];
      uint32_t* x = data + 2 * half * j;
      for (size_t i = 0; i < half; ++i) {
        const uint32_t a = x[i], b = x[half + i];
        x[i] = a >= p - b ? a + b - p : a + b;
        x[half + i] = field_.Multiply(a >= b ? a - b : a - b + p, root);
      }
    }
  }
}

void Transform::Forward(uint32_t* data, uint64_t node, int log, ThreadPool* pool) const {
  if (log < kLeafLog) return SmallForward(data, node, log);
  if (!UseThreads(pool, log)) return internal::Forward(tables_, data, node, log);
  const int levels = LevelsAtOnce();
  Columns(pool, size_t{1} << (log - levels), [&](size_t begin, size_t end) {
    ForwardLevels(tables_, data, node, log, levels, begin, end);
  });
  pool->ParallelFor(int64_t{1} << levels, 1, [&](int64_t begin, int64_t) {
    const uint64_t i = static_cast<uint64_t>(begin);
    internal::Forward(tables_, data + (i << (log - levels)), (node << levels) + i, log - levels);
  });
}

void Transform::Backward(uint32_t* data, uint64_t node, int log, ThreadPool* pool) const {
  if (log < kLeafLog) return SmallBackward(data, node, log);
  if (!UseThreads(pool, log)) return internal::Backward(tables_, data, node, log);
  const int levels = LevelsAtOnce();
  pool->ParallelFor(int64_t{1} << levels, 1, [&](int64_t begin, int64_t) {
    const uint64_t i = static_cast<uint64_t>(begin);
    internal::Backward(tables_, data + (i << (log - levels)), (node << levels) + i, log - levels);
  });
  Columns(pool, size_t{1} << (log - levels), [&](size_t begin, size_t end) {
    BackwardLevels(tables_, data, node, log, levels, begin, end);
  });
}

size_t Transform::Granule(int log) {
  return std::max(kLeaf, log < 5 ? size_t{1} : size_t{1} << (log - 5));
}

void Transform::ForwardTruncated(uint32_t* data, int log, size_t in, size_t out,
                                 ThreadPool* pool) const {
  ASSAY_DCHECK(log >= kLeafLog && in <= size_t{1} << log && out % Granule(log) == 0);
  Truncated(data, 0, log, in, out, pool);
}

void Transform::Truncated(uint32_t* data, uint64_t node, int log, size_t in, size_t out,
                          ThreadPool* pool) const {
  const size_t size = size_t{1} << log, half = size / 2;
  if (out == 0) return;
  if (out == size && (in > half || log == kLeafLog)) {
    std::fill(data + in, data + size, 0);
    return Forward(data, node, log, pool);
  }
  // Where the upper half is zero both remainders are the lower half.
  const size_t both = in > half ? (in - half + 15) / 16 * 16 : 0;
  if (both > 0) std::fill(data + in, data + half + both, 0);
  const size_t low = std::min(in, half);
  if (out <= half) {
    if (both > 0) Combined(tables_, Combine::kAdd, data, data + half, node, both);
    return Truncated(data, 2 * node, log - 1, low, out, pool);
  }
  if (both > 0) {
    Columns(pool, both, [&](size_t begin, size_t end) {
      ForwardLevels(tables_, data, node, log, 1, begin, end);
    });
  }
  if (low > both) std::memcpy(data + half + both, data + both, (low - both) * sizeof(uint32_t));
  Truncated(data, 2 * node, log - 1, low, half, pool);
  Truncated(data + half, 2 * node + 1, log - 1, low, out - half, pool);
}

void Transform::BackwardTruncated(uint32_t* data, int log, size_t out, ThreadPool* pool) const {
  const size_t size = size_t{1} << log;
  std::fill(data + out, data + size, 0);
  Untruncated(data, 0, log, out, pool);
}

// Of `out` values and the coefficients from `out` on, these 2^log fold, to all coefficients, 2^log
// fold. Source: van der Hoeven, The truncated Fourier transform and applications (2004).
void Transform::Untruncated(uint32_t* data, uint64_t node, int log, size_t out,
                            ThreadPool* pool) const {
  const size_t size = size_t{1} << log, half = size / 2;
  if (out == 0) return;
  if (out == size) return Backward(data, node, log, pool);
  uint32_t* const b = data + half;
  if (out > half) {
    // The left remainder a + r b is known whole. Right's upper coefficients follow from it and b's.
    Backward(data, 2 * node, log - 1, pool);
    const size_t known = out - half;
    Combined(tables_, Combine::kRemainder, data + known, b + known, node, half - known);
    Untruncated(b, 2 * node + 1, log - 1, known, pool);
    Columns(pool, half, [&](size_t begin, size_t end) {
      BackwardLevels(tables_, data, node, log, 1, begin, end);
    });
  } else {
    // Of the left remainder the upper coefficients follow from a's and b's, which are known there;
    // of the right one nothing is known, but b is.
    Combined(tables_, Combine::kHalfOfSum, data + out, b + out, node, half - out);
    Untruncated(data, 2 * node, log - 1, out, pool);
    Combined(tables_, Combine::kDouble, data, b, node, half);
  }
}

uint32_t Transform::InverseScale(int log) const {
  return field_.Power(field_.ToForm((field_.modulus() + 1) / 2), static_cast<uint64_t>(log));
}

uint32_t Transform::MultiplyScale(int log) const { return field_.ToForm(InverseScale(log)); }

}  // namespace assay::ntt::internal
