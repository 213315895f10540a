// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/published.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gpu/model/kernels/ladder.h"
#include "gpu/model/machine.h"
#include "numerics/core/check.h"

namespace assay::model {
namespace {

constexpr char kA6000[] = "NVIDIA RTX A6000";
constexpr char k2080[] = "NVIDIA GeForce RTX 2080 Super";
constexpr char kT4[] = "NVIDIA T4";
constexpr char kH200[] = "NVIDIA H200";
constexpr char kTorch[] = "zzc0721/torch-performance-test-data";
constexpr char kCopy[] = "_ZN5assay5model10StreamCopyEPKfPf";
constexpr char kTriad[] = "_ZN5assay5model11StreamTriadEPKfS2_Pf";

// The author ran 4092, which is no multiple of a tile; 4096 is within 0.3 % of its work.
constexpr LadderStep kSiboehm[] = {
    {kA6000, "1: Naive", "SgemmNaive", 4096, 309},
    {kA6000, "2: GMEM Coalescing", "SgemmCoalesced", 4096, 1986.5},
    {kA6000, "3: SMEM Caching", "SgemmSharedTile", 4096, 2980.3},
    {kA6000, "4: 1D Blocktiling", "Sgemm1dTile", 4096, 8474.7},
    {kA6000, "5: 2D Blocktiling", "Sgemm2dTile", 4096, 15971.7},
    {kA6000, "6: Vectorized Mem Access", "SgemmFloat4", 4096, 18237.3},
    {kA6000, "10: Warptiling", "SgemmWideWarpTile", 4096, 21779.3},
};

constexpr LadderStep kYzhai[] = {
    {k2080, "2: 32x32x32 tile, bank conflicts", "SgemmBankConflicts", 2048, 313.8},
    {k2080, "4: without them", "SgemmSharedColumns", 2048, 753.2},
    {k2080, "1: naive", "SgemmCoalesced", 2048, 1058.0},
    {k2080, "5: 4x1 micro kernel", "SgemmFourRows", 4096, 1654.0},
    {k2080, "7: 64x64x16, 4x4", "Sgemm4x4", 4096, 4752.5},
    {k2080, "8: 128x128x8, 8x8", "SgemmFloat4", 4096, 7416.5},
    {k2080, "9: warp tile", "SgemmWarpTile", 4096, 9580.6},
    {k2080, "10: prefetch", "SgemmPrefetch", 4096, 9625.6},
    {k2080, "11: double buffer", "SgemmDoubleBuffer", 4096, 9841.3},
};

// A launch that fills the chip and does so much of one thing.
KernelWork Pure(const GpuMachine& gpu) {
  KernelWork work;
  work.blocks = int64_t{gpu.sm_count} * 1000;
  work.threads = 256;
  work.resources.registers = 32;
  return work;
}

double Seconds(const GpuMachine& gpu, const KernelWork& work, bool power_limit) {
  const absl::StatusOr<TimeEstimate> estimate =
      EstimateTime(gpu, work, {.power_limit = power_limit});
  ASSAY_CHECK(estimate.ok());
  return estimate->seconds;
}

double Fp32Rate(const char* name) {
  const GpuMachine& gpu = Gpu(name);
  KernelWork work = Pure(gpu);
  const double flops = 1e14;
  work.instructions[static_cast<size_t>(Pipe::kFma)] = flops / 64;
  return flops / Seconds(gpu, work, true);
}

double TensorRate(const char* name, bool power_limit) {
  GpuMachine gpu = Gpu(name);
  gpu.tensor_mma_share = 1;  // libraries have wgmma where warp-wide instructions fall short
  KernelWork work = Pure(gpu);
  work.tensor_fp16_flops = 1e15;
  return work.tensor_fp16_flops / Seconds(gpu, work, power_limit);
}

// Of a kernel that reads `loads` and writes one float a thread, 2^26 of them.
double StreamRate(const char* name, absl::string_view symbol, int loads) {
  const GpuMachine& gpu = Gpu(name);
  const KernelMix* const mix = FindKernel(ModelMix(gpu.compute_capability), symbol);
  ASSAY_CHECK(mix != nullptr);
  const int64_t n = int64_t{1} << 26;
  const double trips[] = {1};
  absl::StatusOr<KernelWork> work = WorkOf(*mix, trips, n / 256, 256);
  ASSAY_CHECK(work.ok());
  const double requests = static_cast<double>(n) / 32 * (loads + 1);
  work->accesses = {{requests, requests, requests}};
  work->dram_bytes = work->l2_bytes = requests * 128;
  return work->dram_bytes / Seconds(gpu, *work, true);
}

void AppendLadder(std::span<const LadderStep> steps, std::string* text) {
  const std::vector<Prediction> predictions = Predict(steps);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Prediction& p = predictions[i];
    absl::StrAppendFormat(text, "| %s | %s | %d | %.0f | %.0f | %+.0f %% | %s, %s |\n",
                          steps[i].step, steps[i].kernel, steps[i].size, steps[i].gflops, p.gflops,
                          100 * p.error, TermName(p.estimate.binding),
                          TermName(p.estimate.runner_up));
  }
}

}  // namespace

std::span<const LadderStep> SiboehmLadder() { return kSiboehm; }
std::span<const LadderStep> YzhaiLadder() { return kYzhai; }

std::vector<Prediction> Predict(std::span<const LadderStep> steps) {
  std::vector<Prediction> predictions;
  for (const LadderStep& step : steps) {
    const GpuMachine& gpu = Gpu(step.gpu);
    const absl::StatusOr<KernelWork> work =
        SgemmWork(Sgemm(step.kernel), ModelMix(gpu.compute_capability), gpu, step.size);
    ASSAY_CHECK(work.ok());
    const absl::StatusOr<TimeEstimate> estimate = EstimateTime(gpu, *work);
    ASSAY_CHECK(estimate.ok());
    Prediction prediction;
    prediction.estimate = *estimate;
    const double flops = 2.0 * step.size * step.size * step.size;
    prediction.gflops = flops / estimate->seconds * 1e-9;
    prediction.error = prediction.gflops / step.gflops - 1;
    predictions.push_back(prediction);
  }
  return predictions;
}

std::vector<ChipFigure> ChipFigures() {
  return {
      {kT4, "FP32 multiplication", 4.43e12, Fp32Rate(kT4), kTorch, true},
      {kT4, "FP16 multiplication, short runs", 42.71e12, TensorRate(kT4, false), kTorch, false},
      {kT4, "FP16 multiplication, cublasHgemm", 50e12, TensorRate(kT4, false),
       "NVIDIA/cutlass 1567", false},
      {kT4, "FP16 multiplication, sustained", 24e12, TensorRate(kT4, true), "NVIDIA forum 264462",
       true},
      {kT4, "copy", 239.6e9, StreamRate(kT4, kCopy, 1), "router-gao/cuda-demo", true},
      {kH200, "FP32 multiplication", 51.34e12, Fp32Rate(kH200), kTorch, false},
      {kH200, "BF16 multiplication", 790.29e12, TensorRate(kH200, true), kTorch, true},
      {kH200, "copy", 4.3e12, StreamRate(kH200, kCopy, 1), "others' H200, no record", true},
      {kH200, "triad", 3.5e12, StreamRate(kH200, kTriad, 2),
       "others' H200, one block an SM, no record", false},
      {kA6000, "FP32 multiplication", 23.92e12, Fp32Rate(kA6000), kTorch, false},
      {k2080, "FP32 multiplication", 10.595e12, Fp32Rate(k2080),
       "yzhaiustc/Optimizing-SGEMM-on-NVIDIA-Turing-GPUs", false},
  };
}

std::string PublishedTable() {
  std::string text =
      "| RTX A6000, siboehm | kernel | size | published | predicted | error | binds, next |\n"
      "|---|---|---|---|---|---|---|\n";
  AppendLadder(SiboehmLadder(), &text);
  absl::StrAppend(&text,
                  "\n| RTX 2080 Super, yzhaiustc | kernel | size | published | predicted | error | "
                  "binds, next |\n|---|---|---|---|---|---|---|\n");
  AppendLadder(YzhaiLadder(), &text);
  absl::StrAppend(&text,
                  "\n| chip | what | published | predicted | error | source |\n"
                  "|---|---|---|---|---|---|\n");
  for (const ChipFigure& figure : ChipFigures()) {
    const bool bytes =
        figure.published < 5e12 && figure.predicted < 5e12 &&
        absl::string_view(figure.what).find("multiplication") == absl::string_view::npos;
    const double unit = bytes ? 1e9 : 1e12;
    absl::StrAppendFormat(&text, "| %s | %s | %.4g %s | %.4g | %+.0f %% | %s%s |\n", figure.gpu,
                          figure.what, figure.published / unit, bytes ? "GB/s" : "Tflop/s",
                          figure.predicted / unit, 100 * (figure.predicted / figure.published - 1),
                          figure.source, figure.input ? " (an input)" : "");
  }
  return text;
}

}  // namespace assay::model
