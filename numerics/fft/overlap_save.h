// SPDX-License-Identifier: Apache-2.0
//
// overlap_save.h: convolution of a signal of any length with one filter, block by block.
//
//   auto convolver = assay::fft::Convolver<float>::Create(filter);
//   std::vector<float> out;
//   while (read(&samples)) convolver->Feed(samples, &out);  // any sizes; appends what is complete
//   convolver->Finish(&out);                                // signal + filter - 1 outputs in all
//
// Exact profile: the bits depend on the filter, the block's length and the signal, not on how the
// signal was cut when it was fed, nor on threads.
#ifndef ASSAY_NUMERICS_FFT_OVERLAP_SAVE_H_
#define ASSAY_NUMERICS_FFT_OVERLAP_SAVE_H_

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/fft.h"

namespace assay::fft {

// The spectrum of a filter for blocks of L samples: each gives L - m + 1 outputs of the convolution
// (the others are wrapped around and thrown away). Immutable: threads may share it.
template <class T>
class OverlapSave {
 public:
  //   filter: [m], m >= 1. block: L >= m, or 0 for the length that BlockSize picks for a signal
  //   without an end.
  // Fails: kInvalidArgument for an empty filter, a block shorter than it or above kMaxSize;
  //   kResourceExhausted without memory for the plan.
  static absl::StatusOr<OverlapSave> Create(std::span<const T> filter, int64_t block = 0);

  int64_t filter_size() const { return m_; }
  int64_t block_size() const { return plan_.size(); }
  int64_t step() const { return plan_.size() - m_ + 1; }  // outputs of a block
  // T that Convolve needs for so many threads.
  int64_t scratch_size(int threads = 1) const;

  // Outputs [begin, end) of the full convolution with `signal`, c[k] = sum of signal[k - i]
  // filter[i].
  //   signal: [n], n >= 1. 0 <= begin <= end <= n + m - 1. out: [end - begin], must not overlap.
  // Blocks begin at the multiples of step(): an output's bits do not depend on the range.
  // No allocation. Fails (kInvalidArgument) on a wrong size, range or scratch; out is untouched.
  absl::Status Convolve(std::span<const T> signal, int64_t begin, int64_t end, std::span<T> out,
                        std::span<T> scratch, ThreadPool* pool = nullptr) const;

  // A bound on the error of every output: ConvolveErrorBound's, with the largest 2-norm of L
  // consecutive samples in the place of the signal's.
  double ErrorBound(std::span<const T> signal) const;

 private:
  template <class>
  friend class Convolver;

  OverlapSave(int64_t m, RealPlan<T> plan, std::vector<std::complex<T>> spectrum, double norm)
      : m_(m), plan_(std::move(plan)), spectrum_(std::move(spectrum)), norm_(norm) {}
  // One block: `samples` [L] are replaced by their cyclic convolution with the filter.
  void Block(std::span<T> samples, std::span<T> scratch) const;
  int64_t BlockScratch() const { return 2 * plan_.spectrum_size() + plan_.scratch_size(); }

  int64_t m_;
  RealPlan<T> plan_;
  std::vector<std::complex<T>> spectrum_;
  double norm_;  // of the filter
};

// A stream of samples through OverlapSave. Holds up to a block of them; not for several threads at
// once.
template <class T>
class Convolver {
 public:
  // As OverlapSave::Create.
  static absl::StatusOr<Convolver> Create(std::span<const T> filter, int64_t block = 0);

  const OverlapSave<T>& plan() const { return plan_; }

  // Takes samples, any number of them, and appends the outputs of the blocks that they complete.
  // Cost: amortised two transforms a step() of samples. Allocates only in `out`. An output comes at
  // most step() - 1 samples after the sample of its number.
  void Feed(std::span<const T> samples, std::vector<T>* out);

  // Appends the outputs that are left: n + m - 1 in all since the last Finish, none for n = 0.
  // The next sample begins a new signal.
  void Finish(std::vector<T>* out);

 private:
  explicit Convolver(OverlapSave<T> plan);
  void Flush(int64_t outputs, std::vector<T>* out);

  OverlapSave<T> plan_;
  std::vector<T> window_;  // [L]: the m - 1 samples before the block's own, then those fed so far
  int64_t held_ = 0;       // of the block's own
  int64_t before_ = 0;     // samples of this signal in blocks that are done
  std::vector<T> block_, scratch_;
};

// The block's length for a filter of m >= 1 taps and `outputs` outputs (0: no end): of the sizes
// 2^i and 3 * 2^i the one with the least work, some 4 to 8 filters for a long signal.
int64_t BlockSize(int64_t m, int64_t outputs = 0);

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_OVERLAP_SAVE_H_
