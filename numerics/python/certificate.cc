// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/certificate.h"

#include "numerics/python/arrays.h"
#include "numerics/python/module.h"

namespace assay::python {
namespace {

// What is wrong with a fit, or nothing. Throws for what is no problem to have a fit of.
std::optional<std::string> Flaw(const std::function<absl::Status()>& certify) {
  absl::Status status;
  {
    const py::gil_scoped_release released;
    status = certify();
  }
  if (status.code() == absl::StatusCode::kFailedPrecondition) return std::string(status.message());
  Check(status);
  return std::nullopt;
}

template <class T>
std::optional<std::string> CertifyTyped(const py::array& y, const OptionalArray& weights,
                                        const py::array& fit, const isotonic::Options& options,
                                        int half_ulps) {
  const auto ys = Span<const T>(y);
  const auto ws = Span<const T>(weights);
  const auto fits = Span<const T>(fit);
  return Flaw([&] { return isotonic::Certify(ys, ws, fits, options, half_ulps); });
}

std::optional<std::string> Certify(const py::array& y, const OptionalArray& weights,
                                   const py::array& fit, bool increasing, double lower,
                                   double upper, int half_ulps) {
  const auto typed = IsFloat(y) ? &CertifyTyped<float> : &CertifyTyped<double>;
  return typed(y, weights, fit, FitOptions(increasing, lower, upper), half_ulps);
}

template <class T>
std::optional<std::string> CertifyBlocksTyped(const py::array& y, const OptionalArray& weights,
                                              const py::array& ends,
                                              isotonic::Direction direction) {
  const auto ys = Span<const T>(y);
  const auto ws = Span<const T>(weights);
  const auto block_ends = Span<const int64_t>(ends);
  return Flaw([&] { return isotonic::CertifyBlocks(ys, ws, block_ends, direction); });
}

std::optional<std::string> CertifyBlocks(const py::array& y, const OptionalArray& weights,
                                         const py::array& ends, bool increasing) {
  const auto typed = IsFloat(y) ? &CertifyBlocksTyped<float> : &CertifyBlocksTyped<double>;
  return typed(y, weights, ends, FitOptions(increasing, 0, 0).direction);
}

}  // namespace

void DefineCertificate(py::module_& module) {
  module.def("certify", &Certify);
  module.def("certify_blocks", &CertifyBlocks);
}

}  // namespace assay::python
