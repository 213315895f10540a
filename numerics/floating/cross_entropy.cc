// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/internal/rows.h"
#include "numerics/floating/internal/softmax_row.h"

namespace assay::floating {
namespace {

using internal::CompensatedSum;
using internal::kInfinity;
using internal::kNaN;
using internal::RowEngine;
using internal::RowSummary;
using internal::RowView;
using Kind = internal::RowSummary::Kind;

// What a row is to be: w[c] q[c], without a copy of it.
template <class T>
struct Target {
  int64_t hard = -1;        // or
  const T* soft = nullptr;  // a row of q
  int64_t soft_stride = 1;
  double smoothing = 0;
  std::span<const double> weights = {};
  double unit = 1;      // a power of two that the weights are multiplied by
  int64_t classes = 0;  // that smoothing is spread over

  bool plain() const { return soft == nullptr && smoothing == 0; }
  double Weight(int64_t c) const {
    return weights.empty() ? unit : weights[static_cast<size_t>(c)] * unit;
  }
  // w[c] q[c], for a class that is not masked out.
  double At(int64_t c) const {
    double q = soft != nullptr ? static_cast<double>(soft[c * soft_stride]) : (c == hard ? 1 : 0);
    if (smoothing != 0) q = (1 - smoothing) * q + smoothing / static_cast<double>(classes);
    return Weight(c) * q;
  }
};

// The loss and the gradient of one row.
template <class T>
class RowLoss {
 public:
  RowLoss(const RowView<T>& row, const SoftmaxOptions& options, Target<T> target, double z_loss)
      : engine_(row, options.arithmetic, options.temperature),
        row_(row),
        policy_(options.all_masked),
        temperature_(options.temperature),
        z_loss_(z_loss * target.unit),
        target_(target) {
    if (target_.smoothing != 0) {
      for (int64_t c = 0; c < row.n; ++c) target_.classes += Kept(c) ? 1 : 0;
    }
  }

  // The loss, times the target's unit, as is the gradient. With gradient: call Gradient after it.
  double Value(bool gradient) {
    summary_ = engine_.Summarise(gradient);
    if (summary_.kind == Kind::kNaN) return kNaN;
    if (summary_.kind == Kind::kAllMasked) return policy_ == AllMasked::kNaN ? kNaN : 0.0;
    log_total_ = summary_.kind == Kind::kOrdinary ? Log1p(summary_.rest.hi)
                                                  : Log(static_cast<double>(summary_.infinities));
    double loss = 0;
    if (target_.plain()) {
      const double weight = target_.Weight(target_.hard);
      if (weight != 0) loss = weight * Cost(target_.hard);
    } else {
      CompensatedSum sum;
      double special = 0;
      for (int64_t c = 0; c < row_.n; ++c) {
        const double q = TargetAt(c);
        if (q == 0) continue;
        const double term = q * Cost(c);
        term - term == 0 ? sum.Add(term) : void(special += term);
      }
      loss = special == 0 ? sum.Value().hi : special;
    }
    if (z_loss_ != 0) loss += z_loss_ * LogSumExp() * LogSumExp();
    return loss == loss ? loss : kNaN;
  }

  // g[c] = scale * d loss / d x[c].
  void Gradient(double scale, T* g, int64_t stride) {
    scale /= temperature_;
    if (summary_.kind != Kind::kOrdinary) {
      SpecialGradient(scale, g, stride);
      return;
    }
    double q_sum = 0;
    if (target_.plain()) {
      q_sum = target_.Weight(target_.hard);
    } else {
      CompensatedSum sum;
      for (int64_t c = 0; c < row_.n; ++c) sum.Add(TargetAt(c));
      q_sum = sum.Value().hi;
    }
    const double pull = z_loss_ != 0 ? 2 * z_loss_ * LogSumExp() : 0;
    if (!(scale * (q_sum + std::abs(pull)) < 0x1p40)) {
      // So large a factor would lift what kSingle cuts off, at e^-140, into sight.
      engine_ = RowEngine<T>(row_, Arithmetic::kDouble, temperature_);
      summary_ = engine_.Summarise(false);
    }
    const double total = 1 + summary_.rest.hi;
    const int64_t hard = target_.plain() ? target_.hard : -1;
    engine_.VisitExps(summary_, 0, [&](int64_t begin, std::span<const double> e, double factor) {
      const int64_t count = static_cast<int64_t>(e.size());
      const double share = factor / total;
      if (!target_.plain()) {
        for (int64_t k = 0; k < count; ++k) {
          const double p = e[static_cast<size_t>(k)] * share;
          g[(begin + k) * stride] =
              static_cast<T>(scale * ((q_sum + pull) * p - TargetAt(begin + k)));
        }
        return;
      }
      const double push = scale * (q_sum + pull) * share;
      WriteScaled(e, push, g + begin * stride, stride);
      if (hard >= begin && hard < begin + count) {
        const double mine = e[static_cast<size_t>(hard - begin)] * factor;
        const double others =
            hard == summary_.argmax ? summary_.rest.hi : (summary_.rest.hi - mine) + 1;
        g[hard * stride] =
            static_cast<T>(scale * (pull * (mine / total) - q_sum * (others / total)));
      }
    });
  }

 private:
  static void WriteScaled(std::span<const double> e, double factor, T* g, int64_t stride) {
    if constexpr (std::is_same_v<T, float>) {
      if (stride == 1) {
        internal::Scale(e.data(), static_cast<int64_t>(e.size()), factor, g, false);
        return;
      }
    }
    for (const double value : e) {
      *g = static_cast<T>(value * factor);
      g += stride;
    }
  }
  bool Kept(int64_t c) const {
    return row_.keep == nullptr || row_.keep[c * row_.keep_stride] != 0;
  }
  double TargetAt(int64_t c) const {
    if (target_.smoothing != 0 && !Kept(c)) {
      // What is masked out has its own share, if any, but none of the smoothing.
      Target<T> own = target_;
      own.smoothing = 0;
      return (1 - target_.smoothing) * own.At(c);
    }
    return target_.At(c);
  }
  // -log p[c].
  double Cost(int64_t c) const {
    const auto x = engine_.At(c);
    if (summary_.kind == Kind::kPlusInfinity) {
      return static_cast<double>(x) == kInfinity ? log_total_ : kInfinity;
    }
    return 0.0 - engine_.LogShare(x, summary_, log_total_);
  }
  double LogSumExp() const {
    if (summary_.kind != Kind::kOrdinary) return summary_.max;
    return engine_.LogSumExp(summary_, log_total_);
  }

  void SpecialGradient(double scale, T* g, int64_t stride) const {
    const double share = 1.0 / static_cast<double>(std::max<int64_t>(1, summary_.infinities));
    for (int64_t c = 0; c < row_.n; ++c) {
      double value = kNaN;
      if (summary_.kind == Kind::kAllMasked && policy_ == AllMasked::kZeros) value = 0;
      if (summary_.kind == Kind::kPlusInfinity && target_.plain() && z_loss_ == 0) {
        const bool infinite = static_cast<double>(engine_.At(c)) == kInfinity;
        value = scale * target_.Weight(target_.hard) *
                ((infinite ? share : 0.0) - (c == target_.hard ? 1.0 : 0.0));
      }
      g[c * stride] = static_cast<T>(value);
    }
  }

  RowEngine<T> engine_;
  RowView<T> row_;
  AllMasked policy_;
  double temperature_;
  double z_loss_;
  Target<T> target_;
  RowSummary summary_;
  double log_total_ = 0;
};

absl::Status CheckTarget(int64_t target, int64_t classes) {
  if (target >= 0 && target < classes) return absl::OkStatus();
  if (classes == 0) {
    return absl::OutOfRangeError(
        absl::StrCat("target is ", target, ", but there are no classes: expected a row of logits"));
  }
  return absl::OutOfRangeError(absl::StrCat("target is ", target, ", expected 0 to ", classes - 1));
}

template <class T>
RowView<T> Whole(std::span<const T> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1, nullptr, 0, false};
}

template <class T>
absl::StatusOr<T> CrossEntropyOf(std::span<const T> x, int64_t target, AllMasked policy) {
  if (absl::Status status = CheckTarget(target, static_cast<int64_t>(x.size())); !status.ok()) {
    return status;
  }
  RowLoss<T> loss(Whole(x), {.all_masked = policy}, Target<T>{.hard = target}, 0);
  return static_cast<T>(loss.Value(false));
}

template <class T>
absl::Status GradientOf(std::span<const T> x, int64_t target, std::span<T> g, AllMasked policy) {
  if (absl::Status status = CheckTarget(target, static_cast<int64_t>(x.size())); !status.ok()) {
    return status;
  }
  if (g.size() != x.size()) {
    return absl::InvalidArgumentError(absl::StrCat("gradient has ", g.size(), " entries, expected ",
                                                   x.size(), ", as many as logits"));
  }
  RowLoss<T> loss(Whole(x), {.all_masked = policy}, Target<T>{.hard = target}, 0);
  (void)loss.Value(true);
  loss.Gradient(1, g.data(), 1);
  return absl::OkStatus();
}

template <class T>
absl::Status CheckOptions(MatrixView<const T> x, const CrossEntropyOptions<T>& options) {
  if (absl::Status status = internal::CheckOptions(x, options.softmax); !status.ok()) return status;
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("label smoothing is ", options.label_smoothing, ", expected 0 to 1"));
  }
  if (!(options.z_loss >= 0 && options.z_loss < kInfinity)) {
    return absl::InvalidArgumentError(
        absl::StrCat("z-loss is ", options.z_loss, ", expected a number not below 0"));
  }
  if (!options.weights.empty() && static_cast<int64_t>(options.weights.size()) != x.cols()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.weights.size(), " class weights, expected ", x.cols()));
  }
  for (size_t c = 0; c < options.weights.size(); ++c) {
    if (!(options.weights[c] >= 0 && options.weights[c] < kInfinity)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "weight of class ", c, " is ", options.weights[c], ", expected a number not below 0"));
    }
  }
  if (!options.losses.empty() && static_cast<int64_t>(options.losses.size()) != x.rows()) {
    return absl::InvalidArgumentError(absl::StrCat("losses have ", options.losses.size(),
                                                   " entries, expected ", x.rows(),
                                                   ", one for each row"));
  }
  if (options.gradient.data() != nullptr) {
    return internal::CheckShape("gradient", options.gradient.rows(), options.gradient.cols(),
                                x.rows(), x.cols());
  }
  return absl::OkStatus();
}

// All rows. target_of(r) gives a row's target; an ignored row has neither hard nor soft.
template <class T, class TargetOf>
Loss Run(MatrixView<const T> x, const CrossEntropyOptions<T>& options, Loss loss,
         TargetOf target_of) {
  const bool mean = options.reduction == Reduction::kMean;
  // Weights so small that the reciprocal of their sum overflows, and their losses are subnormal,
  // are taken in a larger unit.
  const double unit = mean && loss.weight > 0 && loss.weight < 0x1p-900 ? 0x1p300 : 1.0;
  double scale = 1;
  if (mean) scale = loss.weight > 0 ? 1 / (loss.weight * unit) : 0;
  const MatrixView<T>& gradient = options.gradient;
  const bool with_gradient = gradient.data() != nullptr;
  std::vector<double> losses(static_cast<size_t>(x.rows()));
  internal::ForRows(options.softmax.pool, x.rows(), x.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* g = with_gradient ? gradient.data() + r * gradient.row_stride() : nullptr;
      Target<T> target = target_of(r);
      target.unit = unit;
      const bool ignored = target.hard < 0 && target.soft == nullptr;
      if (ignored || scale == 0) {
        for (int64_t c = 0; with_gradient && c < x.cols(); ++c) g[c * gradient.col_stride()] = T(0);
        if (ignored) continue;
      }
      RowLoss<T> row(internal::ViewOfRow(x, options.softmax.keep, r), options.softmax, target,
                     options.z_loss);
      const double value = row.Value(with_gradient);
      losses[static_cast<size_t>(r)] = value;
      if (with_gradient && scale != 0) row.Gradient(scale, g, gradient.col_stride());
    }
  });
  CompensatedSum sum;
  double special = 0;
  double largest = 0;
  for (size_t r = 0; r < losses.size(); ++r) {
    if (!options.losses.empty()) options.losses[r] = static_cast<T>(losses[r] / unit);
    const double size = std::abs(losses[r]);
    if (size < kInfinity) largest = std::max(largest, size);
  }
  const double part = largest > 0x1p900 ? 0x1p-100 : 1.0;  // the sum itself must not overflow
  for (const double value : losses) {
    value - value == 0 ? sum.Add(value * part) : void(special += value);
  }
  if (options.reduction == Reduction::kNone) return loss;
  const double divisor = mean ? loss.weight * unit : 1.0;
  if (divisor == 0) return loss;
  loss.value = sum.Value().hi / divisor / part;
  if (special != 0) loss.value = special == special ? special : kNaN;
  return loss;
}

}  // namespace

absl::StatusOr<float> CrossEntropy(std::span<const float> x, int64_t target, AllMasked policy) {
  return CrossEntropyOf(x, target, policy);
}
absl::StatusOr<double> CrossEntropy(std::span<const double> x, int64_t target, AllMasked policy) {
  return CrossEntropyOf(x, target, policy);
}

absl::Status CrossEntropyGradient(std::span<const float> x, int64_t target, std::span<float> g,
                                  AllMasked policy) {
  return GradientOf(x, target, g, policy);
}
absl::Status CrossEntropyGradient(std::span<const double> x, int64_t target, std::span<double> g,
                                  AllMasked policy) {
  return GradientOf(x, target, g, policy);
}

template <class T>
absl::StatusOr<Loss> CrossEntropyRows(MatrixView<const T> x, std::span<const int32_t> targets,
                                      const CrossEntropyOptions<T>& options) {
  if (absl::Status status = CheckOptions(x, options); !status.ok()) return status;
  if (static_cast<int64_t>(targets.size()) != x.rows()) {
    return absl::InvalidArgumentError(
        absl::StrCat(targets.size(), " targets, expected ", x.rows(), ", one for each row"));
  }
  Loss loss = {0, 0, 0};
  CompensatedSum weight;
  for (size_t r = 0; r < targets.size(); ++r) {
    if (targets[r] == options.ignore_index) continue;
    if (absl::Status status = CheckTarget(targets[r], x.cols()); !status.ok()) {
      return absl::OutOfRangeError(absl::StrCat("row ", r, ": ", status.message(),
                                                " or the ignored index ", options.ignore_index));
    }
    weight.Add(options.weights.empty() ? 1.0 : options.weights[static_cast<size_t>(targets[r])]);
    ++loss.counted;
  }
  loss.weight = weight.Value().hi;
  if (!(loss.weight < 0x1p1022)) {
    return absl::InvalidArgumentError(
        "the class weights of the targets add up to more than 2^1022, expected a smaller sum");
  }
  return Run(x, options, loss, [&](int64_t r) {
    const int64_t target = targets[static_cast<size_t>(r)];
    return Target<T>{.hard = target == options.ignore_index ? -1 : target,
                     .smoothing = options.label_smoothing,
                     .weights = options.weights};
  });
}

template <class T>
absl::StatusOr<Loss> SoftCrossEntropyRows(MatrixView<const T> x, MatrixView<const T> q,
                                          const CrossEntropyOptions<T>& options) {
  if (absl::Status status = CheckOptions(x, options); !status.ok()) return status;
  if (absl::Status status = internal::CheckShape("q", q.rows(), q.cols(), x.rows(), x.cols());
      !status.ok()) {
    return status;
  }
  for (int64_t r = 0; r < q.rows(); ++r) {
    for (int64_t c = 0; c < q.cols(); ++c) {
      const double value = static_cast<double>(q(r, c));
      if (value - value != 0) {
        return absl::InvalidArgumentError(absl::StrCat("row ", r, ": the share of class ", c,
                                                       " is ", value, ", expected a number"));
      }
    }
  }
  const Loss loss = {0, static_cast<double>(x.rows()), x.rows()};
  return Run(x, options, loss, [&](int64_t r) {
    return Target<T>{.soft = q.data() + r * q.row_stride(),
                     .soft_stride = q.col_stride(),
                     .smoothing = options.label_smoothing,
                     .weights = options.weights};
  });
}

#define ASSAY_INSTANTIATE(T)                                                                    \
  template absl::StatusOr<Loss> CrossEntropyRows(MatrixView<const T>, std::span<const int32_t>, \
                                                 const CrossEntropyOptions<T>&);                \
  template absl::StatusOr<Loss> SoftCrossEntropyRows(MatrixView<const T>, MatrixView<const T>,  \
                                                     const CrossEntropyOptions<T>&)
ASSAY_INSTANTIATE(float);
ASSAY_INSTANTIATE(double);
ASSAY_INSTANTIATE(Half);
ASSAY_INSTANTIATE(BFloat16);
#undef ASSAY_INSTANTIATE

}  // namespace assay::floating
