// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/roofline.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::roofline {
namespace {

std::string_view PrecisionName(Precision precision) {
  constexpr std::array<std::string_view, kPrecisions> kNames = {"f64", "f32", "f16", "i8"};
  return kNames[static_cast<size_t>(precision)];
}

bool IsRate(double rate) { return rate > 0; }  // a NaN is none

absl::Status Lacks(const Machine& machine, std::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat(machine.name, " has no ", what, ", expected a rate above 0"));
}

}  // namespace

std::string_view BoundName(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kMemory:
      return "memory";
    case Bound::kLink:
      return "link";
    case Bound::kFixed:
      return "fixed";
  }
  ASSAY_CHECK(false);
  return "";
}

absl::StatusOr<Placement> Place(const Machine& machine, Precision precision, const Work& work,
                                int64_t link_bytes) {
  if (link_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("bytes over the link: ", link_bytes, ", expected 0 or more"));
  }
  Placement place;
  if (work.flops > 0) {
    if (!IsRate(machine.peak(precision))) {
      return Lacks(machine, absl::StrCat("arithmetic in ", PrecisionName(precision)));
    }
    place.compute_s = static_cast<double>(work.flops) / machine.peak(precision);
  }
  if (work.bytes() > 0) {
    if (!IsRate(machine.bytes_per_s)) return Lacks(machine, "bandwidth");
    place.memory_s = static_cast<double>(work.bytes()) / machine.bytes_per_s;
  }
  if (link_bytes > 0) {
    if (!IsRate(machine.link_bytes_per_s)) return Lacks(machine, "link");
    place.link_s = static_cast<double>(link_bytes) / machine.link_bytes_per_s;
  }
  place.fixed_s = machine.fixed_s;
  place.total_s = std::max(place.compute_s, place.memory_s) + place.link_s + place.fixed_s;
  place.intensity = Intensity(work);
  if (work.flops > 0) place.flops_per_s = static_cast<double>(work.flops) / place.total_s;
  double longest = place.compute_s;
  for (const auto& [bound, seconds] :
       {std::pair(Bound::kMemory, place.memory_s), std::pair(Bound::kLink, place.link_s),
        std::pair(Bound::kFixed, place.fixed_s)}) {
    if (seconds <= longest) continue;
    longest = seconds;
    place.bound = bound;
  }
  return place;
}

double Attainable(const Machine& machine, Precision precision, double intensity) {
  return std::min(machine.peak(precision), intensity * machine.bytes_per_s);
}

double RidgePoint(const Machine& machine, Precision precision) {
  if (!IsRate(machine.bytes_per_s)) return std::numeric_limits<double>::infinity();
  return machine.peak(precision) / machine.bytes_per_s;
}

absl::StatusOr<double> Speedup(const Machine& slow, const Machine& fast, Precision precision,
                               const Work& work, int64_t slow_link_bytes, int64_t fast_link_bytes) {
  const absl::StatusOr<Placement> a = Place(slow, precision, work, slow_link_bytes);
  if (!a.ok()) return a.status();
  const absl::StatusOr<Placement> b = Place(fast, precision, work, fast_link_bytes);
  if (!b.ok()) return b.status();
  return a->total_s / b->total_s;
}

absl::StatusOr<int64_t> BreakEvenBatch(const Machine& machine, Precision precision, int64_t n,
                                       int64_t k) {
  if (n < 1 || k < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("weights of ", k, " by ", n, ", expected at least 1 by 1"));
  }
  const auto limited_by_compute = [&](int64_t m) -> absl::StatusOr<bool> {
    const absl::StatusOr<Work> work = MatMul(m, n, k, precision);
    if (!work.ok()) return work.status();
    const absl::StatusOr<Placement> place = Place(machine, precision, *work);
    if (!place.ok()) return place.status();
    return place->compute_s >= place->memory_s;
  };
  // Both times are linear in m, so once computing is the longer it stays so: bracketed by doubling,
  // found by halving. No batch holds 2^24 rows, and one that is not enough there never will be.
  int64_t enough = 1;
  for (;; enough *= 2) {
    const absl::StatusOr<bool> done = limited_by_compute(enough);
    if (!done.ok()) return done.status();
    if (*done) break;
    if (enough >= (int64_t{1} << 24)) {
      return absl::OutOfRangeError(absl::StrCat("weights of ", k, " by ", n, " on ", machine.name,
                                                ": no batch up to ", enough,
                                                " is limited by computing"));
    }
  }
  int64_t too_few = enough / 2;  // 0 for the first: no rows, no work
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    const absl::StatusOr<bool> done = limited_by_compute(middle);
    if (!done.ok()) return done.status();
    (*done ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace assay::roofline
