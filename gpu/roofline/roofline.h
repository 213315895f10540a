// SPDX-License-Identifier: Apache-2.0
//
// The roofline: how long an operation takes at least, from two numbers of a machine, how fast it
// computes and how fast it moves bytes.
//
//   time = max(flops / peak, bytes / bandwidth) + bytes over the link / link bandwidth + fixed
//
// Computing and moving overlap, so the slower of the two counts; a copy to the device and the cost
// of starting do not. Everything here is exact: the same bits natively and in WebAssembly.
//
// Source: S. Williams, A. Waterman, D. Patterson, "Roofline: An insightful visual performance model
// for multicore architectures", Communications of the ACM 52(4), 2009, pp. 65-76.
#ifndef ASSAY_GPU_ROOFLINE_ROOFLINE_H_
#define ASSAY_GPU_ROOFLINE_ROOFLINE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gpu/roofline/work.h"

namespace assay::roofline {

// A machine as a roofline sees it. The rates are those that a program can reach, where they are
// known; a data sheet's where they are not.
struct Machine {
  std::string name = {};
  // Operations a second by precision; 0: this machine has no such arithmetic, or nobody measured.
  std::array<double, kPrecisions> flops_per_s = {};
  double bytes_per_s = 0;
  double fixed_s = 0;  // before an operation begins: a launch, a call
  // Where data come from elsewhere: bytes a second over that link. 0: they never do.
  double link_bytes_per_s = 0;

  double peak(Precision precision) const { return flops_per_s[static_cast<size_t>(precision)]; }
};

// What an operation waits for.
enum class Bound : uint8_t { kCompute, kMemory, kLink, kFixed };

std::string_view BoundName(Bound bound);  // "compute", "memory", "link", "fixed"

struct Placement {
  double compute_s = 0;
  double memory_s = 0;
  double link_s = 0;
  double fixed_s = 0;
  double total_s = 0;
  double intensity = 0;           // operations a byte of memory traffic
  double flops_per_s = 0;         // over the whole time; 0 where there is nothing to compute
  Bound bound = Bound::kCompute;  // the longest of the four times; the earlier one if equal
};

// Where an operation lies on a machine's roofline, and how long it takes at least.
//   link_bytes: what crosses the link before or after, 0 where the data are there already.
// Fails: FailedPrecondition where the machine has no rate for this precision (though only if there
// is something to compute), no bandwidth, or no link that is needed; InvalidArgument for
// link_bytes < 0.
absl::StatusOr<Placement> Place(const Machine& machine, Precision precision, const Work& work,
                                int64_t link_bytes = 0);

// Operations a second at an intensity: min(peak, intensity times bandwidth).
double Attainable(const Machine& machine, Precision precision, double intensity);

// The intensity at which both limits meet: peak / bandwidth. Below it memory is what limits.
// Infinity without a bandwidth.
double RidgePoint(const Machine& machine, Precision precision);

// How many times as long `slow` takes as `fast`.
// Fails as Place.
absl::StatusOr<double> Speedup(const Machine& slow, const Machine& fast, Precision precision,
                               const Work& work, int64_t slow_link_bytes = 0,
                               int64_t fast_link_bytes = 0);

// The least number of rows m for which the product of [m, k] and [k, n] is limited by computing:
// the batch at which the weights [k, n] have been read for enough inputs.
// Fails: InvalidArgument for n or k < 1; FailedPrecondition as Place; OutOfRange where no batch is
// enough, since k or n is too small for this machine.
absl::StatusOr<int64_t> BreakEvenBatch(const Machine& machine, Precision precision, int64_t n,
                                       int64_t k);

}  // namespace assay::roofline

#endif  // ASSAY_GPU_ROOFLINE_ROOFLINE_H_
