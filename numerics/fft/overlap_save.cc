// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/overlap_save.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/fft/internal/bounds.h"
#include "numerics/fft/internal/column_tables.h"
#include "numerics/fft/internal/costs.h"
#include "numerics/fft/internal/direct.h"
#include "numerics/fft/internal/lines.h"
#include "numerics/fft/internal/plan_tables.h"

namespace assay::fft {

int64_t BlockSize(int64_t m, int64_t outputs) {
  ASSAY_CHECK(m >= 1 && m <= kMaxSize);
  // Without an end the transforms' cost a sample alone counts.
  const double count = outputs > 0 ? static_cast<double>(outputs) : 1e18;
  int64_t best = 0;
  double best_cost = 0;
  for (int64_t power = 8; power <= kMaxSize / 2; power *= 2) {
    for (int64_t size : {power, power / 2 * 3}) {
      if (size < 2 * m) continue;
      const double cost = internal::BlocksCost(m, size, count);
      if (best == 0 || cost < best_cost) {
        best = size;
        best_cost = cost;
      }
    }
    // Longer blocks only cost more once they are far longer than the filter or take in everything.
    if (best != 0 && power / 32 > m) break;
  }
  return best == 0 ? kMaxSize : best;
}

template <class T>
absl::StatusOr<OverlapSave<T>> OverlapSave<T>::Create(std::span<const T> filter, int64_t block) {
  const int64_t m = static_cast<int64_t>(filter.size());
  if (m < 1 || m > kMaxSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("convolve: a filter of ", m, " taps, expected 1 to ", kMaxSize));
  }
  if (block == 0) block = BlockSize(m);
  if (block < m || block > kMaxSize) {
    return absl::InvalidArgumentError(absl::StrCat(
        "convolve: blocks of ", block, " samples, expected ", m, " (the filter) to ", kMaxSize));
  }
  absl::StatusOr<RealPlan<T>> plan = RealPlan<T>::Create(block);
  if (!plan.ok()) return plan.status();
  const int64_t needed = block + plan->scratch_size() + 2 * plan->spectrum_size();
  if (!internal::CanAllocate<T>(needed)) return internal::NoMemory(block);
  std::vector<T> padded(static_cast<size_t>(block));
  std::vector<T> scratch(static_cast<size_t>(plan->scratch_size()));
  std::vector<std::complex<T>> spectrum(static_cast<size_t>(plan->spectrum_size()));
  std::copy(filter.begin(), filter.end(), padded.begin());
  absl::Status status = plan->Forward(padded, spectrum, scratch);
  if (!status.ok()) return status;
  return OverlapSave(m, *std::move(plan), std::move(spectrum), internal::NormBound(filter));
}

template <class T>
int64_t OverlapSave<T>::scratch_size(int threads) const {
  return (block_size() + BlockScratch()) * threads;
}

template <class T>
void OverlapSave<T>::Block(std::span<T> samples, std::span<T> scratch) const {
  const size_t count = static_cast<size_t>(plan_.spectrum_size());
  const std::span<std::complex<T>> x(reinterpret_cast<std::complex<T>*>(scratch.data()), count);
  const std::span<T> rest = scratch.subspan(2 * count);
  ASSAY_CHECK(plan_.Forward(samples, x, rest).ok());
  internal::MultiplySpectra(scratch.data(), reinterpret_cast<const T*>(spectrum_.data()),
                            plan_.spectrum_size());
  ASSAY_CHECK(plan_.Inverse(x, samples, rest).ok());
}

template <class T>
absl::Status OverlapSave<T>::Convolve(std::span<const T> signal, int64_t begin, int64_t end,
                                      std::span<T> out, std::span<T> scratch,
                                      ThreadPool* pool) const {
  const int64_t n = static_cast<int64_t>(signal.size());
  if (n < 1 || n > kMaxSize || begin < 0 || begin > end || end > n + m_ - 1) {
    return absl::InvalidArgumentError(absl::StrCat("convolve: outputs ", begin, " to ", end, " of ",
                                                   n, " samples with ", m_, " taps, expected 0 to ",
                                                   n + m_ - 1, " and at least one sample"));
  }
  absl::Status status = internal::CheckBuffers("convolve", signal, n, out, end - begin, scratch,
                                               scratch_size(internal::Threads(pool)), false);
  if (!status.ok() || begin == end) return status;
  const int64_t first = begin / step(), last = (end - 1) / step() + 1;
  const int64_t size = block_size();
  internal::Share(
      pool, last - first, (last - first) * size, scratch, size + BlockScratch(),
      [&](int64_t from, int64_t to, std::span<T> own) {
        const std::span<T> block = own.first(static_cast<size_t>(size));
        for (int64_t i = first + from; i < first + to; ++i) {
          // Samples [start, start + size), zeros beyond the ends; outputs from start + m - 1 on.
          const int64_t start = i * step() - (m_ - 1);
          const int64_t lead = std::min(size, std::max<int64_t>(0, -start));
          const int64_t stop = std::max(lead, std::min(size, n - start));
          std::fill(block.begin(), block.begin() + lead, T{0});
          if (stop > lead) std::copy_n(signal.data() + (start + lead), stop - lead, &block[lead]);
          std::fill(block.begin() + stop, block.end(), T{0});
          Block(block, own.subspan(static_cast<size_t>(size)));
          const int64_t low = std::max(begin, i * step()), high = std::min(end, (i + 1) * step());
          std::copy_n(block.data() + (low - start), high - low, out.data() + (low - begin));
        }
      });
  return absl::OkStatus();
}

template <class T>
double OverlapSave<T>::ErrorBound(std::span<const T> signal) const {
  // Windows of L samples that begin anywhere lie in two neighbouring pieces of L.
  const size_t size = static_cast<size_t>(block_size());
  double before = 0, largest = 0;
  for (size_t at = 0; at < signal.size(); at += size) {
    const double norm = internal::NormBound(signal.subspan(at, std::min(size, signal.size() - at)));
    largest = std::max(largest, before * before + norm * norm);
    before = norm;
  }
  return internal::BoundFactor(plan_, 1) * std::sqrt(largest) * (1 + 1e-15) * norm_;
}

template <class T>
Convolver<T>::Convolver(OverlapSave<T> plan)
    : plan_(std::move(plan)),
      window_(static_cast<size_t>(plan_.block_size())),
      block_(window_.size()),
      scratch_(static_cast<size_t>(plan_.BlockScratch())) {}

template <class T>
absl::StatusOr<Convolver<T>> Convolver<T>::Create(std::span<const T> filter, int64_t block) {
  absl::StatusOr<OverlapSave<T>> plan = OverlapSave<T>::Create(filter, block);
  if (!plan.ok()) return plan.status();
  return Convolver(*std::move(plan));
}

// Transforms the window and appends the first of its outputs.
template <class T>
void Convolver<T>::Flush(int64_t outputs, std::vector<T>* out) {
  std::copy(window_.begin(), window_.end(), block_.begin());
  plan_.Block(block_, scratch_);
  const auto from = block_.begin() + (plan_.filter_size() - 1);
  out->insert(out->end(), from, from + outputs);
  std::copy(window_.begin() + plan_.step(), window_.end(), window_.begin());
  before_ += held_;
  held_ = 0;
}

template <class T>
void Convolver<T>::Feed(std::span<const T> samples, std::vector<T>* out) {
  while (!samples.empty()) {
    const int64_t count = std::min(static_cast<int64_t>(samples.size()), plan_.step() - held_);
    std::copy_n(samples.begin(), count, window_.begin() + (plan_.filter_size() - 1 + held_));
    held_ += count;
    samples = samples.subspan(static_cast<size_t>(count));
    if (held_ == plan_.step()) Flush(plan_.step(), out);
  }
}

template <class T>
void Convolver<T>::Finish(std::vector<T>* out) {
  const int64_t signal = before_ + held_;
  int64_t left = signal == 0 ? 0 : signal + plan_.filter_size() - 1 - before_;
  while (left > 0) {
    std::fill(window_.begin() + (plan_.filter_size() - 1 + held_), window_.end(), T{0});
    const int64_t outputs = std::min(left, plan_.step());
    Flush(outputs, out);
    left -= outputs;
  }
  std::fill(window_.begin(), window_.end(), T{0});
  before_ = held_ = 0;
}

template class OverlapSave<float>;
template class OverlapSave<double>;
template class Convolver<float>;
template class Convolver<double>;

}  // namespace assay::fft
