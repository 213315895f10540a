// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/internal/column_tables.h"

#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "numerics/core/elementary_simd.h"
#include "numerics/fft/fft.h"

namespace assay::fft::internal {
namespace {

// One butterfly first while the numbers take at most so many bytes: then the block of all of them
// stays in the second-level cache.
constexpr int64_t kButterflyFirstBytes = int64_t{128} << 10;

}  // namespace

template <class T>
std::unique_ptr<T[]> Allocate(int64_t count) {
  if (count > static_cast<int64_t>(std::numeric_limits<ptrdiff_t>::max() / sizeof(T)))
    return nullptr;
  return std::unique_ptr<T[]>(new (std::nothrow) T[static_cast<size_t>(count)]);
}

template <class T>
bool CanAllocate(int64_t count) {
  return Allocate<T>(count) != nullptr;
}

template <class T>
void UnitRoots(int64_t k, int64_t count, int64_t n, std::complex<T>* roots) {
  constexpr int64_t kChunk = 256;
  const double den = static_cast<double>(4 * n);
  double quotient[kChunk], rest[kChunk], sine[kChunk], cosine[kChunk];
  // t / (8n) of a turn, folded into the first octant; exact, in integers.
  struct Fold {
    bool upper, left, steep;
  };
  auto fold = [n](int64_t k, int64_t* t) {
    k %= n;
    if (k < 0) k += n;
    *t = 8 * k;
    Fold f;
    f.upper = *t > 4 * n;  // past the half turn: sin(2 pi k / n) < 0
    if (f.upper) *t = 8 * n - *t;
    f.left = *t > 2 * n;
    if (f.left) *t = 4 * n - *t;
    f.steep = *t > n;
    if (f.steep) *t = 2 * n - *t;
    return f;
  };
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t size = count - begin < kChunk ? count - begin : kChunk;
    Fold folds[kChunk];
    for (int64_t i = 0; i < size; ++i) {
      int64_t t;
      folds[i] = fold(k + begin + i, &t);
      // The angle is pi * t / (4n) in [0, pi/4]; as a quotient x plus what its rounding lost.
      const double num = static_cast<double>(t);
      const double x = num / den;
      // x * den exactly, by Dekker's product: 2^27 + 1 splits both into halves of 26 bits.
      const double xs = x * 134217729.0, ds = den * 134217729.0;
      const double x1 = xs - (xs - x), d1 = ds - (ds - den);
      const double x2 = x - x1, d2 = den - d1;
      const double product = x * den;
      const double low = ((x1 * d1 - product) + x1 * d2 + x2 * d1) + x2 * d2;
      quotient[i] = x;
      rest[i] = 3.141592653589793 * (((num - product) - low) / den);
    }
    const size_t used = static_cast<size_t>(size);
    SinCosPi(std::span<const double>(quotient, used), std::span<double>(sine, used),
             std::span<double>(cosine, used));
    for (int64_t i = 0; i < size; ++i) {
      double s = sine[i] + rest[i] * cosine[i];
      double c = cosine[i] - rest[i] * sine[i];
      if (folds[i].steep) std::swap(s, c);
      if (folds[i].left) c = -c;
      if (folds[i].upper) s = -s;
      roots[begin + i] = {static_cast<T>(c), static_cast<T>(-s)};
    }
  }
}

template <class T>
bool RootTable<T>::Fill(int64_t n) {
  n_ = n;
  const int64_t count = n % 8 == 0 ? n / 8 + 1 : n / 2 + 1;
  values_ = Allocate<std::complex<T>>(count);
  if (values_ == nullptr) return false;
  UnitRoots(0, count, n, values_.get());
  return true;
}

template <class T>
std::complex<T> RootTable<T>::operator[](int64_t k) const {
  const bool lower = 2 * k <= n_;
  if (!lower) k = n_ - k;
  std::complex<T> w;
  if (n_ % 8 != 0) {
    w = values_[k];
  } else {
    // The octants of the lower half turn, as UnitRoot folds them.
    const bool left = 4 * k > n_;
    if (left) k = n_ / 2 - k;
    const bool steep = 8 * k > n_;
    if (steep) k = n_ / 4 - k;
    w = values_[k];
    if (steep) w = {-w.imag(), -w.real()};
    if (left) w = {-w.real(), w.imag()};
  }
  return lower ? w : std::complex<T>(w.real(), -w.imag());
}

template <class T>
void FillRoots(Roots<T>* roots) {
  roots->half_root = static_cast<T>(0.70710678118654752440);
  for (int radix : {3, 5, 7, 11, 13, 16}) {
    for (int j = 0; j < radix; ++j) {
      const std::complex<T> w = UnitRoot<T>(j, radix);
      roots->cosines[RootsOffset(radix) + j] = w.real();
      roots->sines[RootsOffset(radix) + j] = -w.imag();
    }
  }
}

std::vector<int> ColumnRadices(int64_t length) {
  std::vector<int> radices;
  int twos = 0;
  for (; length % 2 == 0; length /= 2) ++twos;
  for (int radix : {13, 11, 7, 5, 3}) {
    for (; length % radix == 0; length /= radix) radices.push_back(radix);
  }
  if (length != 1) return {};
  if (twos == 1) {
    radices.push_back(2);
    twos = 0;
  }
  for (; twos > 0 && twos % 3 != 0; twos -= 2) radices.push_back(4);
  for (; twos > 0; twos -= 3) radices.push_back(8);
  return radices;
}

template <class T>
Cut ChooseCut(int64_t n) {
  int64_t rest = n;
  for (int p : {2, 3, 5, 7, 11, 13}) {
    while (rest % p == 0) rest /= p;
  }
  if (rest != 1) return {};
  constexpr int kNarrow = kWideLanes<T> / 4;  // 8 doubles, 16 floats
  if (n * 2 * static_cast<int64_t>(sizeof(T)) <= kButterflyFirstBytes) {
    // 64 floats as 4 x 4 x 4: vectors of sixteen do all of it in registers.
    if (sizeof(T) == 4 && n == 64) return {4, 16, 4, true};
    for (int lanes = kNarrow; lanes >= 4; lanes /= 2) {
      if (n % lanes == 0 && n / lanes >= lanes) return {lanes, n / lanes, lanes, true};
    }
  }
  // Otherwise the cut that pads least, then the one nearest the root.
  Cut best = {};
  double best_cost = 0;
  for (int lanes = kWideLanes<T>; lanes >= 8; lanes /= 2) {
    for (int64_t n1 = lanes; n1 * n1 <= 4 * n && n / n1 >= lanes; ++n1) {
      if (n % n1 != 0) continue;
      const int64_t n2 = n / n1;
      auto padding = [&](int64_t columns) {
        return static_cast<double>(BlockCount(columns, lanes) * lanes) /
               static_cast<double>(columns);
      };
      const double longer = static_cast<double>(n1 > n2 ? n1 : n2);
      const double skew = longer * longer / static_cast<double>(n);
      const double narrow = lanes == kWideLanes<T> ? 0 : lanes == kWideLanes<T> / 2 ? 0.05 : 0.3;
      const double cost = (padding(n1) + padding(n2)) * (1 + 0.05 * skew + narrow);
      if (best.n1 == 0 || cost < best_cost) {
        best = {n1, n2, lanes, false};
        best_cost = cost;
      }
    }
  }
  return best;
}

template <class T>
bool MakeColumn(int64_t length, ColumnTables<T>* t) {
  t->length = length;
  const std::vector<int> radices = ColumnRadices(length);
  int64_t total = 0, m = length;
  for (int radix : radices) {
    m /= radix;
    t->steps.push_back({radix, m, total});
    if (m > 1) total += 2 * m * (radix - 1);
  }
  RootTable<T> roots;
  t->twiddles = Allocate<T>(total);
  if (t->twiddles == nullptr || !roots.Fill(length)) return false;
  for (const Step& step : t->steps) {
    if (step.m == 1) continue;
    const int64_t turn = length / (step.radix * step.m);
    T* to = t->twiddles.get() + step.twiddle_offset;
    for (int64_t p = 0; p < step.m; ++p) {
      for (int j = 1; j < step.radix; ++j) {
        const std::complex<T> w = roots[j * p * turn];
        *to++ = w.real();
        *to++ = w.imag();
      }
    }
  }
  // Sub-block b = (j1 R2 + j2) R3 + ... holds the outputs j1 + R1 (j2 + R2 (...)).
  const int64_t blocks = radices.empty() ? 1 : length / radices.back();
  t->first.resize(static_cast<size_t>(blocks));
  t->sub_block.resize(static_cast<size_t>(blocks));
  for (int64_t b = 0; b < blocks; ++b) {
    int64_t rest = b, output = 0;
    for (size_t i = radices.size() > 0 ? radices.size() - 1 : 0; i-- > 0;) {
      output = output * radices[i] + rest % radices[i];
      rest /= radices[i];
    }
    t->first[static_cast<size_t>(b)] = static_cast<int32_t>(output);
    t->sub_block[static_cast<size_t>(output)] = static_cast<int32_t>(b);
  }
  return true;
}

template <class T>
std::unique_ptr<BlockTables<T>> MakeBlockTables(int64_t n, const Cut& cut, const Roots<T>* shared,
                                                const Sweeps<T>& sweeps) {
  auto t = std::make_unique<BlockTables<T>>();
  t->sweeps = &sweeps;
  t->n = n;
  t->n1 = cut.n1;
  t->n2 = cut.n2;
  t->lanes = cut.lanes;
  t->butterfly_first = cut.butterfly_first;
  t->roots = shared;
  t->column_blocks = BlockCount(cut.n2, cut.lanes);
  t->row_blocks = BlockCount(cut.n1, cut.lanes);
  t->tile_stride = TileStride(*t);
  const int64_t lanes = cut.lanes, row = 2 * lanes;
  if (!cut.butterfly_first && !MakeColumn(cut.n1, &t->first)) return nullptr;
  if (!MakeColumn(cut.n2, &t->second)) return nullptr;
  RootTable<T> roots;
  if (!roots.Fill(n)) return nullptr;
  const int64_t blocks = t->column_blocks;
  // [count][re of lanes | im of lanes] of w^(k_of(i) (q + lane)).
  auto fill = [&](T* to, int64_t count, int64_t q, auto k_of) {
    for (int64_t i = 0; i < count; ++i, to += row) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const std::complex<T> w = roots[k_of(i) * (q + lane)];
        to[lane] = w.real();
        to[lanes + lane] = w.imag();
      }
    }
  };
  const int64_t tiles = t->row_blocks;
  if (cut.butterfly_first) {
    t->twiddles = Allocate<T>(blocks * (cut.n1 - 1) * row);
    if (t->twiddles == nullptr) return nullptr;
  } else {
    t->tile_twiddles = Allocate<T>(blocks * tiles * row);
    t->row_twiddles = Allocate<T>(blocks * lanes * row);
    if (t->tile_twiddles == nullptr || t->row_twiddles == nullptr) return nullptr;
  }
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t q = BlockBegin(b, cut.n2, cut.lanes);
    if (cut.butterfly_first) {
      fill(t->twiddles.get() + b * (cut.n1 - 1) * row, cut.n1 - 1, q,
           [](int64_t i) { return i + 1; });
    } else {
      fill(t->tile_twiddles.get() + b * tiles * row, tiles, q,
           [&](int64_t i) { return BlockBegin(i, cut.n1, cut.lanes); });
      fill(t->row_twiddles.get() + b * lanes * row, lanes, q, [](int64_t i) { return i; });
    }
  }
  if (sizeof(T) == 4 && cut.butterfly_first && cut.n2 == 16 && cut.n1 <= 8) {
    t->short_twiddles = Allocate<T>((cut.n1 - 1) * 32 + 24);
    if (t->short_twiddles == nullptr) return nullptr;
    T* to = t->short_twiddles.get();
    for (int64_t k = 1; k < cut.n1; ++k, to += 32) {
      for (int64_t q = 0; q < 16; ++q) {
        const std::complex<T> w = roots[k * q];
        to[q] = w.real();
        to[16 + q] = w.imag();
      }
    }
    for (int64_t j = 1; j < 4; ++j, to += 8) {
      for (int64_t p = 0; p < 4; ++p) {
        const std::complex<T> w = roots[j * p * (n / 16)];
        to[p] = w.real();
        to[4 + p] = w.imag();
      }
    }
  }
  return t;
}

template void UnitRoots(int64_t, int64_t, int64_t, std::complex<float>*);
template void UnitRoots(int64_t, int64_t, int64_t, std::complex<double>*);
template class RootTable<float>;
template class RootTable<double>;
template std::unique_ptr<float[]> Allocate(int64_t);
template std::unique_ptr<double[]> Allocate(int64_t);
template bool CanAllocate<float>(int64_t);
template bool CanAllocate<double>(int64_t);
template void FillRoots(Roots<float>*);
template void FillRoots(Roots<double>*);
template bool MakeColumn(int64_t, ColumnTables<float>*);
template bool MakeColumn(int64_t, ColumnTables<double>*);
template Cut ChooseCut<float>(int64_t);
template Cut ChooseCut<double>(int64_t);
template std::unique_ptr<BlockTables<float>> MakeBlockTables(int64_t, const Cut&,
                                                             const Roots<float>*,
                                                             const Sweeps<float>&);
template std::unique_ptr<BlockTables<double>> MakeBlockTables(int64_t, const Cut&,
                                                              const Roots<double>*,
                                                              const Sweeps<double>&);

}  // namespace assay::fft::internal
