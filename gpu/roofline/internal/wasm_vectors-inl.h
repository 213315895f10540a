// SPDX-License-Identifier: Apache-2.0
//
// The few vector operations of host.cc in WebAssembly, spelled as Highway spells them: 128 bits by
// clang's own vectors. Highway 1.0.3 has no vectors of double there. WebAssembly fuses nothing, so
// MulAdd is a multiplication and an addition.
#ifndef ASSAY_GPU_ROOFLINE_INTERNAL_WASM_VECTORS_INL_H_
#define ASSAY_GPU_ROOFLINE_INTERNAL_WASM_VECTORS_INL_H_

#include <cstddef>
#include <cstring>

namespace assay::roofline::wasm_vectors {

template <class T>
struct ScalableTag {
  typedef T Vec __attribute__((vector_size(16)));
};
template <class T>
using Vec = typename ScalableTag<T>::Vec;

template <class T>
constexpr size_t Lanes(ScalableTag<T>) {
  return 16 / sizeof(T);
}
template <class T>
Vec<T> Set(ScalableTag<T>, T value) {
  return Vec<T>{} + value;
}
template <class T>
Vec<T> Load(ScalableTag<T>, const T* from) {
  Vec<T> x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}
template <class T>
Vec<T> LoadU(ScalableTag<T> d, const T* from) {
  return Load(d, from);
}
template <class V, class T>
void Store(V x, ScalableTag<T>, T* to) {
  std::memcpy(to, &x, sizeof(x));
}
template <class V, class T>
void StoreU(V x, ScalableTag<T> d, T* to) {
  Store(x, d, to);
}
template <class V>
V Mul(V a, V b) {
  return a * b;
}
template <class V>
V Add(V a, V b) {
  return a + b;
}
template <class V>
V MulAdd(V a, V b, V c) {
  return a * b + c;
}

}  // namespace assay::roofline::wasm_vectors

#endif  // ASSAY_GPU_ROOFLINE_INTERNAL_WASM_VECTORS_INL_H_
