// SPDX-License-Identifier: Apache-2.0
// The program that measure_gpu.py builds and runs: every probe on one GPU, a line of JSON for each.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu/device/device.h"
#include "tools/measure_gpu/probe.h"
#include "tools/measure_gpu/result.h"

namespace assay::measure_gpu {
namespace {

constexpr char kUsage[] =
    "usage: measure_gpu [--only=ID] [--sustain] [--list] [--help]\n"
    "\n"
    "Measures one GPU and prints a line of JSON for each probe; measure_gpu.py makes a record of\n"
    "them. Every result is checked against the host's.\n"
    "\n"
    "  --only=ID   this probe alone\n"
    "  --sustain   arithmetic and memory for about 2 s each, to see what the power limit leaves\n"
    "  --list      the probes' ids\n"
    "\n"
    "Exit code: 0 done, 1 a result was wrong, 2 wrong use, 3 no GPU.\n";

void Print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Runs one probe, prints it, and says whether it went well.
bool Run(device::Device& device, const NamedProbe& named, const Effort& effort,
         std::string_view suffix) {
  const std::string id = std::string(named.id) + std::string(suffix);
  Print(BeginLine(id));
  absl::StatusOr<Probe> probe = named.run(device, effort);
  if (!probe.ok()) {
    Print(StatusLine(id, probe.status()));
    return probe.status().code() == absl::StatusCode::kUnimplemented;
  }
  probe->id = id;
  Print(ProbeLine(*probe));
  return true;
}

int Main(const std::vector<std::string_view>& arguments) {
  std::string_view only;
  bool sustain = false;
  for (const std::string_view argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (argument == "--list") {
      for (const NamedProbe& named : Probes()) std::puts(named.id);
      return 0;
    }
    if (argument == "--sustain") {
      sustain = true;
    } else if (argument.substr(0, 7) == "--only=") {
      only = argument.substr(7);
    } else {
      std::fprintf(stderr, "measure_gpu: unknown option '%s' (see --help)\n",
                   std::string(argument).c_str());
      return 2;
    }
  }
  bool known = only.empty();
  for (const NamedProbe& named : Probes()) known = known || only == named.id;
  if (!known) {
    std::fprintf(stderr, "measure_gpu: no probe '%s' (see --list)\n", std::string(only).c_str());
    return 2;
  }
  absl::StatusOr<device::Device> device = device::Device::Open();
  if (!device.ok()) {
    std::fprintf(stderr, "measure_gpu: %s\n", device.status().ToString().c_str());
    return 3;
  }
  Print(DeviceLine(device->description()));
  bool well = true;
  for (const NamedProbe& named : Probes()) {
    if (!only.empty() && only != named.id) continue;
    well = Run(*device, named, Effort(), "") && well;
  }
  if (sustain) {
    Effort effort;
    effort.sample_seconds = 10e-3;
    effort.samples = 200;
    const std::string_view wide =
        device->description().compute_major >= 8 ? "mma_f16_m16n8k16" : "mma_f16_m16n8k8";
    for (const NamedProbe& named : Probes()) {
      const std::string_view id = named.id;
      if (id == "fma_f32" || id == wide || id == "dram_triad") {
        well = Run(*device, named, effort, "_sustained") && well;
      }
    }
  }
  return well ? 0 : 1;
}

}  // namespace
}  // namespace assay::measure_gpu

int main(int argc, char** argv) {
  return assay::measure_gpu::Main(std::vector<std::string_view>(argv + 1, argv + argc));
}
