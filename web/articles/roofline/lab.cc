// SPDX-License-Identifier: Apache-2.0
//
// The roofline: operations counted and placed, a T4's lead over CPUs from two numbers each, what a
// launch, a link and a batch do to it, how much must be under way to hide latency, what a power
// limit does to the roof, one warp's memory traffic on a simulated kernel; timed: this machine.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gpu/model/machine.h"
#include "gpu/roofline/host.h"
#include "gpu/roofline/latency.h"
#include "gpu/roofline/machines.h"
#include "gpu/roofline/power_limit.h"
#include "gpu/roofline/roofline.h"
#include "gpu/roofline/work.h"
#include "gpu/simt/occupancy.h"
#include "numerics/core/check.h"
#include "numerics/core/thread_pool.h"
#include "tools/lab/lab.h"
#include "web/articles/roofline/host_jobs.h"
#include "web/articles/roofline/operations.h"
#include "web/articles/roofline/warp.h"

namespace assay::roofline_page {
namespace {

using lab::Context;
using lab::Report;
using lab::Table;
using roofline::Machine;
using roofline::Placement;
using roofline::Precision;
using roofline::Work;

constexpr std::string_view kModel =
    "time = max(operations / peak, bytes / bandwidth) + bytes over PCIe / its rate + launch, with "
    "the rates that users of the card measured";

const model::GpuMachine& T4() { return model::Gpu("NVIDIA T4"); }
const model::GpuMachine& H200() { return model::Gpu("NVIDIA H200"); }

// Where a constant of the T4's file comes from: "memory: launches back to back in one stream".
std::string Provenance(std::string_view field) {
  const model::Constant* constant = model::Find(T4().constants, field);
  ASSAY_CHECK(constant != nullptr);
  return absl::StrCat("a constant of the T4's machine file; ", model::MarkName(constant->mark),
                      ": ", constant->source);
}

// Refuses a knob outside [least, most].
absl::Status InRange(std::string_view name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", expected ", least, " to ", most));
}

double Median(std::vector<double> values) {
  std::stable_sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// ------------------------------------------------------------------ counting

int64_t counted_flops = 0;

struct Counted {
  double value = 0;
  friend Counted operator+(Counted a, Counted b) {
    return ++counted_flops, Counted{a.value + b.value};
  }
  friend Counted operator*(Counted a, Counted b) {
    return ++counted_flops, Counted{a.value * b.value};
  }
};

// An array that remembers which of its elements were touched.
class Touched {
 public:
  explicit Touched(int64_t n) : values_(static_cast<size_t>(n)), marks_(values_.size(), 0) {}
  Counted& operator[](int64_t i) {
    marks_[static_cast<size_t>(i)] = 1;
    return values_[static_cast<size_t>(i)];
  }
  int64_t bytes() const {
    return 4 * std::count(marks_.begin(), marks_.end(), char{1});  // as f32
  }

 private:
  std::vector<Counted> values_;
  std::vector<char> marks_;
};

// [region counted]
// The product of two n x n matrices on numbers that count and arrays that remember.
Work CountProduct(int64_t n) {
  Touched a(n * n), b(n * n), c(n * n);
  counted_flops = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Counted sum;
      for (int64_t k = 0; k < n; ++k) sum = sum + a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
  return {.flops = counted_flops, .bytes_read = a.bytes() + b.bytes(), .bytes_written = c.bytes()};
}
// [end counted]

absl::Status Counting(Context& context, Report& report) {
  const int64_t n = context.Integer("counted_n", 16, 64, 64);
  if (absl::Status status = InRange("counted_n", n, 1, 512); !status.ok()) return status;
  const Work counted = CountProduct(n);
  const absl::StatusOr<Work> formula = roofline::MatMul(n, n, n, Precision::kF32);
  if (!formula.ok()) return formula.status();
  report.Exact("counted_n", n, "Rows and columns of the counted product");
  report.Exact("counted_flops", counted.flops, "Operations of the counted product", "operations");
  report.Exact("counted_bytes", counted.bytes(), "Bytes of the elements that it touched", "bytes");
  report.Exact("counted_equal", counted == *formula, "The formula says the same");

  Table& table = report.AddTable("operations", "What each operation has to do, in f32");
  table.Column<std::string>("operation")
      .Column<double>("megaflops")
      .Column<double>("megabytes")
      .Column<double>("intensity", "op/byte");
  for (int i = 0; i < kOperations; ++i) {
    const Operation operation = static_cast<Operation>(i);
    const Work work = WorkOf(operation, Precision::kF32, 1);
    table.Row(OperationName(operation), static_cast<double>(work.flops) * 1e-6,
              static_cast<double>(work.bytes()) * 1e-6, roofline::Intensity(work));
  }
  const auto intensity = [](Operation operation) {
    return roofline::Intensity(WorkOf(operation, Precision::kF32, 1));
  };
  report.Exact("product_intensity", intensity(Operation::kProduct),
               "Operations a byte in a square product of 4096", "operations a byte");
  report.Exact("add_intensity", intensity(Operation::kAdd), "Operations a byte in an addition",
               "operations a byte");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ one card, three verdicts

// One row of a comparison: what runs, in f32, and whether its data must come over the link.
struct Job {
  std::string_view name;
  Operation operation;
  bool over_link;
};

absl::Status Leads(Context&, Report& report) {
  // The card reported a lead of 19 in products and 11 in streaming: the CPU is what is left.
  const Machine t4 = roofline::SustainedRoof(T4());
  const Machine cpu = roofline::CpuRoof(model::Cpu("CPU implied by the articles"));
  const Precision p = Precision::kF32;
  report.Modelled("t4_peak", t4.peak(p) * 1e-12,
                  "FP32 lanes x 2 x the clock within 70 W x the share of the pipe in use",
                  "What a T4 computes under its power limit, in f32", "TFLOP/s");
  report.Cited("t4_bandwidth", t4.bytes_per_s / 1e9,
               {.author = "C. Sasank",
                .year = 2024,
                .title = "device-benchmarks",
                .where = "README.md, table",
                .url = "https://github.com/chsasank/device-benchmarks"},
               "What a copy moves on a T4", "GB/s");
  report.Modelled("cpu_peak", cpu.peak(p) * 1e-12, "the T4's rate over a lead of 19",
                  "What the CPU computes, if a T4 is nineteen times as fast", "TFLOP/s");
  report.Modelled("cpu_bandwidth", cpu.bytes_per_s / 1e9, "the T4's bandwidth over a lead of 11",
                  "What the CPU moves, if a T4 is eleven times as fast", "GB/s");
  Table& table = report.AddTable("leads", "How many times as fast a T4 is, by two numbers each");
  table.Column<std::string>("operation")
      .Column<double>("cpu", "ms")
      .Column<double>("t4", "ms")
      .Column<double>("lead")
      .Column<std::string>("waits_for");
  constexpr std::array<Job, 7> kJobs = {{{"product", Operation::kProduct, false},
                                         {"matrix x vector", Operation::kLayer, false},
                                         {"softmax", Operation::kSoftmax, false},
                                         {"sum", Operation::kSum, false},
                                         {"add", Operation::kAdd, false},
                                         {"add, from host", Operation::kAdd, true},
                                         {"short add", Operation::kShortAdd, false}}};
  double most = 0, least = 1e300, resident_most = 0, resident_least = 1e300;
  for (const Job& job : kJobs) {
    const Work work = WorkOf(job.operation, p, 1);
    const absl::StatusOr<Placement> slow = Place(cpu, p, work);
    const absl::StatusOr<Placement> fast = Place(t4, p, work, job.over_link ? work.bytes() : 0);
    if (!slow.ok()) return slow.status();
    if (!fast.ok()) return fast.status();
    const double lead = slow->total_s / fast->total_s;
    table.Row(job.name, slow->total_s * 1e3, fast->total_s * 1e3, lead,
              roofline::BoundName(fast->bound));
    most = std::max(most, lead);
    least = std::min(least, lead);
    if (!job.over_link && job.operation != Operation::kShortAdd) {
      resident_most = std::max(resident_most, lead);
      resident_least = std::min(resident_least, lead);
    }
    const auto figure = [&](std::string_view id, std::string_view title) {
      report.Modelled(id, lead, kModel, title, "times");
    };
    if (job.name == "product") figure("product_lead", "A T4's lead in a square product");
    if (job.name == "add") figure("add_lead", "A T4's lead in an addition of long arrays");
    if (job.name == "short add") figure("short_lead", "A T4's lead with a thousand numbers");
    if (job.over_link) figure("link_lead", "A T4's lead when the arrays come from the host");
  }
  report.Modelled("leads_spread", most / least, kModel, "The largest lead over the smallest");
  report.Modelled("resident_most", resident_most, kModel, "The largest lead on the card", "times");
  report.Modelled("resident_least", resident_least, kModel, "The smallest lead on the card",
                  "times");
  report.Modelled("peak_ratio", t4.peak(p) / cpu.peak(p), kModel, "How much faster it computes",
                  "times");
  report.Modelled("bandwidth_ratio", t4.bytes_per_s / cpu.bytes_per_s, kModel,
                  "How much faster it moves bytes", "times");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ the roof itself

absl::Status Roofs(Context&, Report& report) {
  const Machine sheet = roofline::DatasheetRoof(T4()), t4 = roofline::SustainedRoof(T4());
  const Machine h200 = roofline::SustainedRoof(H200());
  const Machine cpu = roofline::CpuRoof(model::Cpu("CPU implied by the articles"));
  const Precision p = Precision::kF32;
  Table& table = report.AddTable("roofs", "Attainable operations a second by intensity, f32");
  table.Column<double>("intensity", "op/byte")
      .Column<double>("h200", "GFLOP/s")
      .Column<double>("sheet", "GFLOP/s")
      .Column<double>("t4", "GFLOP/s")
      .Column<double>("cpu", "GFLOP/s");
  for (int i = -4; i <= 10; ++i) {
    const double intensity =
        i < 0 ? 1.0 / static_cast<double>(1 << -i) : static_cast<double>(1 << i);
    const auto at = [&](const Machine& machine) {
      return Attainable(machine, p, intensity) * 1e-9;
    };
    table.Row(intensity, at(h200), at(sheet), at(t4), at(cpu));
  }
  report.Modelled("ridge_sheet", RidgePoint(sheet, p), "peak / bandwidth of the data sheet",
                  "Ridge point of a T4 by its data sheet, f32", "operations a byte");
  report.Modelled("ridge_t4", RidgePoint(t4, p), "peak / bandwidth as sustained",
                  "Ridge point of a T4 as sustained, f32", "operations a byte");
  report.Modelled("ridge_tensor_sheet", RidgePoint(sheet, Precision::kF16),
                  "peak / bandwidth of the data sheet",
                  "Ridge point of a T4's tensor cores by its data sheet", "operations a byte");
  report.Modelled("ridge_tensor", RidgePoint(t4, Precision::kF16), "peak / bandwidth as sustained",
                  "Ridge point of a T4's tensor cores as sustained", "operations a byte");
  report.Modelled("ridge_h200", RidgePoint(h200, Precision::kF16), "peak / bandwidth as sustained",
                  "Ridge point of an H200's tensor cores", "operations a byte");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ published devices

absl::Status Published(Context&, Report& report) {
  const Precision p = Precision::kF32;
  const Machine t4 = PublishedRoof(roofline::FindPublished("Nvidia T4"));
  const Machine implied = roofline::CpuRoof(model::Cpu("CPU implied by the articles"));
  const lab::Source source = {.author = "C. Sasank",
                              .year = 2024,
                              .title = "device-benchmarks",
                              .where = "README.md, table",
                              .url = "https://github.com/chsasank/device-benchmarks"};
  report.Cited("published_t4_peak", t4.peak(p) * 1e-12, source,
               "Products in f32 on a T4, as published", "TFLOP/s");
  std::vector<double> cpus, gpus;
  Table& ridges = report.AddTable("ridges", "Ridge points of published devices, f32");
  ridges.Column<std::string>("device")
      .Column<std::string>("kind")
      .Column<double>("tflops", "TFLOP/s")
      .Column<double>("bandwidth", "GB/s")
      .Column<double>("ridge", "op/byte");
  Table& leads = report.AddTable("cpu_leads", "A T4's lead over published CPUs");
  leads.Column<std::string>("cpu").Column<double>("product").Column<double>("copy").Column<double>(
      "equal");
  struct Lead {
    std::string_view cpu;
    double product, copy;
  };
  std::vector<Lead> by_lead;
  int64_t more_in_products = 0, behind = 0;
  double nearest = 1e300;
  std::string_view nearest_name;
  for (const roofline::PublishedDevice& device : roofline::PublishedDevices()) {
    const Machine machine = PublishedRoof(device);
    const double ridge = RidgePoint(machine, p);
    ridges.Row(device.name, device.gpu ? "GPU" : "CPU", device.tera_flops_per_s,
               device.giga_bytes_per_s, ridge);
    (device.gpu ? gpus : cpus).push_back(ridge);
    if (device.gpu) continue;
    const double product = t4.peak(p) / machine.peak(p);
    const double copy = t4.bytes_per_s / machine.bytes_per_s;
    by_lead.push_back({device.name, product, copy});
    more_in_products += product > copy;
    behind += product < 1;
    const auto factor = [](double a, double b) { return a > b ? a / b : b / a; };
    const double far = std::max(factor(machine.peak(p), implied.peak(p)),
                                factor(machine.bytes_per_s, implied.bytes_per_s));
    if (far < nearest) {
      nearest = far;
      nearest_name = device.name;
    }
  }
  std::stable_sort(by_lead.begin(), by_lead.end(),
                   [](const Lead& a, const Lead& b) { return a.product < b.product; });
  for (const Lead& lead : by_lead) leads.Row(lead.cpu, lead.product, lead.copy, lead.product);
  report.Exact("devices", static_cast<int64_t>(cpus.size() + gpus.size()), "Devices in the table",
               "devices");
  report.Exact("cpus", static_cast<int64_t>(cpus.size()), "CPUs among them");
  report.Exact("cpu_ridge", Median(cpus), "Median ridge point of the CPUs", "operations a byte");
  report.Exact("gpu_ridge", Median(gpus), "Median ridge point of the GPUs", "operations a byte");
  report.Exact("cpu_ridge_most", *std::max_element(cpus.begin(), cpus.end()),
               "Largest ridge point of a CPU", "operations a byte");
  report.Exact("more_in_products", more_in_products,
               "CPUs over which a T4 leads by more in products than in copies");
  report.Exact("behind", behind, "CPUs that multiply faster than a T4");
  report.Exact("nearest_cpu", nearest_name, "The published CPU nearest to the implied one");
  report.Exact("nearest_factor", nearest, "By what factor it is off, the worse of both numbers");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ launches and links

// The least n in [1, 2^32] at which `wins` becomes true and stays so; -1 where it never does.
template <class Wins>
int64_t FirstThat(Wins wins) {
  int64_t enough = int64_t{1} << 32;
  if (!wins(enough)) return -1;
  int64_t too_few = 0;
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (wins(middle) ? enough : too_few) = middle;
  }
  return enough;
}

absl::Status Crossovers(Context&, Report& report) {
  const Machine t4 = roofline::SustainedRoof(T4());
  const Machine cpu = roofline::CpuRoof(model::Cpu("CPU implied by the articles"));
  const Precision p = Precision::kF32;
  absl::Status status;
  const auto lead = [&](const absl::StatusOr<Work>& work, bool over_link) {
    status.Update(work.status());
    if (!status.ok()) return 0.0;
    const absl::StatusOr<double> result =
        Speedup(cpu, t4, p, *work, 0, over_link ? work->bytes() : 0);
    status.Update(result.status());
    return result.ok() ? *result : 0.0;
  };
  const auto add = [&](int64_t n) { return roofline::Elementwise(n, 2, 1, 1, p); };
  const auto square = [&](int64_t n) { return roofline::MatMul(n, n, n, p); };
  Table& table = report.AddTable("sizes", "A T4's lead by the length of the arrays");
  table.Column<int64_t>("n").Column<double>("on_card").Column<double>("from_host");
  for (int64_t n = 256; n <= int64_t{1} << 28; n *= 4) {
    table.Row(n, lead(add(n), false), lead(add(n), true));
  }
  report.Modelled("launch", t4.fixed_s * 1e6, Provenance("launch_overhead_us"), "One launch",
                  "microseconds");
  report.Modelled("pcie", t4.link_bytes_per_s / 1e9, Provenance("pcie_bandwidth_gbs"),
                  "What PCIe moves to a T4", "GB/s");
  const auto modelled = [&](std::string_view id, int64_t value, std::string_view title) {
    report.Modelled(id, static_cast<double>(value), kModel, title);
  };
  modelled("add_from", FirstThat([&](int64_t n) { return lead(add(n), false) > 1; }),
           "Numbers from which a T4 adds faster, the arrays on the card");
  modelled("add_half", FirstThat([&](int64_t n) {
             const absl::StatusOr<Placement> place = Place(t4, p, *add(n));
             return place.ok() && place->memory_s >= place->fixed_s;
           }),
           "Numbers from which an addition spends more time moving than starting");
  modelled("add_link_from", FirstThat([&](int64_t n) { return lead(add(n), true) > 1; }),
           "Numbers from which a T4 adds faster with both ways over PCIe; -1: never");
  // A product of 2^20 rows and columns is beyond every card.
  int64_t product_from = 1;
  while (product_from < (1 << 20) && lead(square(product_from), true) <= 1) ++product_from;
  modelled("product_link_from", product_from,
           "Rows from which a T4 multiplies faster with both ways over PCIe");
  return status;
}

// ------------------------------------------------------------------ batches

absl::Status Batches(Context&, Report& report) {
  const Precision p = Precision::kF16;
  const Machine sheet = roofline::DatasheetRoof(T4()), t4 = roofline::SustainedRoof(T4());
  const Machine h200 = roofline::SustainedRoof(H200());
  Table& table = report.AddTable("batches", "One layer of 4096 x 4096 weights in f16");
  table.Column<int64_t>("batch")
      .Column<double>("t4", "us/input")
      .Column<double>("h200", "us/input");
  for (int64_t batch = 1; batch <= kMostBatch; batch *= 2) {
    const Work work = WorkOf(Operation::kLayer, p, batch);
    const absl::StatusOr<Placement> small = Place(t4, p, work), large = Place(h200, p, work);
    if (!small.ok()) return small.status();
    if (!large.ok()) return large.status();
    const double inputs = static_cast<double>(batch);
    table.Row(batch, small->total_s * 1e6 / inputs, large->total_s * 1e6 / inputs);
    if (batch != 1) continue;
    report.Modelled("alone_share", 100 * small->flops_per_s / t4.peak(p), kModel,
                    "Share of the sustained tensor rate that one input uses", "%");
    report.Modelled("alone_share_sheet", 100 * small->flops_per_s / sheet.peak(p), kModel,
                    "Share of the data sheet's tensor rate that one input uses", "%");
  }
  for (const auto& [id, machine, title] :
       {std::tuple("batch_sheet", &sheet, "Break-even batch of a T4 by its data sheet"),
        std::tuple("batch_t4", &t4, "Break-even batch of a T4 as sustained"),
        std::tuple("batch_h200", &h200, "Break-even batch of an H200")}) {
    const absl::StatusOr<int64_t> batch = roofline::BreakEvenBatch(*machine, p, kLayer, kLayer);
    if (!batch.ok()) return batch.status();
    report.Modelled(id, static_cast<double>(*batch), kModel, title, "inputs");
  }
  return absl::OkStatus();
}

// ------------------------------------------------------------------ what must be under way

absl::Status Latency(Context& context, Report& report) {
  const int64_t clocks = context.Integer("queue_clocks", 200000, 200000, 200000);
  if (absl::Status status = InRange("queue_clocks", clocks, 1000, 1 << 30); !status.ok())
    return status;
  const roofline::MemorySystem dram = roofline::DramOf(T4());
  report.Modelled("in_flight", BytesInFlight(dram) * 1e-3, "bandwidth x latency",
                  "Bytes on their way in a T4 that uses all of its bandwidth", "KB");
  report.Modelled("latency_clocks", T4().dram_latency, Provenance("dram_latency"),
                  "A load from a T4's memory", "clocks");
  Table& table = report.AddTable("hiding", "Bandwidth of a T4 by warps on each multiprocessor");
  table.Column<int64_t>("warps")
      .Column<double>("one", "GB/s")
      .Column<double>("two", "GB/s")
      .Column<double>("four", "GB/s");
  for (int64_t warps = 1; warps <= 32; ++warps) {
    const auto reached = [&](int64_t at_a_time) {
      return BandwidthReached(dram, {.bytes = 128, .at_a_time = at_a_time}, warps) / 1e9;
    };
    table.Row(warps, reached(1), reached(2), reached(4));
  }
  for (const auto& [id, at_a_time, title] :
       {std::tuple("warps_one", 1, "Warps of 32 that use all of the bandwidth"),
        std::tuple("warps_four", 4, "The same with four loads at a time")}) {
    const absl::StatusOr<int64_t> warps = WarpsNeeded(dram, {.bytes = 128, .at_a_time = at_a_time});
    if (!warps.ok()) return warps.status();
    report.Modelled(id, static_cast<double>(*warps), "Little's law", title, "warps");
  }
  // The law against a queue that is played clock by clock: one multiprocessor's share of the
  // memory takes a request of 128 bytes every so many clocks.
  const double per_request = 128.0 * static_cast<double>(dram.processors) / dram.bytes_per_s;
  const int64_t service = static_cast<int64_t>(per_request * T4().boost_clock + 0.5);
  const int64_t latency = static_cast<int64_t>(T4().dram_latency);
  report.Exact("queue_service", service, "Clocks between two requests that the queue takes",
               "clocks");
  double worst = 0;
  for (int64_t warps = 1; warps <= 32; ++warps) {
    const absl::StatusOr<int64_t> served =
        roofline::RequestsServed(warps, latency, service, clocks);
    if (!served.ok()) return served.status();
    const double law = std::min(static_cast<double>(warps) / static_cast<double>(latency),
                                1 / static_cast<double>(service));
    worst = std::max(
        worst, std::fabs(static_cast<double>(*served) / (law * static_cast<double>(clocks)) - 1));
  }
  report.Exact("queue_clocks", clocks, "Clocks for which the queue was played", "clocks");
  report.Exact("queue_error", worst, "Largest relative difference between the law and the queue");
  const absl::StatusOr<int64_t> chains = roofline::ChainsNeeded(4, 2);
  if (!chains.ok()) return chains.status();
  report.Exact("alu_warps", *chains,
               "Warps that keep the arithmetic of a multiprocessor busy: 4 clocks, two a clock",
               "warps");

  // Registers are what warps are paid with.
  const absl::StatusOr<simt::Architecture> sm75 = simt::FindArchitecture(75);
  if (!sm75.ok()) return sm75.status();
  Table& occupancy =
      report.AddTable("occupancy", "Warps that fit a T4's multiprocessor, blocks of 256");
  occupancy.Column<int64_t>("registers")
      .Column<int64_t>("warps")
      .Column<double>("one_load", "GB/s")
      .Column<double>("four_loads", "GB/s");
  for (const int registers : {32, 48, 64, 80, 96, 128, 168, 255}) {
    const absl::StatusOr<simt::Occupancy> fits =
        simt::ComputeOccupancy(*sm75, {.registers = registers}, 256, 0);
    if (!fits.ok()) return fits.status();
    const auto reached = [&](int64_t at_a_time) {
      return BandwidthReached(dram, {.bytes = 128, .at_a_time = at_a_time}, fits->warps) / 1e9;
    };
    occupancy.Row(registers, fits->warps, reached(1), reached(4));
  }
  return absl::OkStatus();
}

// ------------------------------------------------------------------ one warp's memory

absl::Status Warps(Context& context, Report& report) {
  const int64_t most = context.Integer("most_stride", 40, 40, 40);
  if (absl::Status status = InRange("most_stride", most, 33, 64); !status.ok()) return status;
  Table& table = report.AddTable("strides", "One warp reads 32 numbers, so many apart");
  table.Column<int64_t>("stride").Column<int64_t>("sectors").Column<int64_t>("passes");
  int64_t odd_most = 0, apart = 0, wrong = 0;
  for (int32_t stride = 0; stride <= most; ++stride) {
    const Places places = StridedPlaces(stride, 0, false, 0);
    const absl::StatusOr<WarpTraffic> global = ReadGlobalMemory(places);
    const absl::StatusOr<WarpTraffic> shared = ReadSharedMemory(places);
    if (!global.ok()) return global.status();
    if (!shared.ok()) return shared.status();
    table.Row(stride, global->sectors, shared->wavefronts);
    wrong += !global->right + !shared->right;
    if (stride % 2 == 1) odd_most = std::max(odd_most, shared->wavefronts);
    apart += global->sectors == 32 && shared->wavefronts == 1;
    context.Progress(stride, most, "reading with strides");
  }
  report.Exact("odd_passes", odd_most, "Most passes that an odd stride takes in shared memory",
               "passes");
  report.Exact("apart", apart,
               "Strides that are worst for global memory and best for shared memory", "strides");
  // In another order the lanes touch the same places.
  int64_t order_matters = 0;
  for (const int32_t stride : {1, 2, 8, 32, 33}) {
    const Places places = StridedPlaces(stride, 0, true, context.seed());
    const absl::StatusOr<WarpTraffic> global = ReadGlobalMemory(places);
    const absl::StatusOr<WarpTraffic> plain = ReadGlobalMemory(StridedPlaces(stride, 0, false, 0));
    if (!global.ok()) return global.status();
    if (!plain.ok()) return plain.status();
    order_matters += global->sectors != plain->sectors;
    wrong += !global->right;
  }
  report.Exact("order_matters", order_matters, "Strides for which the order of the lanes matters",
               "strides");
  const absl::StatusOr<WarpTraffic> shifted = ReadGlobalMemory(StridedPlaces(1, 1, false, 0));
  if (!shifted.ok()) return shifted.status();
  report.Exact("shifted", shifted->sectors, "Sectors of 32 neighbours that begin one number late",
               "sectors");

  const absl::StatusOr<KernelTraffic> ways = RunTwoWays();
  if (!ways.ok()) return ways.status();
  report.Exact("ways_requests", ways->loads, "Requests of a warp whose lanes take two ways",
               "requests");
  report.Exact("ways_lanes", ways->lanes / ways->loads, "Lanes active in each of them", "lanes");

  const int64_t n = context.Integer("transpose_n", 64, 128, 256);
  if (absl::Status status = InRange("transpose_n", n, 32, 1024); !status.ok()) return status;
  Table& turned = report.AddTable("transposes", "Three transposes, for each request of a warp");
  turned.Column<std::string>("kernel")
      .Column<double>("sectors_a_load")
      .Column<double>("sectors_a_store")
      .Column<double>("passes_a_shared_access");
  for (const auto& [name, kind] :
       {std::pair("plain", TransposeKind::kPlain), std::pair("tile", TransposeKind::kTile),
        std::pair("padded tile", TransposeKind::kPadded)}) {
    const absl::StatusOr<KernelTraffic> traffic = RunTranspose(kind, static_cast<int>(n));
    if (!traffic.ok()) return traffic.status();
    const auto each = [](int64_t part, int64_t requests) {
      return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(requests, 1));
    };
    turned.Row(name, each(traffic->load_sectors, traffic->loads),
               each(traffic->store_sectors, traffic->stores),
               each(traffic->wavefronts, traffic->shared));
    wrong += !traffic->right;
  }
  wrong += !ways->right;
  report.Exact("kernels_wrong", wrong, "Simulated kernels with a wrong result");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ watts

absl::Status Watts(Context& context, Report& report) {
  const int64_t most = context.Integer("most_watts", 250, 250, 250);
  if (absl::Status status = InRange("most_watts", most, 140, 1000); !status.ok()) return status;
  constexpr std::string_view kPower =
      "P = base + f V(f)^2 x busy pipes + energy of a byte x bandwidth, fitted to the clocks that "
      "users saw at 70 W; the voltages are from memory";
  const model::GpuMachine& t4 = T4();
  Table& table = report.AddTable("watts", "A T4 under other power limits");
  table.Column<int64_t>("watts", "W")
      .Column<double>("tensor", "TFLOP/s")
      .Column<double>("plain", "TFLOP/s")
      .Column<double>("tensor_clock", "MHz")
      .Column<double>("plain_clock", "MHz")
      .Column<double>("streaming_clock", "MHz");
  const roofline::Load stream = {.bytes_per_s = t4.dram_bandwidth};
  const roofline::Load plain = {.fp32_busy = t4.fp32_sustained_busy};
  const roofline::Load tensor = {.tensor_busy = t4.tensor_sustained_busy};
  for (int64_t watts = 70; watts <= most; watts += 10) {
    const double limit = static_cast<double>(watts);
    const absl::StatusOr<Machine> roof = roofline::RoofWithin(t4, limit);
    if (!roof.ok()) return roof.status();
    std::array<double, 3> clocks = {};
    for (size_t i = 0; const roofline::Load& load : {tensor, plain, stream}) {
      const absl::StatusOr<roofline::PoweredClock> clock = ClockWithin(t4, limit, load);
      if (!clock.ok()) return clock.status();
      clocks[i++] = clock->clock / 1e6;
      if (watts == 70 && i == 3) {
        report.Modelled("stream_clock", clock->clock / 1e6, kPower,
                        "A T4's clock when it only moves bytes", "MHz");
        report.Modelled("stream_watts", clock->watts, kPower, "What it draws then", "W");
      }
    }
    table.Row(watts, roof->peak(Precision::kF16) * 1e-12, roof->peak(Precision::kF32) * 1e-12,
              clocks[0], clocks[1], clocks[2]);
    if (watts == 70) {
      report.Modelled("plain_clock", clocks[1], kPower, "A T4's clock in a long product of f32",
                      "MHz");
      report.Modelled("tensor_clock", clocks[0], kPower,
                      "A T4's clock in a long product on tensor cores", "MHz");
      report.Modelled("tensor_70", roof->peak(Precision::kF16) * 1e-12, kPower,
                      "Products on a T4's tensor cores, sustained", "TFLOP/s");
    }
    if (watts == 140) {
      const Machine now = roofline::SustainedRoof(t4);
      report.Modelled("double_plain", roof->peak(Precision::kF32) / now.peak(Precision::kF32),
                      kPower, "Products of f32 at twice the watts", "times");
      report.Modelled("double_tensor", roof->peak(Precision::kF16) / now.peak(Precision::kF16),
                      kPower, "Products on tensor cores at twice the watts", "times");
    }
  }
  // The boost clock in full: what the limit takes away.
  const absl::StatusOr<Machine> free = roofline::RoofWithin(t4, 1000);
  if (!free.ok()) return free.status();
  report.Modelled("tensor_free", free->peak(Precision::kF16) * 1e-12, kPower,
                  "Products on tensor cores without a limit", "TFLOP/s");
  const lab::Source torch = {.author = "zzc0721",
                             .year = 2025,
                             .title = "torch-performance-test-data",
                             .where = "database.md, Tesla T4",
                             .url = "https://github.com/zzc0721/torch-performance-test-data"};
  const lab::Source sheet = {.author = "NVIDIA",
                             .year = 2019,
                             .title = "T4 tensor core GPU, data sheet",
                             .where = "performance",
                             .url = "https://www.nvidia.com/en-us/data-center/tesla-t4/"};
  report.Cited("sheet_plain", 8.1, sheet, "Peak of a T4 in f32", "TFLOP/s");
  report.Cited("sheet_tensor", 65, sheet, "Peak of a T4's tensor cores", "TFLOP/s");
  report.Cited("torch_plain", 4.17, torch, "Products of f32 by PyTorch on a T4", "TFLOP/s");
  report.Cited("torch_tensor", 41.91, torch, "Short products on tensor cores by PyTorch on a T4",
               "TFLOP/s");
  report.Cited("forum_tensor", 24,
               {.author = "NVIDIA developer forum",
                .year = 2023,
                .title = "NVIDIA Developer Forums, thread 264462",
                .where = "a hundred products of 4096 in f16, one after the other",
                .url = "https://forums.developer.nvidia.com/t/264462"},
               "Long products on a T4's tensor cores", "TFLOP/s");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ this machine

// The sizes of what is timed, as counts that claims may name.
constexpr int64_t kProbeFlops = int64_t{2} * 4096 * 12 * 16 * 256;  // whole rounds of any vectors
constexpr int64_t kProbeBytes = int64_t{192} << 20;
constexpr int64_t kChaseLoads = int64_t{1} << 16;

absl::Status HostSizes(Context&, Report& report) {
  constexpr int64_t n = HostJobs::kProduct;
  const absl::StatusOr<Work> product = roofline::MatMul(n, n, n, Precision::kF32);
  const absl::StatusOr<Work> layer =
      roofline::MatMul(HostJobs::kLayer, 1, HostJobs::kLayer, Precision::kF32);
  const absl::StatusOr<Work> add = roofline::Elementwise(HostJobs::kAdd, 2, 1, 1, Precision::kF32);
  for (const auto* work : {&product, &layer, &add}) {
    if (!work->ok()) return work->status();
  }
  report.Exact("host_product_flops", product->flops, "Operations of the timed product",
               "operations");
  report.Exact("host_layer_bytes", layer->bytes(), "Bytes of the timed layer", "bytes");
  report.Exact("host_add_bytes", add->bytes(), "Bytes of the timed addition", "bytes");
  report.Exact("probe_flops", kProbeFlops, "Operations of each timed chain of multiply-adds",
               "operations");
  report.Exact("probe_bytes", kProbeBytes, "Bytes of the timed triad", "bytes");
  report.Exact("chase_loads", kChaseLoads, "Loads of each timed chase", "loads");
  return absl::OkStatus();
}

// A probe as something to time: `rounds` rounds of it in each of `threads` threads.
struct TimedProbe {
  std::vector<roofline::HostProbe> probes;
  int64_t rounds = 1;

  static absl::StatusOr<TimedProbe> Make(const roofline::ProbeSpec& spec, int threads,
                                         int64_t units) {
    TimedProbe timed;
    for (int t = 0; t < threads; ++t) {
      absl::StatusOr<roofline::HostProbe> probe = roofline::HostProbe::Create(spec);
      if (!probe.ok()) return probe.status();
      timed.probes.push_back(*std::move(probe));
    }
    const roofline::ProbeWork round = timed.probes[0].PerRound();
    const int64_t of_one = round.loads > 0   ? round.loads
                           : round.bytes > 0 ? round.bytes
                                             : round.flops;
    timed.rounds = std::max<int64_t>(1, units / (of_one * threads));
    return timed;
  }
};

absl::Status Measure(lab::MeasureContext& context, lab::Measurements& measurements) {
  ThreadPool pool(2);
  const auto variant = [&](std::string_view id, std::string_view title, TimedProbe& timed) {
    lab::Variant v;
    v.id = std::string(id);
    v.title = std::string(title);
    v.run = [&timed, &pool] {
      if (timed.probes.size() == 1) return timed.probes[0].Run(timed.rounds);
      pool.ParallelFor(static_cast<int64_t>(timed.probes.size()), 1,
                       [&timed](int64_t begin, int64_t end) {
                         for (int64_t t = begin; t < end; ++t) {
                           timed.probes[static_cast<size_t>(t)].Run(timed.rounds);
                         }
                       });
    };
    v.check = [&timed] {
      for (const roofline::HostProbe& probe : timed.probes) {
        if (absl::Status status = probe.Check(); !status.ok()) return status;
      }
      return absl::OkStatus();
    };
    const roofline::ProbeWork round = timed.probes[0].PerRound();
    const double times =
        static_cast<double>(timed.rounds) * static_cast<double>(timed.probes.size());
    v.flops = times * static_cast<double>(round.flops);
    v.bytes = times * static_cast<double>(round.bytes);
    return v;
  };

  using roofline::ProbeKind;
  struct Wanted {
    std::string_view id, title;
    roofline::ProbeSpec spec;
    int threads;
    int64_t units;
  };
  const auto compare = [&](std::string_view group, std::string_view title,
                           std::span<const Wanted> wanted,
                           std::vector<lab::Variant> more = {}) -> absl::Status {
    std::vector<TimedProbe> timed;
    timed.reserve(wanted.size());
    std::vector<lab::Variant> variants;
    for (const Wanted& want : wanted) {
      absl::StatusOr<TimedProbe> made = TimedProbe::Make(want.spec, want.threads, want.units);
      if (!made.ok()) return made.status();
      timed.push_back(*std::move(made));
      variants.push_back(variant(want.id, want.title, timed.back()));
    }
    for (lab::Variant& v : more) variants.push_back(std::move(v));
    return measurements.Compare(context, group, title, variants);
  };

  const auto chain = [](std::string_view id, std::string_view title, int chains) {
    return Wanted{id, title, {.kind = ProbeKind::kFmaF32, .chains = chains}, 1, kProbeFlops};
  };
  const std::array<Wanted, 5> chains = {
      chain("chain_one", "One chain", 1), chain("chain_two", "Two chains", 2),
      chain("chain_four", "Four chains", 4), chain("chain_eight", "Eight chains", 8),
      chain("chain_twelve", "Twelve chains", 12)};
  absl::Status status =
      compare("chains", "As many multiply-adds in f32, in so many chains", chains);
  if (!status.ok()) return status;

  const std::array<Wanted, 4> roofs = {{{"peak_one",
                                         "Multiply-adds in f32, one thread",
                                         {.kind = ProbeKind::kFmaF32},
                                         1,
                                         kProbeFlops},
                                        {"peak_two",
                                         "Half of them in each of two threads",
                                         {.kind = ProbeKind::kFmaF32},
                                         2,
                                         kProbeFlops},
                                        {"triad_one",
                                         "A triad in f64, one thread",
                                         {.kind = ProbeKind::kTriad, .bytes = kProbeBytes},
                                         1,
                                         kProbeBytes},
                                        {"triad_two",
                                         "Half of it in each of two threads",
                                         {.kind = ProbeKind::kTriad, .bytes = kProbeBytes / 2},
                                         2,
                                         kProbeBytes}}};
  HostJobs jobs;
  std::vector<lab::Variant> host(3);
  const Work product = *roofline::MatMul(HostJobs::kProduct, HostJobs::kProduct, HostJobs::kProduct,
                                         Precision::kF32);
  const Work layer = *roofline::MatMul(HostJobs::kLayer, 1, HostJobs::kLayer, Precision::kF32);
  const Work add = *roofline::Elementwise(HostJobs::kAdd, 2, 1, 1, Precision::kF32);
  host[0] = {.id = "eigen_product",
             .title = "Eigen: a product of 1024 x 1024",
             .run = [&] { jobs.Product(); },
             .check = [&] { return jobs.CheckProduct(); },
             .flops = static_cast<double>(product.flops),
             .bytes = static_cast<double>(product.bytes())};
  host[1] = {.id = "eigen_layer",
             .title = "Eigen: one input through a layer of 4096 x 4096",
             .run = [&] { jobs.Layer(); },
             .check = [&] { return jobs.CheckLayer(); },
             .flops = static_cast<double>(layer.flops),
             .bytes = static_cast<double>(layer.bytes())};
  host[2] = {.id = "eigen_add",
             .title = "Eigen: an addition of 16 million",
             .run = [&] { jobs.Add(); },
             .check = [&] { return jobs.CheckAdd(); },
             .flops = static_cast<double>(add.flops),
             .bytes = static_cast<double>(add.bytes())};
  status =
      compare("host", "The roofs of this machine, and Eigen under them", roofs, std::move(host));
  if (!status.ok()) return status;

  const auto chase = [](std::string_view id, std::string_view title, int64_t kib) {
    return Wanted{id, title, {.kind = ProbeKind::kChase, .bytes = kib << 10}, 1, kChaseLoads};
  };
  const std::array<Wanted, 4> steps = {
      chase("chase_16k", "within 16 KiB", 16), chase("chase_256k", "within 256 KiB", 256),
      chase("chase_8m", "within 8 MiB", 8 << 10), chase("chase_256m", "within 256 MiB", 256 << 10)};
  return compare("chase", "65,536 loads that each wait for the one before", steps);
}

// ------------------------------------------------------------------ the lab

absl::Status Run(Context& context, Report& report) {
  for (const auto section :
       {Counting, Leads, Roofs, Published, Crossovers, Batches, Latency, Warps, Watts, HostSizes}) {
    if (absl::Status status = section(context, report); !status.ok()) return status;
  }
  return absl::OkStatus();
}

ASSAY_LAB(roofline, {.title = "The roofline", .run = &Run, .measure = &Measure});

}  // namespace
}  // namespace assay::roofline_page
