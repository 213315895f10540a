// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/cosine.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/fft/internal/column_tables.h"
#include "numerics/fft/internal/lines.h"
#include "numerics/fft/internal/plan_tables.h"

namespace assay::fft {
namespace {

constexpr double kRootTwo = 1.4142135623730951;
// Units of u of a product with a twiddle: sqrt(5) for the product, 3 for the factor (fft.cc).
constexpr double kTwiddleUnits = 5.2361;
// Below it type I is extended, not halved.
constexpr int64_t kShort = 8;

bool IsSine(CosineKind kind) { return kind >= CosineKind::kDst1; }

// The cosine kind of the same type.
CosineKind Type(CosineKind kind) {
  return IsSine(kind) ? static_cast<CosineKind>(static_cast<int>(kind) - 4) : kind;
}

template <class T>
std::span<std::complex<T>> AsComplex(std::span<T> x, size_t n) {
  return {reinterpret_cast<std::complex<T>*>(x.data()), n};
}

void MustHold(const absl::Status& status) { ASSAY_CHECK(status.ok()); }

template <class T>
void Alternate(T* x, int64_t n) {
  for (int64_t j = 1; j < n; j += 2) x[j] = -x[j];
}

// The Kronecker symbols (2/m) and (-2/m) for an odd m: the signs of cos and sin(pi m / 4).
int CosineSign(int64_t m) { return (m & 7) == 1 || (m & 7) == 7 ? 1 : -1; }
int SineSign(int64_t m) { return (m & 7) == 1 || (m & 7) == 3 ? 1 : -1; }

}  // namespace

CosineKind InverseKind(CosineKind kind) {
  switch (kind) {
    case CosineKind::kDct2:
      return CosineKind::kDct3;
    case CosineKind::kDct3:
      return CosineKind::kDct2;
    case CosineKind::kDst2:
      return CosineKind::kDst3;
    case CosineKind::kDst3:
      return CosineKind::kDst2;
    default:
      return kind;
  }
}

std::string_view CosineName(CosineKind kind) {
  constexpr std::string_view kNames[] = {"DCT-I", "DCT-II", "DCT-III", "DCT-IV",
                                         "DST-I", "DST-II", "DST-III", "DST-IV"};
  return kNames[static_cast<int>(kind)];
}

// The halvings of type I, down to the real transform of the extended rest.
template <class T>
absl::Status CosinePlan<T>::PrepareFirst(double* bound) {
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  int64_t m = IsSine(kind_) ? n_ + 1 : n_ - 1, work = 0, inner = 0;
  double worst = 0;
  for (; m % 2 == 0 && m > kShort; m /= 2) {
    const CosineKind second = IsSine(kind_) ? CosineKind::kDst2 : CosineKind::kDct2;
    absl::StatusOr<CosinePlan> half = Create(second, m / 2);
    if (!half.ok()) return half.status();
    work += m + 1;
    inner = std::max(inner, half->scratch_size());
    const double bound_here = half->L2ErrorBound();
    halves_.push_back(*std::move(half));
    // Its sums and those of all halvings above.
    worst = std::max(worst, bound_here + u * static_cast<double>(halves_.size()));
  }
  absl::StatusOr<RealPlan<T>> real = RealPlan<T>::Create(2 * m);
  if (!real.ok()) return real.status();
  inner = std::max(inner, 4 * m + 2 + real->scratch_size());
  // In the norm of the extended signal a halving is a rotation: the errors of its parts do not add.
  worst = std::max(worst, real->L2ErrorBound() + u * static_cast<double>(halves_.size()));
  *bound = kRootTwo * worst;
  real_.emplace(*std::move(real));
  scratch_size_ = work + inner;
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<CosinePlan<T>> CosinePlan<T>::Create(CosineKind kind, int64_t n, CosineNorm norm) {
  const int64_t least = kind == CosineKind::kDct1 ? 2 : 1;
  if (n < least || n > kMaxSize / 8) {
    return absl::InvalidArgumentError(absl::StrCat("fft: a ", CosineName(kind), " of length ", n,
                                                   " was asked for, expected ", least, " to ",
                                                   kMaxSize / 8));
  }
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  CosinePlan plan;
  plan.kind_ = kind;
  plan.norm_ = norm;
  plan.n_ = n;
  const CosineKind type = Type(kind);
  double bound = 0;
  if (type == CosineKind::kDct1) {
    absl::Status status = plan.PrepareFirst(&bound);
    if (!status.ok()) return status;
  } else if (type == CosineKind::kDct4 && n % 2 == 0) {
    absl::StatusOr<Plan<T>> half = Plan<T>::Create(n / 2);
    if (!half.ok()) return half.status();
    if (!internal::CanAllocate<T>(n)) return internal::NoMemory(n);
    plan.twiddles_.reserve(static_cast<size_t>(n));
    for (int64_t k = 0; k < n / 2; ++k) {
      const std::complex<T> w = UnitRoot<T>(8 * k + 1, 16 * n);
      plan.twiddles_.push_back(w.real());
      plan.twiddles_.push_back(w.imag());
    }
    bound = half->L2ErrorBound() + 2 * 1.01 * kTwiddleUnits * u;
    plan.scratch_size_ = n + half->scratch_size();
    plan.half_.emplace(*std::move(half));
  } else {
    absl::StatusOr<RealPlan<T>> real = RealPlan<T>::Create(n);
    if (!real.ok()) return real.status();
    const double e = real->L2ErrorBound();
    if (type == CosineKind::kDct4) {
      bound = e + 3.03 * u;
    } else {
      const T factor = type == CosineKind::kDct2 ? T{2} : T{1};
      if (!internal::CanAllocate<T>(n + 2)) return internal::NoMemory(n);
      plan.twiddles_.reserve(static_cast<size_t>(n + 2));
      for (int64_t k = 0; k <= n / 2; ++k) {
        const std::complex<T> w = UnitRoot<T>(k, 4 * n);
        plan.twiddles_.push_back(factor * w.real());
        plan.twiddles_.push_back(factor * -w.imag());
      }
      bound = (type == CosineKind::kDct2 ? kRootTwo : 1) * e + 1.01 * kTwiddleUnits * u;
    }
    plan.scratch_size_ = 2 * n + 2 + real->scratch_size();
    plan.real_.emplace(*std::move(real));
  }
  if (norm == CosineNorm::kOrthonormal) {
    const double squared = static_cast<double>(plan.Divisor());
    plan.scale_ = static_cast<T>(Sqrt(1 / squared));
    plan.edge_scale_ = static_cast<T>(Sqrt(0.5 / squared));
    bound += 1.01 * 4 * u;
  }
  plan.l2_bound_ = bound;
  return plan;
}

template <class T>
int64_t CosinePlan<T>::Divisor() const {
  return 2 * (kind_ == CosineKind::kDct1 ? n_ - 1 : kind_ == CosineKind::kDst1 ? n_ + 1 : n_);
}

// X[k] = 2 Re(exp(-i pi k / 2N) V[k]), X[N-k] = -2 Im of the same, where V is the transform of the
// even samples followed by the odd ones backwards.
template <class T>
void CosinePlan<T>::Second(T* x, std::span<T> work) const {
  const size_t n = static_cast<size_t>(n_);
  T* const v = work.data();
  for (size_t j = 0; j < n / 2; ++j) {
    v[j] = x[2 * j];
    v[n - 1 - j] = x[2 * j + 1];
  }
  if (n % 2 == 1) v[n / 2] = x[n - 1];
  const std::span<T> spectrum = work.subspan(n);
  MustHold(real_->Forward(work.first(n), AsComplex(spectrum, n / 2 + 1),
                          work.subspan(n + 2 * (n / 2 + 1))));
  const T* const s = spectrum.data();
  const T* const w = twiddles_.data();
  x[0] = 2 * s[0];
  for (size_t k = 1; 2 * k < n; ++k) {
    const T re = s[2 * k], im = s[2 * k + 1], c = w[2 * k], t = w[2 * k + 1];
    x[k] = c * re + t * im;
    x[n - k] = t * re - c * im;
  }
  if (n % 2 == 0) x[n / 2] = w[n] * s[n];
}

// The steps of Second, undone.
template <class T>
void CosinePlan<T>::Third(T* x, std::span<T> work) const {
  const size_t n = static_cast<size_t>(n_);
  T* const y = work.data();
  const std::span<T> spectrum = work.subspan(n);
  T* const s = spectrum.data();
  const T* const w = twiddles_.data();
  s[0] = x[0];
  s[1] = 0;
  for (size_t k = 1; 2 * k <= n; ++k) {
    const T a = x[k], b = x[n - k], c = w[2 * k], t = w[2 * k + 1];
    s[2 * k] = c * a + t * b;
    s[2 * k + 1] = t * a - c * b;
  }
  MustHold(real_->Backward(AsComplex(spectrum, n / 2 + 1), work.first(n),
                           work.subspan(n + 2 * (n / 2 + 1))));
  for (size_t j = 0; j < n / 2; ++j) {
    x[2 * j] = y[j];
    x[2 * j + 1] = y[n - 1 - j];
  }
  if (n % 2 == 1) x[n - 1] = y[n / 2];
}

// An even N: with z[j] = (x[2j] + i x[N-1-2j]) w[j] and w[j] = exp(-i pi (8j+1) / 8N), the
// transform Z of N/2 holds X[2k] = 2 Re(Z[k] w[k]) and X[N-1-2k] = -2 Im(Z[k] w[k]).
template <class T>
void CosinePlan<T>::Fourth(T* x, std::span<T> work) const {
  if (!half_.has_value()) return FourthOdd(x, work);
  const size_t n = static_cast<size_t>(n_), half = n / 2;
  T* const z = work.data();
  const T* const w = twiddles_.data();
  for (size_t j = 0; j < half; ++j) {
    const T re = x[2 * j], im = x[n - 1 - 2 * j], c = w[2 * j], s = w[2 * j + 1];
    z[2 * j] = re * c - im * s;
    z[2 * j + 1] = re * s + im * c;
  }
  const std::span<std::complex<T>> turned = AsComplex(work, half);
  MustHold(half_->Forward(turned, turned, work.subspan(n)));
  for (size_t k = 0; k < half; ++k) {
    const T re = z[2 * k], im = z[2 * k + 1], c = w[2 * k], s = w[2 * k + 1];
    x[2 * k] = 2 * (re * c - im * s);
    x[n - 1 - 2 * k] = -2 * (re * s + im * c);
  }
}

// An odd N. With a = 2j+1, b = 2k+1 and A N + 8 B = 1, a b / 8N = A a b / 8 + B a b / N up to whole
// turns; the a = 1, 3, ..., 2N-1 meet every residue r mod N once. As A a b is odd, its eighth turn
// is (c + i s) / sqrt(2) with signs c = (2/A a b), s = (-2/A a b), which are multiplicative. So
//   X[k] = sqrt(2) sum over r of (c(A b) c(a) cos(2 pi B b r / N) - s(A b) s(a) sin(...)) x[j],
// a cosine sum of c(a) x[j] and a sine sum of s(a) x[j]. One real signal holds the even part of the
// first and the odd part of the second: h[r] = c(a) x[j] where a = 1 mod 4, else c(2N-a) x[N-1-j].
template <class T>
void CosinePlan<T>::FourthOdd(T* x, std::span<T> work) const {
  const size_t n = static_cast<size_t>(n_);
  T* const h = work.data();
  for (int64_t r = 0; r < n_; ++r) {
    const int64_t a = r % 2 == 1 ? r : r + n_, j = (a - 1) / 2;
    if (a % 4 == 1) {
      h[r] = CosineSign(a) == 1 ? x[j] : -x[j];
    } else {
      h[r] = CosineSign(2 * n_ - a) == 1 ? x[n_ - 1 - j] : -x[n_ - 1 - j];
    }
  }
  const std::span<T> spectrum = work.subspan(n);
  MustHold(real_->Forward(work.first(n), AsComplex(spectrum, n / 2 + 1),
                          work.subspan(n + 2 * (n / 2 + 1))));
  const T* const s = spectrum.data();
  // B = 1/8 mod N by three halvings; A = N mod 8, since N^2 = 1 mod 8.
  int64_t eighth = 1 % n_;
  for (int i = 0; i < 3; ++i) eighth = eighth % 2 == 0 ? eighth / 2 : (eighth + n_) / 2;
  const T root = static_cast<T>(kRootTwo);
  int64_t at = eighth % n_;  // B b mod N
  for (int64_t k = 0; k < n_; ++k) {
    const int64_t ab = n_ % 8 * (2 * k + 1);
    const bool mirrored = 2 * at > n_;
    const int64_t m = mirrored ? n_ - at : at;
    const T re = CosineSign(ab) == 1 ? s[2 * m] : -s[2 * m];
    const T im = (SineSign(ab) == 1) != mirrored ? s[2 * m + 1] : -s[2 * m + 1];
    x[k] = root * (re + im);
    at += eighth;
    if (at >= n_) at -= n_;
    at += eighth;
    if (at >= n_) at -= n_;
  }
}

// Type I with N - 1 (sine: N + 1) = m. The odd samples are a type II of m/2, the even ones a type I
// of m/2; the outputs are their sums, and mirrored their differences.
template <class T>
void CosinePlan<T>::First(size_t level, int64_t m, T* x, std::span<T> work) const {
  const bool sine = IsSine(kind_);
  const int64_t count = sine ? m - 1 : m + 1;
  if (level < halves_.size()) {
    const int64_t half = m / 2, evens = sine ? half - 1 : half + 1;
    T* const even = work.data();
    T* const odd = even + evens;
    // A sine's x[0] stands for j = 1, so its odd samples are the ones at even places.
    for (int64_t i = 0; i < evens; ++i) even[i] = x[2 * i + (sine ? 1 : 0)];
    for (int64_t i = 0; i < half; ++i) odd[i] = x[2 * i + (sine ? 0 : 1)];
    const std::span<T> odds = work.subspan(static_cast<size_t>(evens), static_cast<size_t>(half));
    const std::span<T> rest = work.subspan(static_cast<size_t>(m + 1));
    MustHold(halves_[level].Transform(odds, odds, rest));
    First(level + 1, half, even, rest);
    if (sine) {
      for (int64_t k = 0; k < half - 1; ++k) {
        x[k] = odd[k] + even[k];
        x[m - 2 - k] = odd[k] - even[k];
      }
      x[half - 1] = odd[half - 1];
    } else {
      for (int64_t k = 0; k < half; ++k) {
        x[k] = even[k] + odd[k];
        x[m - k] = even[k] - odd[k];
      }
      x[half] = even[half];
    }
    return;
  }
  const size_t n = 2 * static_cast<size_t>(m);
  T* const extended = work.data();
  if (sine) {
    extended[0] = extended[m] = 0;
    for (int64_t j = 0; j < count; ++j) {
      extended[j + 1] = x[j];
      extended[2 * m - 1 - j] = -x[j];
    }
  } else {
    for (int64_t j = 0; j < count; ++j) extended[j] = x[j];
    for (int64_t j = 1; j < m; ++j) extended[2 * m - j] = x[j];
  }
  const std::span<T> spectrum = work.subspan(n);
  MustHold(real_->Forward(work.first(n), AsComplex(spectrum, n / 2 + 1), work.subspan(2 * n + 2)));
  const T* const s = spectrum.data();
  if (sine) {
    for (int64_t k = 0; k < count; ++k) x[k] = -s[2 * k + 3];
  } else {
    for (int64_t k = 0; k < count; ++k) x[k] = s[2 * k];
  }
}

template <class T>
absl::Status CosinePlan<T>::Transform(std::span<const T> in, std::span<T> out,
                                      std::span<T> scratch) const {
  absl::Status status =
      internal::CheckBuffers("fft", in, n_, out, n_, scratch, scratch_size_, true);
  if (!status.ok()) return status;
  T* const x = out.data();
  if (in.data() != x) std::copy(in.begin(), in.end(), x);
  const bool orthonormal = norm_ == CosineNorm::kOrthonormal;
  if (orthonormal) {
    const T root = static_cast<T>(kRootTwo);
    if (kind_ == CosineKind::kDct1 || kind_ == CosineKind::kDct3) x[0] *= root;
    if (kind_ == CosineKind::kDct1 || kind_ == CosineKind::kDst3) x[n_ - 1] *= root;
  }
  // sin(pi (2j+1) (N-k) / 2N) = (-1)^j cos(pi (2j+1) k / 2N), and the like for III and IV.
  const bool third_or_fourth = kind_ == CosineKind::kDst3 || kind_ == CosineKind::kDst4;
  if (kind_ == CosineKind::kDst2) Alternate(x, n_);
  if (third_or_fourth) std::reverse(x, x + n_);
  switch (Type(kind_)) {
    case CosineKind::kDct1:
      First(0, IsSine(kind_) ? n_ + 1 : n_ - 1, x, scratch);
      break;
    case CosineKind::kDct2:
      Second(x, scratch);
      break;
    case CosineKind::kDct3:
      Third(x, scratch);
      break;
    default:
      Fourth(x, scratch);
  }
  if (kind_ == CosineKind::kDst2) std::reverse(x, x + n_);
  if (third_or_fourth) Alternate(x, n_);
  if (orthonormal) {
    const bool first = kind_ == CosineKind::kDct1 || kind_ == CosineKind::kDct2;
    const bool last = kind_ == CosineKind::kDct1 || kind_ == CosineKind::kDst2;
    const T at_first = x[0] * edge_scale_, at_last = x[n_ - 1] * edge_scale_;
    for (int64_t k = 0; k < n_; ++k) x[k] *= scale_;
    if (first) x[0] = at_first;
    if (last) x[n_ - 1] = at_last;
  }
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<MultiCosinePlan<T>> MultiCosinePlan<T>::Create(CosineKind kind,
                                                              std::span<const int64_t> shape,
                                                              int axes, CosineNorm norm) {
  absl::Status status = internal::CheckShape("fft", shape, axes);
  if (!status.ok()) return status;
  const double condition = norm == CosineNorm::kOrthonormal ? 1
                           : kind == CosineKind::kDct1      ? 2
                           : InverseKind(kind) != kind      ? kRootTwo
                                                            : 1;
  MultiCosinePlan plan;
  plan.size_ = internal::Product(shape);
  for (size_t i = shape.size(); i-- > shape.size() - static_cast<size_t>(axes);) {
    size_t which = 0;
    while (which < plan.plans_.size() && plan.plans_[which].size() != shape[i]) ++which;
    if (which == plan.plans_.size()) {
      absl::StatusOr<CosinePlan<T>> one = CosinePlan<T>::Create(kind, shape[i], norm);
      if (!one.ok()) return one.status();
      plan.plans_.push_back(*std::move(one));
    }
    plan.axes_.push_back({internal::Product(shape.first(i)), shape[i],
                          internal::Product(shape.subspan(i + 1)), which});
    const double e = plan.plans_[which].L2ErrorBound(), b = condition * plan.l2_bound_;
    plan.l2_bound_ = (e + b + e * b) * (1 + 1e-15);
  }
  return plan;
}

template <class T>
int64_t MultiCosinePlan<T>::scratch_size(int threads) const {
  int64_t most = 0;
  for (const Axis& axis : axes_) {
    most = std::max(
        most, internal::ColumnBuffer<T, T>(axis.n) + axis.n + plans_[axis.plan].scratch_size());
  }
  return most * threads;
}

template <class T>
absl::Status MultiCosinePlan<T>::Transform(std::span<const T> in, std::span<T> out,
                                           std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status = internal::CheckBuffers("fft", in, size_, out, size_, scratch,
                                               scratch_size(internal::Threads(pool)), true);
  if (!status.ok()) return status;
  if (in.data() != out.data()) std::copy(in.begin(), in.end(), out.begin());
  for (const Axis& axis : axes_) {
    const CosinePlan<T>& plan = plans_[axis.plan];
    const size_t n = static_cast<size_t>(axis.n);
    if (axis.inner == 1) {
      internal::Share(pool, axis.outer, size_, scratch, plan.scratch_size(),
                      [&](int64_t begin, int64_t end, std::span<T> own) {
                        for (int64_t r = begin; r < end; ++r) {
                          const std::span<T> row = out.subspan(static_cast<size_t>(r) * n, n);
                          MustHold(plan.Transform(row, row, own));
                        }
                      });
      continue;
    }
    internal::ForColumns(out.data(), axis.outer, axis.n, axis.inner, scratch,
                         axis.n + plan.scratch_size(), pool,
                         [&](T* columns, int64_t count, std::span<T> rest) {
                           const std::span<T> line = rest.first(n);
                           for (int64_t q = 0; q < count; ++q) {
                             for (size_t j = 0; j < n; ++j) line[j] = columns[q + count * j];
                             MustHold(plan.Transform(line, line, rest.subspan(n)));
                             for (size_t j = 0; j < n; ++j) columns[q + count * j] = line[j];
                           }
                         });
  }
  return absl::OkStatus();
}

template class CosinePlan<float>;
template class CosinePlan<double>;
template class MultiCosinePlan<float>;
template class MultiCosinePlan<double>;

}  // namespace assay::fft
