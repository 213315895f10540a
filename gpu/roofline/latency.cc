// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/latency.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::roofline {
namespace {

absl::Status Positive(std::string_view name, double value) {
  // The largest that a count may reach, so that ceil() fits an integer.
  if (value > 0 && value <= 0x1p62) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", expected a positive number"));
}

}  // namespace

double BytesInFlight(const MemorySystem& memory) { return memory.bytes_per_s * memory.latency_s; }

absl::StatusOr<int64_t> WarpsNeeded(const MemorySystem& memory, const WarpRequests& requests) {
  absl::Status status = Positive("bandwidth", memory.bytes_per_s);
  status.Update(Positive("latency", memory.latency_s));
  status.Update(Positive("bytes in flight", BytesInFlight(memory)));
  status.Update(Positive("number of processors", static_cast<double>(memory.processors)));
  status.Update(Positive("bytes of a request", static_cast<double>(requests.bytes)));
  status.Update(Positive("requests at a time", static_cast<double>(requests.at_a_time)));
  if (!status.ok()) return status;
  const double of_one_warp =
      static_cast<double>(requests.bytes) * static_cast<double>(requests.at_a_time);
  const double warps =
      BytesInFlight(memory) / (static_cast<double>(memory.processors) * of_one_warp);
  return static_cast<int64_t>(std::ceil(warps));
}

double BandwidthReached(const MemorySystem& memory, const WarpRequests& requests, int64_t warps) {
  ASSAY_CHECK_GE(warps, 0);
  const double in_flight = static_cast<double>(memory.processors) * static_cast<double>(warps) *
                           static_cast<double>(requests.bytes) *
                           static_cast<double>(requests.at_a_time);
  return std::min(memory.bytes_per_s, in_flight / memory.latency_s);
}

absl::StatusOr<int64_t> ChainsNeeded(int64_t latency_clocks, int64_t issued_per_clock) {
  absl::Status status = Positive("latency", static_cast<double>(latency_clocks));
  status.Update(Positive("instructions a clock", static_cast<double>(issued_per_clock)));
  status.Update(Positive("product of both", static_cast<double>(latency_clocks) *
                                                static_cast<double>(issued_per_clock)));
  if (!status.ok()) return status;
  return latency_clocks * issued_per_clock;
}

absl::StatusOr<int64_t> RequestsServed(int64_t workers, int64_t latency, int64_t service,
                                       int64_t clocks) {
  for (const int64_t value : {workers, latency, service, clocks}) {
    if (value < 1 || value > (int64_t{1} << 40)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a number of the queue is ", value, ", expected 1 to 2^40"));
    }
  }
  if (workers > (int64_t{1} << 20)) {
    return absl::InvalidArgumentError(absl::StrCat(workers, " workers, expected at most 1048576"));
  }
  // When each worker can send again, earliest first. All start at clock 0; requests are taken in
  // their order, so answers come in the same order and the queue stays sorted.
  std::deque<int64_t> ready(static_cast<size_t>(workers), 0);
  int64_t free_at = 0, served = 0;
  for (;;) {
    const int64_t taken_in = std::max(free_at, ready.front());
    if (taken_in >= clocks) return served;
    ready.pop_front();
    ready.push_back(taken_in + latency);
    free_at = taken_in + service;
    ++served;
  }
}

}  // namespace assay::roofline
