// SPDX-License-Identifier: Apache-2.0
// The coroutine part of the standard library, where the compiler's library has none: Emscripten
// 3.1.6 brings clang 14, which knows coroutines, and a libc++ 13 without <coroutine>.
#ifndef ASSAY_GPU_SIMT_INTERNAL_COROUTINE_H_
#define ASSAY_GPU_SIMT_INTERNAL_COROUTINE_H_

#if __has_include(<coroutine>)
#include <coroutine>
#else

namespace std {

template <class Result, class... Arguments>
struct coroutine_traits {
  using promise_type = typename Result::promise_type;
};

template <class Promise = void>
struct coroutine_handle;

template <>
struct coroutine_handle<void> {
  static coroutine_handle from_address(void* address) {
    coroutine_handle handle;
    handle.frame = address;
    return handle;
  }
  void* address() const { return frame; }
  void resume() const { __builtin_coro_resume(frame); }
  void destroy() const { __builtin_coro_destroy(frame); }
  void* frame = nullptr;
};

template <class Promise>
struct coroutine_handle : coroutine_handle<void> {
  static coroutine_handle from_address(void* address) {
    coroutine_handle handle;
    handle.frame = address;
    return handle;
  }
  static coroutine_handle from_promise(Promise& promise) {
    return from_address(__builtin_coro_promise(&promise, alignof(Promise), true));
  }
  Promise& promise() const {
    return *static_cast<Promise*>(__builtin_coro_promise(frame, alignof(Promise), false));
  }
};

struct suspend_never {
  bool await_ready() const noexcept { return true; }
  void await_suspend(coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

struct suspend_always {
  bool await_ready() const noexcept { return false; }
  void await_suspend(coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

}  // namespace std

#endif

#endif  // ASSAY_GPU_SIMT_INTERNAL_COROUTINE_H_
