// SPDX-License-Identifier: Apache-2.0
//
// fft.h: the discrete Fourier transform of any length in O(N log N).
//
//   absl::StatusOr<assay::fft::Plan<double>> plan = assay::fft::Plan<double>::Create(1000);
//   if (!plan.ok()) return plan.status();
//   std::vector<double> scratch(plan->scratch_size());
//   absl::Status s = plan->Forward(signal, spectrum, scratch);
//
// A plan holds the twiddle factors of one length and is immutable: threads may share it, each with
// a scratch of its own. For a transform or two, Forward(x) and Inverse(x) below need no plan.
// Convolution and polynomials are in convolve.h, slow and obvious twins in reference.h.
//
// Conventions, for x of length N and w = exp(-2 pi i / N):
//   Forward   X[k] = sum over j of x[j] w^(jk)           no factor
//   Backward  x[j] = sum over k of X[k] w^(-jk)          no factor: Backward(Forward(x)) = N x
//   Inverse   Backward, then divided by N                Inverse(Forward(x)) = x up to rounding
// Complex numbers are interleaved (re, im), index 0 first; element k of a spectrum is the frequency
// of k turns over the N samples.
//
// Exact: bits are equal on every build of the exact profile, in WebAssembly too. A result depends
// on the length and the input alone, never on the address, the scratch or the thread.
//
// NaN and infinity: one such input element may turn every output into NaN (an infinity meets zero
// coefficients and opposite signs on its way). Nothing traps, nothing else is harmed. Subnormals
// are kept. Overflow gives infinities, as IEEE arithmetic does.
#ifndef ASSAY_NUMERICS_FFT_FFT_H_
#define ASSAY_NUMERICS_FFT_FFT_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::fft {

namespace internal {
template <class T>
struct PlanTables;
template <class T>
struct Sweeps;
}  // namespace internal

// The longest transform a plan accepts. Tables and scratch of a longer one would not fit a 64-bit
// machine's memory today; in wasm memory ends long before, which is reported as kResourceExhausted.
inline constexpr int64_t kMaxSize = int64_t{1} << 36;

// A complex transform of one length; T is float or double.
//
// Method: mixed radix 2, 3, 4, 5, 7, 8, 11, 13, 16 when N has no prime factor above 13: N = n1 n2
// in two sweeps over blocks of columns, in which every vector runs across columns
// (internal/columns.h), or Stockham's passes for some short lengths; otherwise Bluestein's chirp,
// three transforms of a smooth length M >= 2N - 1, the chirp's angle from j^2 mod 2N in integers.
//
// Error, relative in the 2-norm, u = 2^-24 (float) or 2^-53 (double):
//   proved for a smooth N: L2ErrorBound(), a sum over the steps, at most 4 u log2 N for a power
//   of two and 16 u log2 N otherwise; observed on random data: 0.6 u sqrt(log2 N);
//   for Bluestein's lengths: 12 u log2 N is what the tests hold (a proof would need the maximum
//   norm of the error in the chirp's own transform); observed: about 1.5 u sqrt(log2 N).
// Cost: about 4.25 N log2 N flop for a power of two. Create: N / 8 evaluations of sine and cosine
//   when 8 divides N. Memory: up to 2N numbers T, N / 8 beyond some ten thousand points;
//   Bluestein's about 8N.
// Sources: Cooley, Tukey 1965; Gentleman, Sande 1966 and Bailey, FFTs in external or hierarchical
//   memory (1990) for the two sweeps; Stockham's order as in Van Loan, Computational Frameworks for
//   the FFT (1992), sec. 1.7; Bluestein 1970; error analysis Higham, Accuracy and Stability of
//   Numerical Algorithms (2002), ch. 24, with the constant sqrt(5) for a complex product of Brent,
//   Percival, Zimmermann 2007.
template <class T>
class Plan {
 public:
  // Prepares transforms of length n >= 1.
  // Fails: kInvalidArgument if n < 1 or n > kMaxSize; kResourceExhausted if the tables do not fit.
  static absl::StatusOr<Plan> Create(int64_t n);
  // For fast.h.
  static absl::StatusOr<Plan> CreateWith(int64_t n, const internal::Sweeps<T>& sweeps);

  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  int64_t size() const;

  // How many T the scratch argument must hold at least: about 2N, 4N for some short or odd N, 4M
  // for Bluestein's, and up to 64 sqrt(N) for each thread.
  int64_t scratch_size(int threads = 1) const;

  //   in:  [N]
  //   out: [N]. May be the same memory as in (same first element), otherwise must not overlap it.
  //   scratch: [>= scratch_size(threads)], contents free before, unspecified after; must overlap
  //   neither.
  //   pool: the threads to run on, null for the caller alone. Shorter transforms than 2^17 run on
  //   the caller all the same: waking a thread would cost more than it saves.
  // No allocation on one thread. Fails (kInvalidArgument) on a wrong length, a short scratch or a
  // partial overlap; out is then untouched.
  absl::Status Forward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                       std::span<T> scratch, ThreadPool* pool = nullptr) const;
  absl::Status Backward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                        std::span<T> scratch, ThreadPool* pool = nullptr) const;
  // Error: that of Backward, plus one rounding of each component.
  absl::Status Inverse(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                       std::span<T> scratch, ThreadPool* pool = nullptr) const;

  // The bound described above: |computed - true|_2 <= L2ErrorBound() * |true|_2, barring overflow
  // and underflow. Includes u, so it is a number such as 1e-14.
  double L2ErrorBound() const;

  // The same bound for one output against the sum of the inputs' sizes:
  // |computed[k] - true[k]| <= PathErrorBound() * sum over j of |in[j]|. For a smooth N only;
  // for Bluestein's lengths infinity (nothing is proved).
  double PathErrorBound() const;

  // Bluestein's method is used.
  bool uses_bluestein() const;

  // The steps, for people: "8x5x8" for 320, or "bluestein 1009 through 2048: 8x4x8x8".
  std::string Describe() const;

 private:
  explicit Plan(std::unique_ptr<const internal::PlanTables<T>> tables);
  std::unique_ptr<const internal::PlanTables<T>> tables_;
};

// A transform of N real samples and its N/2 + 1 coefficients k = 0..N/2 (the others are their
// conjugates: X[N - k] = conj(X[k])).
//
// Method: for an even N one complex transform of length N/2 and a pass that separates the even and
// odd samples; for an odd N a complex transform of length N. Error: as Plan of that length,
// plus 7.3 u for an even N. Cost: about half of the complex transform for an even N.
template <class T>
class RealPlan {
 public:
  // Prepares transforms of n >= 1 real samples. Fails as Plan::Create.
  static absl::StatusOr<RealPlan> Create(int64_t n);
  // For fast.h.
  static absl::StatusOr<RealPlan> CreateWith(int64_t n, const internal::Sweeps<T>& sweeps);

  RealPlan(RealPlan&&) noexcept;
  RealPlan& operator=(RealPlan&&) noexcept;
  ~RealPlan();

  int64_t size() const;                         // N, real samples
  int64_t spectrum_size() const;                // N/2 + 1, complex coefficients
  int64_t scratch_size(int threads = 1) const;  // T

  //   in:  [N] real. out: [N/2 + 1]; must not overlap in. The imaginary parts of out[0] and, for an
  //   even N, of out[N/2] are +0. scratch as for Plan.
  absl::Status Forward(std::span<const T> in, std::span<std::complex<T>> out, std::span<T> scratch,
                       ThreadPool* pool = nullptr) const;
  //   in:  [N/2 + 1]; the imaginary parts of in[0] and, for an even N, of in[N/2] are ignored (a
  //   real signal has none). out: [N] real; must not overlap in.
  absl::Status Backward(std::span<const std::complex<T>> in, std::span<T> out, std::span<T> scratch,
                        ThreadPool* pool = nullptr) const;
  absl::Status Inverse(std::span<const std::complex<T>> in, std::span<T> out, std::span<T> scratch,
                       ThreadPool* pool = nullptr) const;

  double L2ErrorBound() const;    // of Forward and of Backward, as Plan's
  double PathErrorBound() const;  // as Plan's

 private:
  RealPlan(int64_t n, Plan<T> plan, std::vector<T> twiddles);
  int64_t n_;
  Plan<T> plan_;             // of N/2, or of N when N is odd
  std::vector<T> twiddles_;  // even N: re, im of w^k for k = 0..N/4
};

// One transform without a plan; makes a plan and a scratch inside. Same bits as with a plan.
// Fails as Plan::Create; so an empty x is kInvalidArgument.
template <class T>
absl::StatusOr<std::vector<std::complex<T>>> Forward(std::span<const std::complex<T>> x);
template <class T>
absl::StatusOr<std::vector<std::complex<T>>> Inverse(std::span<const std::complex<T>> x);

// exp(-2 pi i k / n): each component within 1.5 ulp (double) or correctly rounded but for rare ties
// (float), by octant reduction of k / n in integers. Any k; n >= 1 (checked), n <= kMaxSize * 2.
// UnitRoot(k + n, n) == UnitRoot(k, n), and the eighth turns' symmetries hold in bits:
// UnitRoot(n - k, n) = conj(UnitRoot(k, n)).
template <class T>
std::complex<T> UnitRoot(int64_t k, int64_t n);

// The smallest product of 2, 3 and 5 that costs least among those in [n, 2n): the length to pad to.
// n >= 1 (checked).
int64_t GoodSize(int64_t n);

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_FFT_H_
