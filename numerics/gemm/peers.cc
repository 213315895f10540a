// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/peers.h"

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#ifdef ASSAY_HAVE_DNNL
#include <dnnl.hpp>
#endif
#ifdef ASSAY_HAVE_XSMM
#include <libxsmm.h>
#endif

namespace assay::gemm {
namespace {

// Functions of a shared library, looked up by name: OpenBLAS and BLIS define the same ones.
class Library {
 public:
  explicit Library(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {}
  template <class Function>
  Function* Find(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

template <class T>
using Cblas = void(int order, int a_transposed, int b_transposed, int m, int n, int k, T alpha,
                   const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);
template <class T>
using Blis = void(int a_transposed, int b_transposed, int64_t m, int64_t n, int64_t k,
                  const T* alpha, const T* a, int64_t rs_a, int64_t cs_a, const T* b, int64_t rs_b,
                  int64_t cs_b, const T* beta, T* c, int64_t rs_c, int64_t cs_c);

const Library& OpenBlas() {
  static const Library library("libopenblas.so.0");
  return library;
}
const Library& BlisLibrary() {
  static const Library library("libblis.so.4");
  return library;
}

template <class T>
void AddOpenBlas(const Case<T, T>& p, std::vector<Contender>& out) {
  auto* const gemm =
      OpenBlas().Find<Cblas<T>>(std::is_same_v<T, float> ? "cblas_sgemm" : "cblas_dgemm");
  if (gemm == nullptr) return;
  out.push_back(
      {"OpenBLAS", [gemm, p] {
         constexpr int kRowMajor = 101;
         constexpr int kPlain = 111;
         constexpr int kTransposed = 112;
         gemm(kRowMajor, p.a_transposed ? kTransposed : kPlain,
              p.b_transposed ? kTransposed : kPlain, static_cast<int>(p.m), static_cast<int>(p.n),
              static_cast<int>(p.k), 1, p.a, static_cast<int>(p.a_transposed ? p.m : p.k), p.b,
              static_cast<int>(p.b_transposed ? p.k : p.n), 0, p.c, static_cast<int>(p.n));
       }});
}

template <class T>
void AddBlis(const Case<T, T>& p, std::vector<Contender>& out) {
  auto* const gemm =
      BlisLibrary().Find<Blis<T>>(std::is_same_v<T, float> ? "bli_sgemm" : "bli_dgemm");
  if (gemm == nullptr) return;
  out.push_back({"BLIS", [gemm, p] {
                   const T one = 1;
                   const T zero = 0;
                   gemm(0, 0, p.m, p.n, p.k, &one, p.a, p.a_transposed ? 1 : p.k,
                        p.a_transposed ? p.m : 1, p.b, p.b_transposed ? 1 : p.n,
                        p.b_transposed ? p.k : 1, &zero, p.c, p.n, 1);
                 }});
}

template <class T>
void AddXsmm(const Case<T, T>& p, std::vector<Contender>& out) {
#ifdef ASSAY_HAVE_XSMM
  // Its own documentation ends at m n k = 64^3; row-major C is column-major C^T = B^T A^T.
  if (p.m * p.n * p.k > 128 * 128 * 128 || p.a_transposed || p.b_transposed) return;
  const auto m = static_cast<libxsmm_blasint>(p.n);
  const auto n = static_cast<libxsmm_blasint>(p.m);
  const auto k = static_cast<libxsmm_blasint>(p.k);
  const T one = 1;
  const T zero = 0;
  if constexpr (std::is_same_v<T, float>) {
    auto* const kernel = libxsmm_smmdispatch(m, n, k, &m, &k, &m, &one, &zero, nullptr, nullptr);
    if (kernel != nullptr) out.push_back({"libxsmm", [kernel, p] { kernel(p.b, p.a, p.c); }});
  } else {
    auto* const kernel = libxsmm_dmmdispatch(m, n, k, &m, &k, &m, &one, &zero, nullptr, nullptr);
    if (kernel != nullptr) out.push_back({"libxsmm", [kernel, p] { kernel(p.b, p.a, p.c); }});
  }
#else
  (void)p, (void)out;
#endif
}

#ifdef ASSAY_HAVE_DNNL
dnnl::engine& Engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

template <class T>
constexpr dnnl::memory::data_type kType =
    std::is_same_v<T, float>     ? dnnl::memory::data_type::f32
    : std::is_same_v<T, int8_t>  ? dnnl::memory::data_type::s8
    : std::is_same_v<T, int32_t> ? dnnl::memory::data_type::s32
                                 : dnnl::memory::data_type::bf16;

template <class In, class Out>
void AddOneDnn(const Case<In, Out>& p, std::vector<Contender>& out) {
  using Tag = dnnl::memory::format_tag;
  struct State {
    dnnl::matmul product;
    dnnl::memory a, b, c;
    dnnl::stream stream;
  };
  try {
    const dnnl::memory::desc a({p.m, p.k}, kType<In>, p.a_transposed ? Tag::ba : Tag::ab);
    const dnnl::memory::desc b({p.k, p.n}, kType<In>, p.b_transposed ? Tag::ba : Tag::ab);
    const dnnl::memory::desc c({p.m, p.n}, kType<Out>, Tag::ab);
    const dnnl::matmul::primitive_desc description({a, b, c}, Engine());
    auto state = std::make_shared<State>(
        State{dnnl::matmul(description), dnnl::memory(a, Engine(), const_cast<In*>(p.a)),
              dnnl::memory(b, Engine(), const_cast<In*>(p.b)), dnnl::memory(c, Engine(), p.c),
              dnnl::stream(Engine())});
    out.push_back({"oneDNN", [state] {
                     state->product.execute(state->stream, {{DNNL_ARG_SRC, state->a},
                                                            {DNNL_ARG_WEIGHTS, state->b},
                                                            {DNNL_ARG_DST, state->c}});
                     state->stream.wait();
                   }});
  } catch (const dnnl::error&) {
    // It has no product of these types here.
  }
}
#else
template <class In, class Out>
void AddOneDnn(const Case<In, Out>&, std::vector<Contender>&) {}
#endif

template <class T>
std::vector<Contender> FloatPeers(const Case<T, T>& p) {
  std::vector<Contender> peers;
  AddOpenBlas(p, peers);
  AddBlis(p, peers);
  peers.push_back({"Eigen", [p] { EigenProduct(p); }});
  if constexpr (std::is_same_v<T, float>) AddOneDnn(p, peers);
  AddXsmm(p, peers);
  return peers;
}

}  // namespace

std::vector<Contender> Peers(const Case<float, float>& p) { return FloatPeers(p); }
std::vector<Contender> Peers(const Case<double, double>& p) { return FloatPeers(p); }
std::vector<Contender> Peers(const Case<floating::BFloat16, float>& p) {
  std::vector<Contender> peers;
  AddOneDnn(p, peers);
  return peers;
}
std::vector<Contender> Peers(const Case<int8_t, int32_t>& p) {
  std::vector<Contender> peers;
  AddOneDnn(p, peers);
  return peers;
}

std::vector<std::string> DescribePeers() {
  std::vector<std::string> lines;
  if (auto* const config = OpenBlas().Find<const char*()>("openblas_get_config")) {
    lines.push_back(std::string(config()) +
                    ", kernels: " + OpenBlas().Find<const char*()>("openblas_get_corename")());
  } else {
    lines.emplace_back("OpenBLAS: libopenblas.so.0 is missing");
  }
  if (auto* const version = BlisLibrary().Find<const char*()>("bli_info_get_version_str")) {
    lines.push_back(std::string("BLIS ") + version() + ", kernels: " +
                    BlisLibrary().Find<const char*(int)>("bli_arch_string")(
                        BlisLibrary().Find<int()>("bli_arch_query_id")()));
  } else {
    lines.emplace_back("BLIS: libblis.so.4 is missing");
  }
  lines.emplace_back("Eigen 3.4.0, -march=native");
#ifdef ASSAY_HAVE_DNNL
  const dnnl_version_t* const version = dnnl_version();
  lines.push_back("oneDNN " + std::to_string(version->major) + "." +
                  std::to_string(version->minor) + "." + std::to_string(version->patch));
#else
  lines.emplace_back("oneDNN: libdnnl-dev was missing when this was built");
#endif
#ifdef ASSAY_HAVE_XSMM
  libxsmm_init();
  lines.push_back(std::string("libxsmm ") + LIBXSMM_VERSION + ", " + libxsmm_get_target_arch());
#else
  lines.emplace_back("libxsmm: libxsmm-dev was missing when this was built");
#endif
  return lines;
}

void SetThreads(int threads) {
  if (auto* const set = OpenBlas().Find<void(int)>("openblas_set_num_threads")) set(threads);
  if (auto* const set = BlisLibrary().Find<void(int64_t)>("bli_thread_set_num_threads")) {
    set(threads);
  }
  // oneDNN's threads are OpenMP's.
  const Library openmp("libgomp.so.1");
  if (auto* const set = openmp.Find<void(int)>("omp_set_num_threads")) set(threads);
}

}  // namespace assay::gemm
