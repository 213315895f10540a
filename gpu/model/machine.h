// SPDX-License-Identifier: Apache-2.0
// Machines as a few numbers: what a GPU can do per clock, what a CPU can do per second.
//
// Every number of a machine says where it comes from and how far to trust that. The machines that
// come with the library are text files (gpu/model/machines/), compiled in as data, so that the
// browser has them too.
//
// A file has one constant a line, `name value mark source`, separated by blanks; blank lines and
// lines that begin with # say nothing. The first line of the rest is the machine's name:
//
//   gpu NVIDIA T4
//   sm_count 40 datasheet T4 product brief
//
// Each field of the machine stands there once, in any order; nothing else does.
#ifndef ASSAY_GPU_MODEL_MACHINE_H_
#define ASSAY_GPU_MODEL_MACHINE_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace assay::model {

// How a constant came to be known.
enum class Mark {
  kDatasheet,  // the maker's own paper, header or documentation
  kPublished,  // somebody's published measurement
  kDerived,    // computed from other figures, which the source names
  kMemory,     // remembered from a paper and not read again: to be checked
  kMeasured,   // measured on the machine itself, at run time
};

// "datasheet", "published", "derived", "memory", "measured".
absl::string_view MarkName(Mark mark);

// Where one constant of a machine comes from.
struct Constant {
  std::string field;  // as in the file: sm_count
  double value = 0;
  Mark mark = Mark::kMemory;
  std::string source;

  friend bool operator==(const Constant&, const Constant&) = default;
};

// A GPU. "Per clock" is per clock of one streaming multiprocessor (SM). What limits the blocks
// that an SM holds depends on the compute capability alone: gpu/simt/occupancy.h has it.
struct GpuMachine {
  std::string name;
  int compute_capability = 0;  // 10 major + minor: 75, 90
  int sm_count = 0;

  // Clocks, in Hz (MHz in the file). A clock is a multiple of the step above the base clock.
  double base_clock = 0;
  double boost_clock = 0;  // the highest that a kernel runs at
  double clock_step = 0;

  // Arithmetic, per clock: lanes, of which a warp's instruction takes 32; flop of dense matrix
  // instructions, a multiply-add being two.
  double issue_per_clock = 0;  // warp instructions
  double fp32_lanes = 0;
  double int32_lanes = 0;
  double fp64_lanes = 0;
  double special_lanes = 0;      // reciprocals, square roots, sines, conversions
  double tensor_fp16_flops = 0;  // f16 in, f32 sums
  double tensor_int8_ops = 0;    // int8 in, int32 sums
  double tensor_mma_share = 0;   // of the rate, what warp-wide mma instructions reach at best
  double alu_latency = 0;        // clocks from one FFMA to another that needs it

  // Level 1 and shared memory, per clock.
  double lsu_lanes = 0;       // lanes' addresses taken by the load-store unit
  double l1_bytes = 0;        // bytes moved to or from the registers
  double tag_lines = 0;       // lines of 128 bytes looked up
  double l1_total_bytes = 0;  // of an SM, L1 and shared memory together
  double l1_latency = 0;
  double shared_latency = 0;

  // Level 2 and device memory.
  double l2_bytes = 0;
  double l2_ways = 0;
  double l2_bandwidth = 0;  // byte/s at the boost clock (GB/s in the file, 1e9)
  double l2_latency = 0;    // clocks
  double dram_bytes = 0;
  double dram_peak = 0;       // byte/s (GB/s in the file)
  double dram_bandwidth = 0;  // byte/s that a copy reaches (GB/s in the file)
  double dram_latency = 0;    // clocks

  // Power, in watts. The clock falls until the board is within its limit. At the `sustained`
  // clocks (MHz in the file; 0: not known, and then nothing is limited by power) it just is, under
  // FP32 and under tensor multiplication; `busy` is the share of the pipe's clocks used there.
  double power_limit = 0;
  double power_base = 0;       // drawn whatever runs
  double dram_energy = 0;      // J/byte (pJ in the file)
  double voltage_at_base = 0;  // V at the base clock; between the two clocks, linear
  double voltage_at_boost = 0;
  double fp32_sustained_clock = 0;
  double fp32_sustained_busy = 0;
  double tensor_sustained_clock = 0;
  double tensor_sustained_busy = 0;

  // Outside the chip.
  double pcie_bandwidth = 0;   // byte/s that a copy reaches (GB/s in the file)
  double launch_overhead = 0;  // s a launch, in a queue of launches (us in the file)

  // Real kernels reach this share of the bound that the constants above give.
  double efficiency = 0;

  std::vector<Constant> constants;  // of every field above, in this order, in the file's units
};

// A CPU (or anything else) as a roof: rates that a good program reaches, and what a call costs.
struct CpuMachine {
  std::string name;
  double flops = 0;       // FP32 flop/s (Gflop/s in the file)
  double bandwidth = 0;   // byte/s (GB/s in the file)
  double fixed_cost = 0;  // s a call (us in the file)

  std::vector<Constant> constants;
};

// Reads a machine file. Cost: linear in the text.
// Fails: InvalidArgument, naming the line and what was expected, for a line that is not a constant,
// a field that is unknown, missing or given twice, a number that is not one or out of its field's
// range, an unknown mark, no source; for text over 64 KiB or with bytes that are not printable
// ASCII. A machine that comes back can be computed with: nothing in it divides by zero.
absl::StatusOr<GpuMachine> ParseGpu(absl::string_view text);
absl::StatusOr<CpuMachine> ParseCpu(absl::string_view text);

// A machine of numbers measured at run time, all of them with the mark kMeasured and this source.
// Fails as ParseCpu.
absl::StatusOr<CpuMachine> MeasuredCpu(absl::string_view name, absl::string_view source,
                                       double flops, double bandwidth, double fixed_cost);

// The machines that come with the library. The first GPU is the articles' card, the T4.
std::span<const GpuMachine> Gpus();
std::span<const CpuMachine> Cpus();

// The machines of these names, which must be there (checked).
const GpuMachine& Gpu(absl::string_view name);
const CpuMachine& Cpu(absl::string_view name);

// Where the field named as in the file comes from, or nullptr.
const Constant* Find(std::span<const Constant> constants, absl::string_view field);

// Peak rates of the whole chip at its boost clock, in flop/s.
double PeakFp32(const GpuMachine& gpu);
double PeakTensorFp16(const GpuMachine& gpu);

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_MACHINE_H_
