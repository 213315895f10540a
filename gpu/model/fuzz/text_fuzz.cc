// SPDX-License-Identifier: Apache-2.0
// Any bytes as the text of a mix, a GPU and a CPU: taken or refused, and a mix that is taken writes
// and reads as the same.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu/model/machine.h"
#include "gpu/model/mix.h"
#include "numerics/core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::model;  // lint: allow(namespaces): a fuzz target is one function
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Mix> mix = ParseMix(text);
  if (mix.ok()) {
    const std::string written = FormatMix(*mix);
    const absl::StatusOr<Mix> again = ParseMix(written);
    ASSAY_CHECK(again.ok());
    ASSAY_CHECK(FormatMix(*again) == written);
  }
  const absl::StatusOr<GpuMachine> gpu = ParseGpu(text);
  if (gpu.ok()) ASSAY_CHECK(PeakFp32(*gpu) > 0);
  const absl::StatusOr<CpuMachine> cpu = ParseCpu(text);
  if (cpu.ok()) ASSAY_CHECK(cpu->flops > 0);
  return 0;
}
