// SPDX-License-Identifier: Apache-2.0
//
// cosine.h: discrete cosine and sine transforms, types I to IV, any length, in O(N log N).
//
//   using assay::fft::CosineKind;
//   auto plan = assay::fft::CosinePlan<double>::Create(CosineKind::kDct2, 1000);
//   std::vector<double> scratch(plan->scratch_size());
//   absl::Status status = plan->Transform(samples, coefficients, scratch);
//
// Definitions, those of FFTW (REDFT00, REDFT10, ... , RODFT11) and of scipy.fft.dct and dst, for x
// of length N, j the input's index and k the output's:
//   DCT-I    x[0] + (-1)^k x[N-1] + 2 sum over 0 < j < N-1 of x[j] cos(pi j k / (N-1)),  N >= 2
//   DCT-II   2 sum of x[j] cos(pi (2j+1) k / 2N)
//   DCT-III  x[0] + 2 sum over j > 0 of x[j] cos(pi j (2k+1) / 2N)
//   DCT-IV   2 sum of x[j] cos(pi (2j+1) (2k+1) / 4N)
//   DST-I    2 sum of x[j] sin(pi (j+1) (k+1) / (N+1))
//   DST-II   2 sum of x[j] sin(pi (2j+1) (k+1) / 2N)
//   DST-III  (-1)^k x[N-1] + 2 sum over j < N-1 of x[j] sin(pi (j+1) (2k+1) / 2N)
//   DST-IV   2 sum of x[j] sin(pi (2j+1) (2k+1) / 4N)
// Types I and IV are inverse to themselves, II and III to each other, up to a factor: the transform
// and then the inverse kind's give InverseDivisor() x.
// Orthonormal (scipy's norm="ortho"): scaled, and the first or last element weighted by sqrt(2) or
// sqrt(1/2) where it must, so that the matrix is orthogonal and the inverse kind undoes it.
//
// Exact profile: the bits depend on kind, length and input alone. NaN, infinity: as fft.h.
#ifndef ASSAY_NUMERICS_FFT_COSINE_H_
#define ASSAY_NUMERICS_FFT_COSINE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/fft.h"

namespace assay::fft {

enum class CosineKind { kDct1, kDct2, kDct3, kDct4, kDst1, kDst2, kDst3, kDst4 };

enum class CosineNorm {
  kNone,         // as defined above
  kOrthonormal,  // the matrix is orthogonal
};

// The kind that undoes a transform.
CosineKind InverseKind(CosineKind kind);

// "DCT-II".
std::string_view CosineName(CosineKind kind);

// One kind, length and norm; T is float or double. Immutable: threads may share it.
//
// Method: II and III by one real transform of N after a permutation (Makhoul 1980). IV for an even
//   N by one complex transform of N/2 between two twiddles, for an odd N by one real transform of N
//   of a signed permutation, no twiddles (Chan, Ho 1990; here by the Chinese remainder theorem:
//   4N = 4 * N, and the eighth roots' signs are characters mod 8). I by even and odd samples: a
//   type II and a type I half as long, down to an odd or short one that is extended to a real
//   signal of twice the length. (Folding type I into one transform of N - 1 real numbers divides by
//   sines and loses sqrt(N) of accuracy.) Sine transforms are cosine transforms of the samples
//   reversed or with alternating signs.
// Cost: a real transform of N and about 4 flop an element.
// Sources: Makhoul, "A fast cosine transform in one and two dimensions" (1980); Chan, Ho, "Direct
//   methods for computing discrete sinusoidal transforms" (1990); Wang 1984 for type I by halves.
template <class T>
class CosinePlan {
 public:
  // Fails: kInvalidArgument if n < 1 (n < 2 for DCT-I) or n is above kMaxSize / 8;
  //   kResourceExhausted if the tables do not fit.
  static absl::StatusOr<CosinePlan> Create(CosineKind kind, int64_t n,
                                           CosineNorm norm = CosineNorm::kNone);

  CosineKind kind() const { return kind_; }
  int64_t size() const { return n_; }
  int64_t scratch_size() const { return scratch_size_; }  // T

  //   in, out: [N]. The same memory, or disjoint.
  //   scratch: [>= scratch_size()], overlapping neither.
  // No allocation. Fails (kInvalidArgument) on a wrong size, a short scratch or a partial overlap;
  // out is then untouched.
  absl::Status Transform(std::span<const T> in, std::span<T> out, std::span<T> scratch) const;

  // What the transform and then that of InverseKind multiply by, and so what to divide by: 2N;
  // 2 (N - 1) for DCT-I, 2 (N + 1) for DST-I. 1 for the orthonormal ones.
  int64_t InverseDivisor() const { return norm_ == CosineNorm::kNone ? Divisor() : 1; }

  // |computed - true|_2 <= L2ErrorBound() |true|_2, barring overflow and underflow. Proved where
  // the Fourier transform's own bound e is: II: an error of e of the whole spectrum is at most
  // sqrt(2) e of the result, because the first coefficient has half the weight of the others; the
  // rotation that follows adds 5.24 u (product and twiddle). III: its mirror image, without the
  // sqrt(2). IV: e + 10.48 u for an even N, e + 3 u for an odd one. I: each halving adds u, the end
  // sqrt(2). Orthonormal: 4 u more, for the weights and the scale. Observed: 0.6 u sqrt(log2 N) or
  // so.
  double L2ErrorBound() const { return l2_bound_; }

 private:
  CosinePlan() = default;
  int64_t Divisor() const;

  // All in place, on x; `work` begins the free scratch.
  void Second(T* x, std::span<T> work) const;
  void Third(T* x, std::span<T> work) const;
  void Fourth(T* x, std::span<T> work) const;
  void FourthOdd(T* x, std::span<T> work) const;
  void First(size_t level, int64_t m, T* x, std::span<T> work) const;
  absl::Status PrepareFirst(double* bound);

  CosineKind kind_ = CosineKind::kDct1;
  CosineNorm norm_ = CosineNorm::kNone;
  int64_t n_ = 0;
  int64_t scratch_size_ = 0;
  double l2_bound_ = 0;
  T scale_ = 1, edge_scale_ = 1;     // orthonormal: of the outputs, and of those at an edge
  std::optional<RealPlan<T>> real_;  // of N; type I: of the extended rest
  std::optional<Plan<T>> half_;      // IV, even N: of N/2
  // II: 2 cos, 2 sin(pi k / 2N), III: cos, sin, k = 0..N/2. IV: exp(-i pi (8k+1) / 8N), k < N/2.
  std::vector<T> twiddles_;
  std::vector<CosinePlan> halves_;  // I: the type II of each halving
};

// The same along the last `axes` axes of a row-major array; those before them only count. See
// multi.h.
template <class T>
class MultiCosinePlan {
 public:
  // Fails: as MultiPlan::Create, and as CosinePlan::Create for an extent that is transformed.
  static absl::StatusOr<MultiCosinePlan> Create(CosineKind kind, std::span<const int64_t> shape,
                                                int axes, CosineNorm norm = CosineNorm::kNone);

  int64_t size() const { return size_; }
  int64_t scratch_size(int threads = 1) const;  // T

  // As CosinePlan::Transform; the bits do not depend on the number of threads.
  absl::Status Transform(std::span<const T> in, std::span<T> out, std::span<T> scratch,
                         ThreadPool* pool = nullptr) const;

  // |computed - true|_2 <= L2ErrorBound() |true|_2 for each transform of a batch. An axis with
  // bound e makes 1 + b of the axes before into (1 + k b) (1 + e), where k is the condition of its
  // matrix, which may stretch their errors more than their values: 1 for orthonormal ones, type IV
  // and DST-I, sqrt(2) for types II and III, 2 for DCT-I.
  double L2ErrorBound() const { return l2_bound_; }

 private:
  struct Axis {
    int64_t outer, n, inner;
    size_t plan;
  };
  MultiCosinePlan() = default;
  int64_t size_ = 0;
  std::vector<Axis> axes_;  // slowest first
  std::vector<CosinePlan<T>> plans_;
  double l2_bound_ = 0;
};

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_COSINE_H_
