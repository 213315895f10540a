// SPDX-License-Identifier: Apache-2.0
//
// transform.h: whole transforms over the kernels: tables, truncation, threads. Nothing is checked
// here; ntt.h and polynomial.h do that.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_TRANSFORM_H_
#define ASSAY_NUMERICS_NTT_INTERNAL_TRANSFORM_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"
#include "numerics/ntt/internal/buffer.h"
#include "numerics/ntt/internal/kernels.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt::internal {

class Transform {
 public:
  // For lengths up to 2^log, p prime, 2^log a divisor of p - 1. g: a primitive root of p. Tables
  // take 7.75 bytes a point, and about half a transform's time. Fails: kResourceExhausted.
  static absl::StatusOr<Transform> Create(uint32_t p, uint32_t g, int log);

  uint32_t modulus() const { return field_.modulus(); }
  const Montgomery& field() const { return field_; }
  const Tables& tables() const { return tables_; }
  int max_log() const { return log_; }
  // g^((p-1) / 2^log), of order 2^log.
  uint32_t RootOfOrder(int log) const;

  // kernels.h's, any log >= 0 (below kLeafLog scalar, in bit-reversed order), over a pool or
  // nullptr.
  void Forward(uint32_t* data, uint64_t node, int log, ThreadPool* pool) const;
  void Backward(uint32_t* data, uint64_t node, int log, ThreadPool* pool) const;

  // The first `out` values of the spectrum of the first `in` coefficients, the others being 0
  // (whatever stands there); data has room for 2^log. out: a multiple of Granule(log).
  void ForwardTruncated(uint32_t* data, int log, size_t in, size_t out, ThreadPool* pool) const;
  // From the first `out` values of the spectrum of a polynomial of at most `out` coefficients,
  // 2^log times those, as Backward's. What stands behind them is written over.
  void BackwardTruncated(uint32_t* data, int log, size_t out, ThreadPool* pool) const;
  // A 32nd of the length, but a leaf at least.
  static size_t Granule(int log);

  // c such that kernels.h's Multiply by it multiplies by 2^-log.
  uint32_t MultiplyScale(int log) const;
  // w such that kernels.h's Scale by it multiplies by 2^-log.
  uint32_t InverseScale(int log) const;

 private:
  Transform(uint32_t p, uint32_t g, int log) : field_(p), g_(g), log_(log) {}
  void FillRoots(bool inverse, Buffer<uint32_t>& roots, Buffer<uint32_t>& leaves, Roots& out);
  void SmallForward(uint32_t* data, uint64_t node, int log) const;
  void SmallBackward(uint32_t* data, uint64_t node, int log) const;
  void Truncated(uint32_t* data, uint64_t node, int log, size_t in, size_t out,
                 ThreadPool* pool) const;
  void Untruncated(uint32_t* data, uint64_t node, int log, size_t out, ThreadPool* pool) const;

  Montgomery field_;
  uint32_t g_;
  int log_;
  Buffer<uint32_t> forward_roots_, backward_roots_, forward_leaves_, backward_leaves_;
  Tables tables_ = {};
};

}  // namespace assay::ntt::internal

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_TRANSFORM_H_
