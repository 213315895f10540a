// SPDX-License-Identifier: Apache-2.0
//
// Machines as rooflines: those of gpu/model by what programs reach on them, and a published table
// of devices that were all measured by one script.
#ifndef ASSAY_GPU_ROOFLINE_MACHINES_H_
#define ASSAY_GPU_ROOFLINE_MACHINES_H_

#include <span>
#include <string_view>

#include "gpu/model/machine.h"
#include "gpu/roofline/latency.h"
#include "gpu/roofline/roofline.h"

namespace assay::roofline {

// A GPU by its data sheet: peak rates at the boost clock, the memory's peak, no link and no launch.
// f64 at its lanes' rate; f16 on tensor cores; i8 likewise.
Machine DatasheetRoof(const model::GpuMachine& gpu);

// A GPU by what programs reach: the bandwidth that a copy reaches, a launch before each operation,
// the PCIe link. Arithmetic at the clock at which long multiplications were seen to run within the
// power limit, times the share of the pipe that they used; at the boost clock and in full where
// the machine's file says that this is not known.
Machine SustainedRoof(const model::GpuMachine& gpu);

// A CPU: f32 alone, and a call.
Machine CpuRoof(const model::CpuMachine& cpu);

// The GPU's memory for Little's law: the bandwidth of a copy, the latency at the boost clock.
MemorySystem DramOf(const model::GpuMachine& gpu);

// A device and its two numbers, measured by one script of Python over PyTorch: the best of products
// of square f32 matrices up to 6,888 rows and columns, and copies of up to 0.4 GB.
// Source: chsasank/device-benchmarks, README.md at commit 06f4d7e2 (github.com), its table. Of two
// rows of one device the first is taken.
struct PublishedDevice {
  std::string_view name;
  bool gpu;
  double tera_flops_per_s;
  double giga_bytes_per_s;
};
std::span<const PublishedDevice> PublishedDevices();

// The device of this name, which must be there (checked).
const PublishedDevice& FindPublished(std::string_view name);

Machine PublishedRoof(const PublishedDevice& device);

}  // namespace assay::roofline

#endif  // ASSAY_GPU_ROOFLINE_MACHINES_H_
