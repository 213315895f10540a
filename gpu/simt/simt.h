// SPDX-License-Identifier: Apache-2.0
// What a kernel includes: CUDA's spelling, for nvcc, g++, clang and Emscripten alike.
//
//   namespace {
//   using namespace assay::simt;
//
//   __global__ void Reverse(gptr<const float> x, gptr<float> y, int n) {
//     SHARED(float, tile, 256);
//     const int i = blockIdx.x * blockDim.x + threadIdx.x;
//     tile[threadIdx.x] = i < n ? x[i] : 0.0f;
//     __syncthreads();
//     if (i < n) y[i] = tile[blockDim.x - 1 - threadIdx.x];
//   }
//   }  // namespace
//
// nvcc makes of it what it makes of the CUDA kernel with float* and __shared__. Elsewhere the same
// text runs in the simulator (launch.h). What differs from plain CUDA:
//   - pointers are gptr<T> (to global memory) and sptr<T> (to shared); pointer_cast<float4>(p) for
//     reinterpret_cast; p[0] for *p; `float v = p[i]`, not `auto v = p[i]`, unless p is to const;
//     x + i for &x[i] of a pointer to const; templates on a value's type are given a value, not
//     p[i];
//   - of a structure in memory, `S s = p[i]` then s.x; p[i] = s to write: p[i].x stands only for
//     pointers to const;
//   - SHARED(type, name, extents...) and DYNAMIC_SHARED(type, name) declare shared memory, one
//     value as SHARED(type, name, 1);
//   - KERNEL_RETURN leaves a kernel that synchronises; a plain `return` one that does not;
//   - a device function that synchronises is `SIMT_TASK(type) f(...)`, returns by SIMT_RETURN and
//     is called by SIMT_CALL(f(...)); others are plain `__device__` functions;
//   - GRID_SYNC() is cooperative_groups::this_grid().sync();
//   - load_volatile, store_volatile, load_acquire, store_release instead of volatile pointers;
//   - a loop that waits for another thread calls __nanosleep in its body.
// Synchronising calls may not stand in a conditional expression or beside a comma operator.
#ifndef ASSAY_GPU_SIMT_SIMT_H_
#define ASSAY_GPU_SIMT_SIMT_H_

#include <cstdint>

#include "gpu/simt/half.h"
#include "gpu/simt/intrinsics.h"
#include "gpu/simt/vector_types.h"

#ifdef __CUDACC__

#include <cooperative_groups.h>

namespace assay::simt {

template <class T>
using gptr = T* __restrict__;
template <class T>
using sptr = T*;

template <class To, class From>
__device__ __forceinline__ To* pointer_cast(From* pointer) {
  return reinterpret_cast<To*>(pointer);
}

namespace internal {
template <class T, int... kExtents>
struct ArrayOf {
  using type = T;
};
template <class T, int kExtent, int... kInner>
struct ArrayOf<T, kExtent, kInner...> {
  using type = typename ArrayOf<T, kInner...>::type[kExtent];
};
template <class T, int... kExtents>
using Array = typename ArrayOf<T, kExtents...>::type;
extern __shared__ __align__(16) unsigned char dynamic_shared[];
}  // namespace internal

template <class T>
__device__ __forceinline__ T load_volatile(const T* source) {
  return *static_cast<const volatile T*>(source);
}
template <class T>
__device__ __forceinline__ void store_volatile(T* target, T value) {
  *static_cast<volatile T*>(target) = value;
}
template <class T>
__device__ __forceinline__ T load_acquire(const T* source) {
  const T value = load_volatile(source);
  __threadfence();
  return value;
}
template <class T>
__device__ __forceinline__ void store_release(T* target, T value) {
  __threadfence();
  store_volatile(target, value);
}

}  // namespace assay::simt

#define SHARED(element, name, ...) \
  __shared__ ::assay::simt::internal::Array<element, __VA_ARGS__> name
#define DYNAMIC_SHARED(type, name) \
  type* name = reinterpret_cast<type*>(::assay::simt::internal::dynamic_shared)
#define KERNEL_RETURN return
#define SIMT_TASK(...) __device__ __VA_ARGS__
#define SIMT_RETURN return
#define SIMT_CALL(...) __VA_ARGS__
#define GRID_SYNC() ::cooperative_groups::this_grid().sync()

#else  // the simulator

#include "gpu/simt/atomics.h"
#include "gpu/simt/internal/awaiters.h"
#include "gpu/simt/internal/shared_memory.h"
#include "gpu/simt/pointer.h"

namespace assay::simt {
inline constexpr int warpSize = internal::kWarpSize;
using dim3 = Dim3;
}  // namespace assay::simt

#define __global__ __attribute__((unused))
#define __device__ __attribute__((unused))
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define threadIdx (::assay::simt::internal::current->index)
#define blockIdx (::assay::simt::internal::current->block->index)
#define blockDim (::assay::simt::internal::current->block->extent)
#define gridDim (::assay::simt::internal::current->block->grid)

#define SHARED(type, name, ...)                                                 \
  static const ::assay::simt::internal::SharedDeclaration name##_declaration{   \
      #name, sizeof(type), alignof(type), {__VA_ARGS__}, {__LINE__, __FILE__}}; \
  const ::assay::simt::SharedArray<type, __VA_ARGS__> name(                     \
      ::assay::simt::internal::DeclareShared(name##_declaration))
#define DYNAMIC_SHARED(type, name)         \
  const ::assay::simt::Pointer<type> name( \
      ::assay::simt::internal::DynamicShared(#name, sizeof(type)))

#ifdef SIMT_FIBERS
#include "gpu/simt/fiber.h"
#define SIMT_AWAIT(operation) (::assay::simt::internal::FiberWait(operation))
#define KERNEL_RETURN return
#define SIMT_TASK(...) __VA_ARGS__
#define SIMT_RETURN return
#define SIMT_CALL(...) __VA_ARGS__
#else
#define SIMT_AWAIT(operation) (co_await (operation))
#define KERNEL_RETURN co_return
#define SIMT_TASK(...) ::assay::simt::internal::Task<__VA_ARGS__>
#define SIMT_RETURN co_return
#define SIMT_CALL(...) (co_await (__VA_ARGS__))
#endif

#define __syncthreads() SIMT_AWAIT(::assay::simt::internal::Barrier())
#define __syncthreads_count(predicate) \
  SIMT_AWAIT(::assay::simt::internal::BarrierVote(0, predicate))
#define __syncthreads_and(predicate) SIMT_AWAIT(::assay::simt::internal::BarrierVote(1, predicate))
#define __syncthreads_or(predicate) SIMT_AWAIT(::assay::simt::internal::BarrierVote(2, predicate))
#define __syncwarp(...) SIMT_AWAIT(::assay::simt::internal::SyncWarp(__VA_ARGS__))
#define __shfl_sync(mask, value, ...)                                                             \
  SIMT_AWAIT(::assay::simt::internal::Shuffle(::assay::simt::internal::ShuffleMode::kIndex, mask, \
                                              value, __VA_ARGS__))
#define __shfl_up_sync(mask, value, ...)                                                       \
  SIMT_AWAIT(::assay::simt::internal::Shuffle(::assay::simt::internal::ShuffleMode::kUp, mask, \
                                              value, __VA_ARGS__))
#define __shfl_down_sync(mask, value, ...)                                                       \
  SIMT_AWAIT(::assay::simt::internal::Shuffle(::assay::simt::internal::ShuffleMode::kDown, mask, \
                                              value, __VA_ARGS__))
#define __shfl_xor_sync(mask, value, ...)                                                       \
  SIMT_AWAIT(::assay::simt::internal::Shuffle(::assay::simt::internal::ShuffleMode::kXor, mask, \
                                              value, __VA_ARGS__))
#define __ballot_sync(mask, predicate) \
  SIMT_AWAIT(::assay::simt::internal::Ballot(0, mask, predicate))
#define __any_sync(mask, predicate) \
  static_cast<int>(SIMT_AWAIT(::assay::simt::internal::Ballot(1, mask, predicate)))
#define __all_sync(mask, predicate) \
  static_cast<int>(SIMT_AWAIT(::assay::simt::internal::Ballot(2, mask, predicate)))
#define __match_any_sync(mask, value) SIMT_AWAIT(::assay::simt::internal::MatchAny(mask, value))
#define __nanosleep(nanoseconds) SIMT_AWAIT(::assay::simt::internal::Sleep(nanoseconds))
#define GRID_SYNC() SIMT_AWAIT(::assay::simt::internal::GridBarrier())

#endif  // __CUDACC__

#endif  // ASSAY_GPU_SIMT_SIMT_H_
