// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/machine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gpu/model/machine_texts.h"
#include "numerics/core/check.h"

namespace assay::model {
namespace {

constexpr size_t kLongestText = size_t{1} << 16;
constexpr size_t kLongestNumber = 24;
constexpr Mark kMarks[] = {Mark::kDatasheet, Mark::kPublished, Mark::kDerived, Mark::kMemory,
                           Mark::kMeasured};

// A constant of a file: where it goes, in how many of the machine's units one of the file's is, and
// what it may be, in the file's.
template <class Machine>
struct Field {
  const char* name;
  double Machine::*real;
  int Machine::*integer;
  double scale;
  double low;
  double high;
};

using G = GpuMachine;
constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;
constexpr double kMicro = 1e-6;
constexpr double kPico = 1e-12;

constexpr Field<GpuMachine> kGpuFields[] = {
    {"compute_capability", nullptr, &G::compute_capability, 1, 10, 999},
    {"sm_count", nullptr, &G::sm_count, 1, 1, 4096},
    {"base_clock_mhz", &G::base_clock, nullptr, kMega, 1, 1e5},
    {"boost_clock_mhz", &G::boost_clock, nullptr, kMega, 1, 1e5},
    {"clock_step_mhz", &G::clock_step, nullptr, kMega, 1, 1e3},
    {"issue_per_clock", &G::issue_per_clock, nullptr, 1, 1, 64},
    {"fp32_lanes", &G::fp32_lanes, nullptr, 1, 1, 4096},
    {"int32_lanes", &G::int32_lanes, nullptr, 1, 1, 4096},
    {"fp64_lanes", &G::fp64_lanes, nullptr, 1, 1, 4096},
    {"special_lanes", &G::special_lanes, nullptr, 1, 1, 4096},
    {"tensor_fp16_flops", &G::tensor_fp16_flops, nullptr, 1, 1, 1e6},
    {"tensor_int8_ops", &G::tensor_int8_ops, nullptr, 1, 1, 1e6},
    {"tensor_mma_share", &G::tensor_mma_share, nullptr, 1, 0.01, 1},
    {"alu_latency", &G::alu_latency, nullptr, 1, 1, 1e3},
    {"lsu_lanes", &G::lsu_lanes, nullptr, 1, 1, 1024},
    {"l1_bytes", &G::l1_bytes, nullptr, 1, 1, 4096},
    {"tag_lines", &G::tag_lines, nullptr, 1, 0.1, 1024},
    {"l1_total_bytes", &G::l1_total_bytes, nullptr, 1, 1024, 1e9},
    {"l1_latency", &G::l1_latency, nullptr, 1, 1, 1e4},
    {"shared_latency", &G::shared_latency, nullptr, 1, 1, 1e4},
    {"l2_bytes", &G::l2_bytes, nullptr, 1, 4096, 1e12},
    {"l2_ways", &G::l2_ways, nullptr, 1, 1, 1024},
    {"l2_bandwidth_gbs", &G::l2_bandwidth, nullptr, kGiga, 1, 1e7},
    {"l2_latency", &G::l2_latency, nullptr, 1, 1, 1e5},
    {"dram_bytes", &G::dram_bytes, nullptr, 1, 1e6, 1e15},
    {"dram_peak_gbs", &G::dram_peak, nullptr, kGiga, 1, 1e6},
    {"dram_bandwidth_gbs", &G::dram_bandwidth, nullptr, kGiga, 1, 1e6},
    {"dram_latency", &G::dram_latency, nullptr, 1, 1, 1e5},
    {"power_limit_w", &G::power_limit, nullptr, 1, 1, 1e5},
    {"power_base_w", &G::power_base, nullptr, 1, 0, 1e5},
    {"dram_energy_pj", &G::dram_energy, nullptr, kPico, 0, 1e4},
    {"voltage_at_base", &G::voltage_at_base, nullptr, 1, 0.1, 5},
    {"voltage_at_boost", &G::voltage_at_boost, nullptr, 1, 0.1, 5},
    {"fp32_sustained_clock_mhz", &G::fp32_sustained_clock, nullptr, kMega, 0, 1e5},
    {"fp32_sustained_busy", &G::fp32_sustained_busy, nullptr, 1, 0, 1},
    {"tensor_sustained_clock_mhz", &G::tensor_sustained_clock, nullptr, kMega, 0, 1e5},
    {"tensor_sustained_busy", &G::tensor_sustained_busy, nullptr, 1, 0, 1},
    {"pcie_bandwidth_gbs", &G::pcie_bandwidth, nullptr, kGiga, 0.01, 1e6},
    {"launch_overhead_us", &G::launch_overhead, nullptr, kMicro, 0, 1e6},
    {"efficiency", &G::efficiency, nullptr, 1, 0.01, 1},
};

constexpr Field<CpuMachine> kCpuFields[] = {
    {"gflops", &CpuMachine::flops, nullptr, kGiga, 1e-3, 1e9},
    {"bandwidth_gbs", &CpuMachine::bandwidth, nullptr, kGiga, 1e-3, 1e9},
    {"fixed_cost_us", &CpuMachine::fixed_cost, nullptr, kMicro, 0, 1e9},
};

template <class... Words>
absl::Status Bad(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat("machine file: ", words...));
}

// Takes the first word off the line.
absl::string_view Word(absl::string_view* line) {
  const size_t end = std::min(line->find(' '), line->size());
  const absl::string_view word = line->substr(0, end);
  *line = absl::StripLeadingAsciiWhitespace(line->substr(end));
  return word;
}

// Digits with at most one point: no sign, no exponent, no infinity, none of which a file needs.
bool ParseNumber(absl::string_view text, double* value) {
  if (text.empty() || text.size() > kLongestNumber) return false;
  if (text.find_first_not_of("0123456789.") != absl::string_view::npos) return false;
  return absl::SimpleAtod(text, value);
}

template <class Machine>
absl::Status Set(const Field<Machine>& field, double value, Machine* machine) {
  if (!(value >= field.low && value <= field.high)) {
    return Bad(field.name, " is ", value, ", expected ", field.low, " to ", field.high);
  }
  if (field.integer != nullptr) {
    if (value != std::floor(value)) return Bad(field.name, " is ", value, ", expected an integer");
    machine->*field.integer = static_cast<int>(value);
  } else {
    machine->*field.real = value * field.scale;
  }
  return absl::OkStatus();
}

template <class Machine, size_t kFields>
absl::StatusOr<Machine> Parse(absl::string_view text, absl::string_view kind,
                              const Field<Machine> (&fields)[kFields]) {
  if (text.size() > kLongestText) {
    return Bad(text.size(), " bytes, expected at most ", kLongestText);
  }
  for (const char byte : text) {
    if (byte != '\n' && !absl::ascii_isprint(static_cast<unsigned char>(byte))) {
      return Bad("a byte that is neither printable ASCII nor a line break");
    }
  }
  Machine machine;
  machine.constants.resize(kFields);
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const absl::string_view name = Word(&line);
    if (machine.name.empty()) {
      if (name != kind || line.empty() || line.size() > 100) {
        return Bad("line ", number, ": expected '", kind, " NAME'");
      }
      machine.name = std::string(line);
      continue;
    }
    const auto* const field = std::find_if(std::begin(fields), std::end(fields),
                                           [&](const auto& f) { return f.name == name; });
    if (field == std::end(fields)) return Bad("line ", number, ": no field '", name, "'");
    Constant& constant = machine.constants[static_cast<size_t>(field - fields)];
    if (!constant.field.empty()) return Bad("line ", number, ": ", name, " a second time");
    const absl::string_view value = Word(&line);
    if (!ParseNumber(value, &constant.value)) {
      return Bad("line ", number, ": ", name, " is '", value, "', expected a decimal number");
    }
    const absl::Status set = Set(*field, constant.value, &machine);
    if (!set.ok()) return set;
    const absl::string_view mark = Word(&line);
    const auto* const known = std::find_if(std::begin(kMarks), std::end(kMarks),
                                           [&](Mark m) { return MarkName(m) == mark; });
    if (known == std::end(kMarks)) {
      return Bad("line ", number, ": mark '", mark, "' of ", name,
                 ", expected datasheet, published, derived, memory or measured");
    }
    if (line.empty()) return Bad("line ", number, ": ", name, " has no source");
    constant.field = field->name;
    constant.mark = *known;
    constant.source = std::string(line);
  }
  if (machine.name.empty()) return Bad("expected '", kind, " NAME'");
  for (size_t i = 0; i < kFields; ++i) {
    if (machine.constants[i].field.empty()) return Bad(machine.name, " has no ", fields[i].name);
  }
  return machine;
}

// A sustained clock that is known lies between the others, with a pipe that does something.
bool Sustained(const GpuMachine& gpu, double clock, double busy) {
  if (clock == 0) return busy == 0;
  return clock >= gpu.base_clock && clock <= gpu.boost_clock && busy > 0;
}

absl::Status CheckTogether(const GpuMachine& gpu) {
  if (gpu.base_clock > gpu.boost_clock) return Bad(gpu.name, ": base clock above boost clock");
  const double steps = (gpu.boost_clock - gpu.base_clock) / gpu.clock_step;
  if (steps != std::floor(steps)) {
    return Bad(gpu.name, ": boost clock is ", steps,
               " steps above base clock, expected whole ones");
  }
  const double sets = gpu.l2_bytes / (128 * gpu.l2_ways);
  if (sets != std::floor(sets)) {
    return Bad(gpu.name, ": L2 has ", sets, " sets of ", gpu.l2_ways,
               " lines of 128 bytes, expected a whole number");
  }
  if (gpu.dram_bandwidth > gpu.dram_peak) return Bad(gpu.name, ": DRAM bandwidth above its peak");
  if (gpu.power_base >= gpu.power_limit) return Bad(gpu.name, ": power_base_w at its limit");
  if (gpu.voltage_at_base > gpu.voltage_at_boost)
    return Bad(gpu.name, ": voltage falls with clock");
  if (!Sustained(gpu, gpu.fp32_sustained_clock, gpu.fp32_sustained_busy) ||
      !Sustained(gpu, gpu.tensor_sustained_clock, gpu.tensor_sustained_busy)) {
    return Bad(
        gpu.name,
        ": a sustained clock is between base and boost with a busy share above 0, or both 0");
  }
  return absl::OkStatus();
}

template <class Machine, class Reader>
std::vector<Machine> ReadAll(absl::string_view kind, Reader read) {
  std::vector<Machine> machines;
  for (const char* text : kMachineTexts) {
    if (!absl::StrContains(text, absl::StrCat("\n", kind, " "))) continue;
    absl::StatusOr<Machine> machine = read(text);
    ASSAY_CHECK(machine.ok());
    machines.push_back(*std::move(machine));
  }
  return machines;
}

template <class Machine>
const Machine& Named(std::span<const Machine> machines, absl::string_view name) {
  const auto found = std::find_if(machines.begin(), machines.end(),
                                  [&](const Machine& machine) { return machine.name == name; });
  ASSAY_CHECK(found != machines.end());
  return *found;
}

}  // namespace

absl::string_view MarkName(Mark mark) {
  switch (mark) {
    case Mark::kDatasheet:
      return "datasheet";
    case Mark::kPublished:
      return "published";
    case Mark::kDerived:
      return "derived";
    case Mark::kMemory:
      return "memory";
    case Mark::kMeasured:
      return "measured";
  }
  return "";
}

absl::StatusOr<GpuMachine> ParseGpu(absl::string_view text) {
  absl::StatusOr<GpuMachine> gpu = Parse<GpuMachine>(text, "gpu", kGpuFields);
  if (!gpu.ok()) return gpu;
  const absl::Status together = CheckTogether(*gpu);
  if (!together.ok()) return together;
  return gpu;
}

absl::StatusOr<CpuMachine> ParseCpu(absl::string_view text) {
  return Parse<CpuMachine>(text, "cpu", kCpuFields);
}

absl::StatusOr<CpuMachine> MeasuredCpu(absl::string_view name, absl::string_view source,
                                       double flops, double bandwidth, double fixed_cost) {
  if (name.empty() || source.empty()) return Bad("a measured machine without a name or a source");
  CpuMachine machine;
  machine.name = std::string(name);
  for (const Field<CpuMachine>& field : kCpuFields) {
    const double given = field.real == &CpuMachine::flops       ? flops
                         : field.real == &CpuMachine::bandwidth ? bandwidth
                                                                : fixed_cost;
    const double value = given / field.scale;
    const absl::Status set = Set(field, value, &machine);
    if (!set.ok()) return set;
    machine.constants.push_back({field.name, value, Mark::kMeasured, std::string(source)});
  }
  return machine;
}

std::span<const GpuMachine> Gpus() {
  static const std::vector<GpuMachine> gpus = ReadAll<GpuMachine>("gpu", ParseGpu);
  return gpus;
}

std::span<const CpuMachine> Cpus() {
  static const std::vector<CpuMachine> cpus = ReadAll<CpuMachine>("cpu", ParseCpu);
  return cpus;
}

const GpuMachine& Gpu(absl::string_view name) { return Named(Gpus(), name); }
const CpuMachine& Cpu(absl::string_view name) { return Named(Cpus(), name); }

const Constant* Find(std::span<const Constant> constants, absl::string_view field) {
  const auto found = std::find_if(constants.begin(), constants.end(),
                                  [&](const Constant& c) { return c.field == field; });
  return found == constants.end() ? nullptr : &*found;
}

double PeakFp32(const GpuMachine& gpu) {
  return 2 * gpu.fp32_lanes * gpu.sm_count * gpu.boost_clock;
}

double PeakTensorFp16(const GpuMachine& gpu) {
  return gpu.tensor_fp16_flops * gpu.sm_count * gpu.boost_clock;
}

}  // namespace assay::model
