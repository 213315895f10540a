// SPDX-License-Identifier: Apache-2.0
//
// How much must be under way at once. An answer takes `latency`; to get `rate` of them a second,
// rate times latency of them have to be on their way at any moment (Little's law). A GPU puts them
// there by warps that wait, a CPU core by independent chains of instructions.
//
// Sources: J. D. C. Little, "A proof for the queuing formula L = lambda W", Operations Research
// 9(3), 1961; V. Volkov, "Understanding latency hiding on GPUs", dissertation, UC Berkeley, 2016.
#ifndef ASSAY_GPU_ROOFLINE_LATENCY_H_
#define ASSAY_GPU_ROOFLINE_LATENCY_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace assay::roofline {

// A memory seen from many equal processors (of a GPU: its multiprocessors).
struct MemorySystem {
  double bytes_per_s = 0;
  double latency_s = 0;
  int64_t processors = 1;
};

// Bytes that are on their way when all of the bandwidth is used: bytes_per_s times latency_s.
double BytesInFlight(const MemorySystem& memory);

// What a warp asks for before it has to wait.
struct WarpRequests {
  int64_t bytes = 128;    // of one request: 32 lanes of 4 bytes
  int64_t at_a_time = 1;  // independent requests that a warp sends off
};

// The least number of warps on each processor that can use all of the bandwidth.
// Fails: InvalidArgument where a rate, a time or a size is not positive (or not finite).
absl::StatusOr<int64_t> WarpsNeeded(const MemorySystem& memory, const WarpRequests& requests);

// Bytes a second that `warps` on each processor get: their requests in flight over the latency, and
// no more than the bandwidth. warps >= 0.
double BandwidthReached(const MemorySystem& memory, const WarpRequests& requests, int64_t warps);

// Independent instructions that keep a pipeline full: latency_clocks times issued_per_clock.
// Fails: InvalidArgument for a number below 1.
absl::StatusOr<int64_t> ChainsNeeded(int64_t latency_clocks, int64_t issued_per_clock);

// What a queue really does, clock by clock: `workers` that each send a request, wait for its answer
// and send the next; a memory that takes in one request every `service` clocks and answers it
// `latency` clocks later. Requests wait in the order of their workers' numbers, at first all at
// once.
//   clocks: how long to watch. Returns the requests taken in during that time.
// Fails: InvalidArgument for a number below 1, or workers above 2^20. Cost: O(clocks / service).
absl::StatusOr<int64_t> RequestsServed(int64_t workers, int64_t latency, int64_t service,
                                       int64_t clocks);

}  // namespace assay::roofline

#endif  // ASSAY_GPU_ROOFLINE_LATENCY_H_
