// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Core>

#include "numerics/gemm/peers.h"

namespace assay::gemm {
namespace {

template <class T>
void Product(const Case<T, T>& p) {
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
  Eigen::Map<Rows> c(p.c, p.m, p.n);
  const Eigen::Map<const Rows> a(p.a, p.m, p.k);
  const Eigen::Map<const Rows> b(p.b, p.k, p.n);
  const Eigen::Map<const Columns> at(p.a, p.m, p.k);
  const Eigen::Map<const Columns> bt(p.b, p.k, p.n);
  if (p.a_transposed && p.b_transposed) {
    c.noalias() = at * bt;
  } else if (p.a_transposed) {
    c.noalias() = at * b;
  } else if (p.b_transposed) {
    c.noalias() = a * bt;
  } else {
    c.noalias() = a * b;
  }
}

}  // namespace

void EigenProduct(const Case<float, float>& p) { Product(p); }
void EigenProduct(const Case<double, double>& p) { Product(p); }

}  // namespace assay::gemm
