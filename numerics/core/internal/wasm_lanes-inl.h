// SPDX-License-Identifier: Apache-2.0
//
// Two double lanes for WebAssembly in Highway's vocabulary, as kernels-inl.h needs it: Highway 1.0
// has no double vectors there.
//
// lint: allow(header_guards): included inside a namespace, by elementary_simd.cc alone.

#define ASSAY_KERNEL_INLINE [[gnu::always_inline]] inline

using Doubles = double __attribute__((vector_size(16)));
using Words = uint64_t __attribute__((vector_size(16)));
using Mask = int64_t __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(8)));

struct Lanes2 {};
struct UintLanes2 {};
template <class D>
using UintTag = UintLanes2;

ASSAY_KERNEL_INLINE Doubles Set(Lanes2, double x) { return Doubles{x, x}; }
ASSAY_KERNEL_INLINE Words Set(UintLanes2, uint64_t x) { return Words{x, x}; }
ASSAY_KERNEL_INLINE Words BitCast(UintLanes2, Doubles x) { return (Words)x; }
ASSAY_KERNEL_INLINE Doubles BitCast(Lanes2, Words x) { return (Doubles)x; }
ASSAY_KERNEL_INLINE Mask RebindMask(Lanes2, Mask mask) { return mask; }
ASSAY_KERNEL_INLINE Doubles IfThenElse(Mask mask, Doubles yes, Doubles no) {
  return (Doubles)((mask & (Mask)yes) | (~mask & (Mask)no));
}
ASSAY_KERNEL_INLINE Words And(Words a, Words b) { return a & b; }
ASSAY_KERNEL_INLINE Words Or(Words a, Words b) { return a | b; }
ASSAY_KERNEL_INLINE Words Xor(Words a, Words b) { return a ^ b; }
template <int kBits>
ASSAY_KERNEL_INLINE Words ShiftLeft(Words x) {
  return x << kBits;
}
template <int kBits>
ASSAY_KERNEL_INLINE Words ShiftRight(Words x) {
  return x >> kBits;
}
