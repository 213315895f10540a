// SPDX-License-Identifier: Apache-2.0
//
// The widest registers of a target, and the steps from f32 to f64 lanes and back, for the kernels
// of this room.
//
// lint: allow(header_guards): included inside HWY_NAMESPACE, once for every set of vector
// instructions; the surrounding file includes highway.h.

// Virtual lanes: what a reduction keeps apart, whatever the registers hold. 64 f32 or 32 f64.
template <class T>
constexpr int64_t LaneCount() {
  return 256 / static_cast<int64_t>(sizeof(T));
}

#if HWY_TARGET == HWY_WASM || HWY_TARGET == HWY_SCALAR

// Highway 1.0.3 has no f64 arithmetic in wasm, and one lane in its portable target; the compiler's
// own vectors have both.
template <class T>
struct Register {
  using Word = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  typedef T V __attribute__((vector_size(16)));
  typedef Word Bits __attribute__((vector_size(16)));
  static int64_t Width() { return 16 / static_cast<int64_t>(sizeof(T)); }
  static V Load(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void Store(V v, T* p) { __builtin_memcpy(p, &v, sizeof v); }
  static V Set(T x) { return x - V{}; }
  static V Abs(V v) { return (V)((Bits)v & std::numeric_limits<Word>::max()); }
  // b where a < b, else a: a where either is NaN.
  static V Max(V a, V b) {
    const Bits less = a < b;
    return (V)((less & (Bits)b) | (~less & (Bits)a));
  }
  // v, and 0 where it is NaN.
  static V ZeroIfNan(V v) { return (V)((Bits)v & (v == v)); }

  // A yes or no for each lane, gathered over many registers.
  class Flags {
   public:
    void OrNan(V v) { bits_ |= v != v; }
    void OrEqual(V a, V b) { bits_ |= a == b; }
    void OrNotZero(V v) { bits_ |= v != V{}; }
    void Or(Flags other) { bits_ |= other.bits_; }
    bool Any() const {
      Word any = 0;
      for (int64_t i = 0; i < Width(); ++i) any |= bits_[i];
      return any != 0;
    }

   private:
    Bits bits_ = {};
  };
};

typedef float FloatPair __attribute__((vector_size(8)));

// A register's worth of f64 from as many f32.
HWY_INLINE Register<double>::V LoadWide(const float* p) {
  FloatPair v;
  __builtin_memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, Register<double>::V);
}
HWY_INLINE void StoreNarrow(Register<double>::V v, float* p) {
  const FloatPair narrow = __builtin_convertvector(v, FloatPair);
  __builtin_memcpy(p, &narrow, sizeof narrow);
}
// Both halves; this target has no way past the caches.
HWY_INLINE void StreamNarrow(Register<double>::V lower, Register<double>::V upper, float* p) {
  StoreNarrow(lower, p);
  StoreNarrow(upper, p + Register<double>::Width());
}
// The two halves of a register of f32 as f64.
HWY_INLINE Register<double>::V WideLower(Register<float>::V v) {
  return Register<double>::V{v[0], v[1]};
}
HWY_INLINE Register<double>::V WideUpper(Register<float>::V v) {
  return Register<double>::V{v[2], v[3]};
}
// v 2^n, where n is the integer that the last twelve bits of `lifted` hold, in two's complement.
HWY_INLINE Register<double>::V ScaleLower(Register<double>::V v, Register<float>::V lifted) {
  typedef uint32_t Words __attribute__((vector_size(16)));
  typedef uint64_t Longs __attribute__((vector_size(16)));
  const Words w = (Words)lifted;
  return (Register<double>::V)((Longs)v + (Longs{w[0], w[1]} << 52));
}
HWY_INLINE Register<double>::V ScaleUpper(Register<double>::V v, Register<float>::V lifted) {
  typedef uint32_t Words __attribute__((vector_size(16)));
  typedef uint64_t Longs __attribute__((vector_size(16)));
  const Words w = (Words)lifted;
  return (Register<double>::V)((Longs)v + (Longs{w[2], w[3]} << 52));
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// The widest register of the target, up to 64 bytes.
template <class T>
struct Register {
  using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
  using V = hn::Vec<Tag>;
  static HWY_INLINE int64_t Width() { return static_cast<int64_t>(hn::Lanes(Tag())); }
  static HWY_INLINE V Load(const T* p) { return hn::LoadU(Tag(), p); }
  static HWY_INLINE void Store(V v, T* p) { hn::StoreU(v, Tag(), p); }
  static HWY_INLINE V Set(T x) { return hn::Set(Tag(), x); }
  static HWY_INLINE V Abs(V v) { return hn::Abs(v); }
  static HWY_INLINE V Max(V a, V b) { return hn::Max(a, b); }
  static HWY_INLINE V ZeroIfNan(V v) { return hn::IfThenElseZero(v == v, v); }

  class Flags {
   public:
    HWY_INLINE Flags() : mask_(hn::FirstN(Tag(), 0)) {}
    // Not v != v, which is false for a NaN in this Highway.
    HWY_INLINE void OrNan(V v) { mask_ = hn::Or(mask_, hn::IsNaN(v)); }
    HWY_INLINE void OrEqual(V a, V b) { mask_ = hn::Or(mask_, a == b); }
    HWY_INLINE void OrNotZero(V v) { mask_ = hn::Or(mask_, v != hn::Zero(Tag())); }
    HWY_INLINE void Or(Flags other) { mask_ = hn::Or(mask_, other.mask_); }
    HWY_INLINE bool Any() const { return !hn::AllFalse(Tag(), mask_); }

   private:
    hn::Mask<Tag> mask_;
  };
};

using HalfFloats = hn::Rebind<float, Register<double>::Tag>;

HWY_INLINE Register<double>::V LoadWide(const float* p) {
  return hn::PromoteTo(Register<double>::Tag(), hn::LoadU(HalfFloats(), p));
}
HWY_INLINE void StoreNarrow(Register<double>::V v, float* p) {
  hn::StoreU(hn::DemoteTo(HalfFloats(), v), HalfFloats(), p);
}
// Both halves, past the caches. p must be aligned to the register.
HWY_INLINE void StreamNarrow(Register<double>::V lower, Register<double>::V upper, float* p) {
  const Register<float>::Tag d;
  hn::Stream(hn::Combine(d, hn::DemoteTo(HalfFloats(), upper), hn::DemoteTo(HalfFloats(), lower)),
             d, p);
}
HWY_INLINE Register<double>::V WideLower(Register<float>::V v) {
  return hn::PromoteTo(Register<double>::Tag(), hn::LowerHalf(HalfFloats(), v));
}
HWY_INLINE Register<double>::V WideUpper(Register<float>::V v) {
  return hn::PromoteTo(Register<double>::Tag(), hn::UpperHalf(HalfFloats(), v));
}
template <class Half>
HWY_INLINE Register<double>::V AddToExponent(Register<double>::V v, Half lifted) {
  const hn::RebindToUnsigned<Register<double>::Tag> longs;
  const hn::RebindToUnsigned<HalfFloats> words;
  const auto n = hn::ShiftLeft<52>(hn::PromoteTo(longs, hn::BitCast(words, lifted)));
  return hn::BitCast(Register<double>::Tag(), hn::BitCast(longs, v) + n);
}
HWY_INLINE Register<double>::V ScaleLower(Register<double>::V v, Register<float>::V lifted) {
  return AddToExponent(v, hn::LowerHalf(HalfFloats(), lifted));
}
HWY_INLINE Register<double>::V ScaleUpper(Register<double>::V v, Register<float>::V lifted) {
  return AddToExponent(v, hn::UpperHalf(HalfFloats(), lifted));
}

#endif

HWY_INLINE Register<double>::V LoadWide(const double* p) { return Register<double>::Load(p); }

// Four registers side by side: all virtual lanes at 64 bytes each, a part of them where registers
// are shorter. Whole rows pass that way, line after line.
template <class T>
struct FourRegisters {
  typename Register<T>::V v[4];
  HWY_INLINE FourRegisters operator+(const FourRegisters& b) const {
    return {{v[0] + b.v[0], v[1] + b.v[1], v[2] + b.v[2], v[3] + b.v[3]}};
  }
  HWY_INLINE void StoreTo(T* p) const {
    const int64_t width = Register<T>::Width();
    for (int64_t k = 0; k < 4; ++k) Register<T>::Store(v[k], p + k * width);
  }
};

// out[lane] = the balanced tree over 32 rows; row(r, lane) gives four registers of row r.
template <class T, int kRows, class Row>
HWY_INLINE FourRegisters<T> RowTree(int64_t r, int64_t lane, Row row) {
  if constexpr (kRows == 1) {
    return row(r, lane);
  } else {
    return RowTree<T, kRows / 2>(r, lane, row) + RowTree<T, kRows / 2>(r + kRows / 2, lane, row);
  }
}
template <class T, int kRows, class Row>
HWY_INLINE void PairwiseTree(T* HWY_RESTRICT out, Row row) {
  for (int64_t lane = 0; lane < LaneCount<T>(); lane += 4 * Register<T>::Width()) {
    RowTree<T, kRows>(0, lane, row).StoreTo(out + lane);
  }
}
