// SPDX-License-Identifier: Apache-2.0
//
// peers.h: other libraries' matrix products, as far as this machine has them, for peers_benchmark.
#ifndef ASSAY_NUMERICS_GEMM_PEERS_H_
#define ASSAY_NUMERICS_GEMM_PEERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "numerics/floating/half.h"

namespace assay::gemm {

// C = A B with C row-major and contiguous; A and B too, or, where transposed, column-major.
template <class In, class Out>
struct Case {
  int64_t m, n, k;
  bool a_transposed, b_transposed;
  const In* a;
  const In* b;
  Out* c;
};

struct Contender {
  std::string name;
  std::function<void()> run;  // empty: cannot do this case
};

// Every peer that has a product of these types. OpenBLAS is loaded when first asked for.
std::vector<Contender> Peers(const Case<float, float>& p);
std::vector<Contender> Peers(const Case<double, double>& p);
std::vector<Contender> Peers(const Case<floating::BFloat16, float>& p);
std::vector<Contender> Peers(const Case<int8_t, int32_t>& p);

// What each peer says of itself: version, chosen kernels.
std::vector<std::string> DescribePeers();
// Threads of each peer from here on.
void SetThreads(int threads);

// Eigen's, compiled for the machine that builds.
void EigenProduct(const Case<float, float>& p);
void EigenProduct(const Case<double, double>& p);

}  // namespace assay::gemm

#endif  // ASSAY_NUMERICS_GEMM_PEERS_H_
