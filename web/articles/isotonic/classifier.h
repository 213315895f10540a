// SPDX-License-Identifier: Apache-2.0
//
// Multinomial logistic regression: one linear layer and a softmax, trained by stochastic gradient
// descent. Exact: the same bits on every machine.
#ifndef ASSAY_WEB_ARTICLES_ISOTONIC_CLASSIFIER_H_
#define ASSAY_WEB_ARTICLES_ISOTONIC_CLASSIFIER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "web/articles/numerical-pitfalls/garments.h"

namespace assay::isotonic_page {

using numerical_pitfalls::Garments;
using numerical_pitfalls::kClasses;
using numerical_pitfalls::kPixels;

struct Classifier {
  std::array<float, kPixels* kClasses> weights = {};  // [pixel, class]
  std::array<float, kClasses> offsets = {};
};

// What the classifier says of each picture: the class it takes it for (the first of the most
// probable ones), the probability it gives that class, and whether it is right.
struct Answer {
  int32_t label = 0;
  float confidence = 0;
  bool right = false;
};

// Trains from zero: `epochs` passes in shuffled order, batches of 32 (the last of a pass is left
// out if it is shorter), the given learning rate, no momentum, nothing else. progress: called after
// each pass with the number of passes.
Classifier Train(const Garments& garments, int64_t epochs, float rate, uint64_t seed,
                 const std::function<void(int64_t)>& progress);

std::vector<Answer> Ask(const Classifier& classifier, const Garments& garments);

// The probabilities of the classes of one picture, [10], summing to 1 up to rounding.
std::array<float, kClasses> Probabilities(const Classifier& classifier,
                                          std::span<const float> image);

}  // namespace assay::isotonic_page

#endif  // ASSAY_WEB_ARTICLES_ISOTONIC_CLASSIFIER_H_
