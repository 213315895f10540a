// SPDX-License-Identifier: Apache-2.0
// CUDA's vector types, for kernels that are compiled as plain C++ as well.
//
// The names, the members and the alignment are CUDA's: a vector of two or four scalars is aligned
// to its size, 16 bytes at most, so that one instruction of a lane can move it; three scalars are
// aligned as one. Under nvcc these are CUDA's own types. Vectors of four 64-bit scalars are left
// out: CUDA 13 deprecates them, because their alignment is under question.
//
// Example: float4 v = make_float4(1, 2, 3, 4);   // after `using namespace assay::simt`
//
// Source: CUDA C++ Programming Guide, "Built-in Vector Types" (table of sizes and alignments).
#ifndef ASSAY_GPU_SIMT_VECTOR_TYPES_H_
#define ASSAY_GPU_SIMT_VECTOR_TYPES_H_

#ifdef __CUDACC__
#include <vector_types.h>
#endif

namespace assay::simt {

#ifdef __CUDACC__

using ::char2;
using ::char3;
using ::char4;
using ::double2;
using ::double3;
using ::float2;
using ::float3;
using ::float4;
using ::int2;
using ::int3;
using ::int4;
using ::longlong2;
using ::longlong3;
using ::short2;
using ::short3;
using ::short4;
using ::uchar2;
using ::uchar3;
using ::uchar4;
using ::uint2;
using ::uint3;
using ::uint4;
using ::ulonglong2;
using ::ulonglong3;
using ::ushort2;
using ::ushort3;
using ::ushort4;

#else  // not nvcc

template <class T>
struct alignas(2 * sizeof(T)) Vector2 {
  T x, y;
};
template <class T>
struct Vector3 {
  T x, y, z;
};
template <class T>
struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) Vector4 {
  T x, y, z, w;
};

using char2 = Vector2<signed char>;
using char3 = Vector3<signed char>;
using char4 = Vector4<signed char>;
using uchar2 = Vector2<unsigned char>;
using uchar3 = Vector3<unsigned char>;
using uchar4 = Vector4<unsigned char>;
using short2 = Vector2<short>;
using short3 = Vector3<short>;
using short4 = Vector4<short>;
using ushort2 = Vector2<unsigned short>;
using ushort3 = Vector3<unsigned short>;
using ushort4 = Vector4<unsigned short>;
using int2 = Vector2<int>;
using int3 = Vector3<int>;
using int4 = Vector4<int>;
using uint2 = Vector2<unsigned int>;
using uint3 = Vector3<unsigned int>;
using uint4 = Vector4<unsigned int>;
using longlong2 = Vector2<long long>;
using longlong3 = Vector3<long long>;
using ulonglong2 = Vector2<unsigned long long>;
using ulonglong3 = Vector3<unsigned long long>;
using float2 = Vector2<float>;
using float3 = Vector3<float>;
using float4 = Vector4<float>;
using double2 = Vector2<double>;
using double3 = Vector3<double>;

constexpr char2 make_char2(signed char x, signed char y) { return {x, y}; }
constexpr char3 make_char3(signed char x, signed char y, signed char z) { return {x, y, z}; }
constexpr char4 make_char4(signed char x, signed char y, signed char z, signed char w) {
  return {x, y, z, w};
}
constexpr uchar2 make_uchar2(unsigned char x, unsigned char y) { return {x, y}; }
constexpr uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) {
  return {x, y, z};
}
constexpr uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) {
  return {x, y, z, w};
}
constexpr short2 make_short2(short x, short y) { return {x, y}; }
constexpr short3 make_short3(short x, short y, short z) { return {x, y, z}; }
constexpr short4 make_short4(short x, short y, short z, short w) { return {x, y, z, w}; }
constexpr ushort2 make_ushort2(unsigned short x, unsigned short y) { return {x, y}; }
constexpr ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) {
  return {x, y, z};
}
constexpr ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z,
                               unsigned short w) {
  return {x, y, z, w};
}
constexpr int2 make_int2(int x, int y) { return {x, y}; }
constexpr int3 make_int3(int x, int y, int z) { return {x, y, z}; }
constexpr int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
constexpr uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
constexpr uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }
constexpr uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) {
  return {x, y, z, w};
}
constexpr longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
constexpr longlong3 make_longlong3(long long x, long long y, long long z) { return {x, y, z}; }
constexpr ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
constexpr ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y,
                                     unsigned long long z) {
  return {x, y, z};
}
constexpr float2 make_float2(float x, float y) { return {x, y}; }
constexpr float3 make_float3(float x, float y, float z) { return {x, y, z}; }
constexpr float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
constexpr double2 make_double2(double x, double y) { return {x, y}; }
constexpr double3 make_double3(double x, double y, double z) { return {x, y, z}; }

#endif  // nvcc

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_VECTOR_TYPES_H_
