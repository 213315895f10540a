// SPDX-License-Identifier: Apache-2.0
#include "tools/measure_gpu/result.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace assay::measure_gpu {
namespace {

// A JSON string. Bytes above ASCII become '?': the words of CUDA and of Abseil have none.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", std::string(1, c));
    } else if (byte < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", byte);
    } else {
      quoted += byte < 0x7f ? c : '?';
    }
  }
  return quoted + "\"";
}

std::string Number(double value) { return absl::StrFormat("%.17g", value); }

}  // namespace

std::string DeviceLine(const GpuDescription& gpu) {
  return absl::StrCat(
      "{\"device\": {\"name\": ", Quoted(gpu.name), ", \"compute_capability\": \"",
      gpu.compute_major, ".", gpu.compute_minor, "\", \"multiprocessors\": ", gpu.multiprocessors,
      ", \"memory_bytes\": ", gpu.global_memory_bytes, ", \"l2_bytes\": ", gpu.l2_cache_bytes,
      ", \"shared_bytes_per_multiprocessor\": ", gpu.shared_memory_per_multiprocessor_bytes,
      ", \"registers_per_multiprocessor\": ", gpu.registers_per_multiprocessor,
      ", \"memory_bus_bits\": ", gpu.memory_bus_bits, ", \"clock_khz\": ", gpu.clock_khz,
      ", \"memory_clock_khz\": ", gpu.memory_clock_khz, ", \"ecc\": ", gpu.ecc ? "true" : "false",
      ", \"driver_version\": ", gpu.driver_version, ", \"runtime_version\": ", gpu.runtime_version,
      "}}");
}

std::string BeginLine(std::string_view id) { return absl::StrCat("{\"begin\": ", Quoted(id), "}"); }

std::string ProbeLine(const Probe& probe) {
  return absl::StrCat(
      "{\"probe\": {\"id\": ", Quoted(probe.id), ", \"title\": ", Quoted(probe.title),
      ", \"flops\": ", Number(probe.flops), ", \"bytes\": ", Number(probe.bytes),
      ", \"steps\": ", Number(probe.steps), ", \"cycles\": ", Number(probe.cycles),
      ", \"checked\": ", probe.checked ? "true" : "false",
      ", \"runs_per_sample\": ", probe.runs_per_sample, ", \"seconds\": [",
      absl::StrJoin(probe.seconds, ", ",
                    [](std::string* out, double value) { out->append(Number(value)); }),
      "]}}");
}

std::string StatusLine(std::string_view id, const absl::Status& status) {
  const bool skipped = status.code() == absl::StatusCode::kUnimplemented;
  return absl::StrCat("{\"", skipped ? "skipped" : "failed", "\": {\"id\": ", Quoted(id),
                      ", \"why\": ", Quoted(status.ToString()), "}}");
}

}  // namespace assay::measure_gpu
