// SPDX-License-Identifier: Apache-2.0
#include "web/articles/isotonic/classifier.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"

namespace assay::isotonic_page {

std::array<float, kClasses> Probabilities(const Classifier& classifier,
                                          std::span<const float> image) {
  ASSAY_CHECK(image.size() == kPixels);
  // Pixel by pixel, all classes at once: the order of additions is fixed and independent sums
  // stand side by side.
  std::array<float, kClasses> z = classifier.offsets;
  for (size_t p = 0; p < kPixels; ++p) {
    const float* row = classifier.weights.data() + p * kClasses;
    for (size_t c = 0; c < kClasses; ++c) z[c] += image[p] * row[c];
  }
  // With the largest taken off, no exponential overflows.
  const float most = *std::max_element(z.begin(), z.end());
  float sum = 0;
  for (float& value : z) {
    value = Exp(value - most);
    sum += value;
  }
  for (float& value : z) value /= sum;
  return z;
}

Classifier Train(const Garments& garments, int64_t epochs, float rate, uint64_t seed,
                 const std::function<void(int64_t)>& progress) {
  constexpr int64_t kBatch = 32;
  const float step = rate / kBatch;
  Classifier classifier;
  std::vector<int64_t> order(garments.labels.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    Random(seed, static_cast<uint64_t>(epoch)).Shuffle(order);
    for (int64_t first = 0; first + kBatch <= garments.count(); first += kBatch) {
      Classifier gradient;
      for (int64_t i = first; i < first + kBatch; ++i) {
        const int64_t picture = order[static_cast<size_t>(i)];
        const std::span<const float> image = garments.image(picture);
        // The loss -log p_label has the gradient p - 1 at the label, p elsewhere.
        std::array<float, kClasses> slope = Probabilities(classifier, image);
        slope[garments.labels[static_cast<size_t>(picture)]] -= 1;
        for (size_t p = 0; p < kPixels; ++p) {
          float* row = gradient.weights.data() + p * kClasses;
          for (size_t c = 0; c < kClasses; ++c) row[c] += image[p] * slope[c];
        }
        for (size_t c = 0; c < kClasses; ++c) gradient.offsets[c] += slope[c];
      }
      for (size_t k = 0; k < gradient.weights.size(); ++k) {
        classifier.weights[k] -= step * gradient.weights[k];
      }
      for (size_t c = 0; c < kClasses; ++c) classifier.offsets[c] -= step * gradient.offsets[c];
    }
    progress(epoch + 1);
  }
  return classifier;
}

std::vector<Answer> Ask(const Classifier& classifier, const Garments& garments) {
  std::vector<Answer> answers;
  for (int64_t i = 0; i < garments.count(); ++i) {
    const std::array<float, kClasses> p = Probabilities(classifier, garments.image(i));
    const auto best = std::max_element(p.begin(), p.end());
    const auto label = static_cast<int32_t>(best - p.begin());
    answers.push_back({label, *best, label == garments.labels[static_cast<size_t>(i)]});
  }
  return answers;
}

}  // namespace assay::isotonic_page
