// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/internal/plan_tables.h"

#include <complex>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/column_tables.h"
#include "numerics/fft/internal/passes.h"
#include "numerics/fft/internal/pointwise.h"

namespace assay::fft::internal {
namespace {

constexpr int kOddRadices[] = {3, 5, 7, 11, 13};

// The radices for n, in the order of Stockham's passes; empty if n has a prime factor above 13 (or
// is 1). 4 first: its outputs interleave in registers, and the passes after it find vectors to
// fill. One 8 last where the number of twos is odd: it saves a pass, and needs no twiddles there.
std::vector<int> PassRadices(int64_t n) {
  std::vector<int> radices;
  int twos = 0;
  while (n % 2 == 0) {
    n /= 2;
    ++twos;
  }
  int eights = twos % 2 == 1 && twos >= 3 ? 1 : 0;
  twos -= 3 * eights;
  for (; twos >= 2; twos -= 2) radices.push_back(4);
  if (twos == 1) radices.push_back(2);
  for (int radix : kOddRadices) {
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  }
  for (; eights > 0; --eights) radices.push_back(8);
  if (n != 1) radices.clear();
  return radices;
}

// The radices of all steps, in the order in which the numbers meet them.
template <class T>
std::vector<int> AllRadices(const PlanTables<T>& t) {
  std::vector<int> radices;
  for (const PassInfo& pass : t.passes) radices.push_back(pass.radix);
  if (t.blocks == nullptr) return radices;
  if (t.blocks->butterfly_first) radices.push_back(static_cast<int>(t.blocks->n1));
  for (const Step& step : t.blocks->first.steps) radices.push_back(step.radix);
  for (const Step& step : t.blocks->second.steps) radices.push_back(step.radix);
  return radices;
}

template <class T>
void SetBounds(PlanTables<T>* t) {
  // Between two sweeps without butterfly_first the factor is itself a product of two.
  const bool product = t->blocks != nullptr && !t->blocks->butterfly_first;
  const Bounds bounds = BoundsOf<T>(AllRadices(*t), product ? 1 : 0);
  t->l2_bound = bounds.l2;
  t->path_bound = bounds.path;
}

template <class T>
Pass<T> MakePass(const PlanTables<T>& t, const PassInfo& info) {
  const int roots = info.radix % 2 == 1 ? RootsOffset(info.radix) : 0;
  return {info.radix,
          info.m,
          info.stride,
          t.twiddles.get() + info.twiddle_offset,
          t.roots.cosines + roots,
          t.roots.sines + roots,
          t.roots.half_root};
}

// The tables of Stockham's passes. False without memory.
template <class T>
bool MakePasses(PlanTables<T>* t) {
  const int64_t n = t->n;
  int64_t total = 0;
  int64_t stride = 1;
  for (int radix : PassRadices(n)) {
    const int64_t m = n / stride / radix;
    t->passes.push_back({radix, m, stride, total});
    if (m > 1) total += 2 * m * (radix - 1);
    stride *= radix;
  }
  t->twiddles = Allocate<T>(total);
  RootTable<T> roots;
  if (t->twiddles == nullptr || !roots.Fill(n)) return false;
  for (const PassInfo& pass : t->passes) {
    if (pass.m == 1) continue;
    T* to = t->twiddles.get() + pass.twiddle_offset;
    for (int j = 1; j < pass.radix; ++j) {
      for (int64_t p = 0; p < pass.m; ++p) {
        const std::complex<T> w = roots[j * p * pass.stride];
        to[2 * pass.m * (j - 1) + p] = w.real();
        to[2 * pass.m * (j - 1) + pass.m + p] = w.imag();
      }
    }
  }
  return true;
}

// Tables of a smooth length. Null without memory.
template <class T>
std::unique_ptr<PlanTables<T>> MakeSmooth(int64_t n, const Sweeps<T>& sweeps) {
  auto t = std::make_unique<PlanTables<T>>();
  t->n = n;
  FillRoots(&t->roots);
  const Cut cut = ChooseCut<T>(n);
  if (cut.n1 != 0) {
    t->blocks = MakeBlockTables(n, cut, &t->roots, sweeps);
    if (t->blocks == nullptr) return nullptr;
  } else if (!MakePasses(t.get())) {
    return nullptr;
  }
  SetBounds(t.get());
  t->scratch_size = ScratchSize(*t, 1);
  return t;
}

// The n-point transform by Stockham's passes. scratch: 4n.
template <class T>
void TransformStockham(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward) {
  const int64_t n = t.n;
  const T conjugate = backward ? T{-1} : T{1};
  const int count = static_cast<int>(t.passes.size());
  if (count == 0) {  // n = 1
    const T re = in[0], im = in[1];
    out[0] = re;
    out[1] = im;
    return;
  }
  if (count == 1) {
    // One butterfly, which reads everything before it writes: safe in place.
    RunPass(MakePass(t, t.passes[0]), {Layout::kInterleaved, in, nullptr},
            {Layout::kInterleaved, out, nullptr}, conjugate);
    return;
  }
  // Between the passes the numbers are split: n real parts, then n imaginary parts. The last pass
  // must not read `out`; before it `out` serves as the second buffer, except where the first pass
  // would overwrite its own input.
  T* first = scratch;
  T* second = (in == out && count % 2 == 1) ? scratch + 2 * n : out;
  auto buffer_after = [&](int pass) { return (count - 2 - pass) % 2 == 0 ? first : second; };
  T* to = buffer_after(0);
  RunPass(MakePass(t, t.passes[0]), {Layout::kInterleaved, in, nullptr},
          {Layout::kSplit, to, to + n}, conjugate);
  for (int i = 1; i < count - 1; ++i) {
    const T* from = to;
    to = buffer_after(i);
    RunPass(MakePass(t, t.passes[i]), {Layout::kSplit, from, from + n},
            {Layout::kSplit, to, to + n}, conjugate);
  }
  RunPass(MakePass(t, t.passes[count - 1]), {Layout::kSplit, to, to + n},
          {Layout::kInterleaved, out, nullptr}, conjugate);
}

// Below this many points a second thread gained nothing where it was measured (BM_Threads).
constexpr int64_t kWorthThreads = int64_t{1} << 17;

template <class T>
void TransformBlocks(const BlockTables<T>& t, const T* in, T* out, T* scratch, T conjugate,
                     ThreadPool* pool) {
  T* tiles = AlignUp(scratch);
  T* buffers = tiles + TileSize(t);
  if (t.butterfly_first) return t.sweeps->both(t, in, out, tiles, nullptr, conjugate);
  if (pool == nullptr || pool->threads() == 1 || t.n < kWorthThreads) {
    return t.sweeps->both(t, in, out, tiles, buffers, conjugate);
  }
  // The last two blocks overlap, so they are one piece of work.
  Borrowed<T> lent(buffers, BufferSize(t), pool->threads());
  auto sweep = [&](int64_t blocks, auto run) {
    const int64_t pieces = blocks > 1 ? blocks - 1 : 1;
    pool->ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      lent.With([&](T* buffer) { run(buffer, begin, end == pieces ? blocks : end); });
    });
  };
  sweep(t.column_blocks, [&](T* buffer, int64_t begin, int64_t end) {
    t.sweeps->first(t, in, tiles, buffer, conjugate, begin, end);
  });
  sweep(t.row_blocks, [&](T* buffer, int64_t begin, int64_t end) {
    t.sweeps->second(t, tiles, out, buffer, conjugate, begin, end);
  });
}

template <class T>
void TransformSmooth(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward,
                     ThreadPool* pool) {
  if (t.blocks == nullptr) return TransformStockham(t, in, out, scratch, backward);
  TransformBlocks(*t.blocks, in, out, scratch, backward ? T{-1} : T{1}, pool);
}

// Bluestein: jk = (j^2 + k^2 - (k - j)^2) / 2 turns the transform into a convolution with a chirp,
// X[k] = c[k] sum over j of (x[j] c[j]) conj(c[k - j]), which a smooth length M >= 2n - 1 does.
//   scratch: 6M.
template <class T>
void TransformBluestein(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward,
                        ThreadPool* pool) {
  const int64_t n = t.n, m = t.inner->n;
  T* work = scratch;
  T* inner_scratch = scratch + 2 * m;
  const T* chirp = t.chirp.get();
  MultiplyPairs(in, chirp, n, backward, false, work);
  for (int64_t j = 2 * n; j < 2 * m; ++j) work[j] = 0;
  TransformSmooth(*t.inner, work, work, inner_scratch, false, pool);
  MultiplyPairs(work, t.kernel.get(), m, false, false, work);
  TransformSmooth(*t.inner, work, work, inner_scratch, true, pool);
  MultiplyPairs(work, chirp, n, false, backward, out);
}

template <class T>
std::unique_ptr<PlanTables<T>> MakeBluestein(int64_t n, const Sweeps<T>& sweeps) {
  auto t = std::make_unique<PlanTables<T>>();
  t->n = n;
  const int64_t m = GoodSize(2 * n - 1);
  t->inner = MakeSmooth<T>(m, sweeps);
  t->chirp = Allocate<T>(2 * n);
  t->kernel = Allocate<T>(2 * m);
  // The kernel is made in double whatever T is: for float it is then as good as rounded correctly.
  std::unique_ptr<PlanTables<double>> wide = MakeSmooth<double>(m, GetSweeps(double{}));
  std::unique_ptr<double[]> b = Allocate<double>(2 * m);
  if (t->inner == nullptr || t->chirp == nullptr || t->kernel == nullptr || wide == nullptr ||
      b == nullptr) {
    return nullptr;
  }
  std::unique_ptr<double[]> scratch = Allocate<double>(ScratchSize(*wide, 1));
  if (scratch == nullptr) return nullptr;
  for (int64_t j = 0; j < 2 * m; ++j) b[j] = 0;
  // j^2 mod 2n, by (j + 1)^2 = j^2 + 2j + 1: exact where a product in floating point would not be.
  int64_t square = 0;
  for (int64_t j = 0; j < n; ++j) {
    const std::complex<double> w = UnitRoot<double>(square, 2 * n);
    t->chirp[2 * j] = static_cast<T>(w.real());
    t->chirp[2 * j + 1] = static_cast<T>(w.imag());
    b[2 * j] = w.real();
    b[2 * j + 1] = -w.imag();
    if (j > 0) {
      b[2 * (m - j)] = w.real();
      b[2 * (m - j) + 1] = -w.imag();
    }
    square = (square + 2 * j + 1) % (2 * n);
  }
  TransformSmooth<double>(*wide, b.get(), b.get(), scratch.get(), false, nullptr);
  for (int64_t k = 0; k < 2 * m; ++k) t->kernel[k] = static_cast<T>(b[k] / static_cast<double>(m));
  double log2n = 1;
  while ((int64_t{1} << static_cast<int>(log2n)) < n) log2n += 1;
  t->l2_bound = 12 * kUnit<T> * log2n;
  t->path_bound = std::numeric_limits<double>::infinity();
  t->scratch_size = ScratchSize(*t, 1);
  return t;
}

}  // namespace

bool IsSmooth(int64_t n) {
  for (int p : {2, 3, 5, 7, 11, 13}) {
    while (n % p == 0) n /= p;
  }
  return n == 1;
}

template <class T>
Bounds BoundsOf(const std::vector<int>& radices, int more) {
  // A twiddle product: sqrt(5) u for the product, 3 u for the factor (components within 1.5 ulp).
  constexpr double kTwiddle = 2.2361 + 3;
  double l2 = more * kTwiddle, path = more * kTwiddle;
  for (size_t i = 0; i < radices.size(); ++i) {
    // In the 2-norm 2, 4, 8 and 16 are products of unitary steps, so their units carry over; an odd
    // radix is bounded through the 1-norm, hence sqrt(radix).
    const double units = PathUnits(radices[i]);
    double root = 1;
    if (radices[i] % 2 == 1) {
      while (root * root < radices[i]) root += 0.001;
    }
    const double twiddle = i + 1 < radices.size() ? kTwiddle : 0;
    l2 += units * root + twiddle;
    path += units + twiddle;
  }
  // Products of (1 + units u) over the passes; 1.01 pays for the terms of second order while the
  // sum is below a hundredth, which it is for every length up to kMaxSize.
  return {1.01 * l2 * kUnit<T>, 1.01 * path * kUnit<T>};
}

template <class T>
std::unique_ptr<PlanTables<T>> MakeTables(int64_t n, const Sweeps<T>& sweeps) {
  return IsSmooth(n) ? MakeSmooth<T>(n, sweeps) : MakeBluestein<T>(n, sweeps);
}

template <class T>
int64_t ScratchSize(const PlanTables<T>& t, int threads) {
  if (t.inner != nullptr) return 2 * t.inner->n + ScratchSize(*t.inner, threads);
  if (t.blocks == nullptr) return 4 * t.n;
  return TileSize(*t.blocks) + threads * BufferSize(*t.blocks) +
         kLine / static_cast<int64_t>(sizeof(T));
}

template <class T>
void TransformLong(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward,
                   ThreadPool* pool) {
  if (t.inner != nullptr) return TransformBluestein(t, in, out, scratch, backward, pool);
  TransformSmooth(t, in, out, scratch, backward, pool);
}

template <class T>
std::string Describe(const PlanTables<T>& tables) {
  std::string text;
  const PlanTables<T>* t = &tables;
  if (t->inner != nullptr) {
    text = absl::StrCat("bluestein ", t->n, " through ", t->inner->n, ": ");
    t = t->inner.get();
  }
  const std::vector<int> radices = AllRadices(*t);
  if (radices.empty()) absl::StrAppend(&text, "1");
  for (size_t i = 0; i < radices.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : "x", radices[i]);
  }
  return text;
}

absl::Status NoMemory(int64_t n) {
  return absl::ResourceExhaustedError(
      absl::StrCat("fft: no memory for the tables of a transform of length ", n));
}

absl::Status Fault(std::string_view who, const Buffer& in, const Buffer& out, const Buffer& scratch,
                   bool in_place_allowed) {
  auto wrong = [&](const char* what, const Buffer& buffer, const char* expected) {
    return absl::InvalidArgumentError(absl::StrCat(who, ": the ", what, " has ", buffer.size,
                                                   " elements, expected ", expected,
                                                   buffer.wanted));
  };
  if (static_cast<int64_t>(in.size) != in.wanted) return wrong("input", in, "");
  if (static_cast<int64_t>(out.size) != out.wanted) return wrong("output", out, "");
  if (static_cast<int64_t>(scratch.size) < scratch.wanted) {
    return wrong("scratch", scratch, "at least ");
  }
  if (Overlap(scratch, in) || Overlap(scratch, out)) {
    return absl::InvalidArgumentError(absl::StrCat(
        who, ": the scratch overlaps the input or the output; expected memory of its own"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(who, ": input and output overlap; expected ",
                   in_place_allowed ? "the same memory or disjoint memory" : "disjoint memory"));
}

#define ASSAY_INSTANTIATE(T)                                                              \
  template Bounds BoundsOf<T>(const std::vector<int>&, int);                              \
  template std::unique_ptr<PlanTables<T>> MakeTables(int64_t, const Sweeps<T>&);          \
  template int64_t ScratchSize(const PlanTables<T>&, int);                                \
  template void TransformLong(const PlanTables<T>&, const T*, T*, T*, bool, ThreadPool*); \
  template std::string Describe(const PlanTables<T>&)
ASSAY_INSTANTIATE(float);
ASSAY_INSTANTIATE(double);
#undef ASSAY_INSTANTIATE

}  // namespace assay::fft::internal
