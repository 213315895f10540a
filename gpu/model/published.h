// SPDX-License-Identifier: Apache-2.0
// The model beside what others measured.
#ifndef ASSAY_GPU_MODEL_PUBLISHED_H_
#define ASSAY_GPU_MODEL_PUBLISHED_H_

#include <span>
#include <string>
#include <vector>

#include "gpu/model/time.h"

namespace assay::model {

// A step of a published ladder of SGEMM kernels, for square matrices (cited), and the kernel of
// ours that is built like it.
struct LadderStep {
  const char* gpu;     // the machine's name
  const char* step;    // as its author calls it
  const char* kernel;  // of kernels/sgemm.cu.h
  int size;            // m = n = k
  double gflops;       // 1e9 flop/s
};

// siboehm/SGEMM_CUDA, README (RTX A6000); yzhaiustc/Optimizing-SGEMM-on-NVIDIA-Turing-GPUs,
// data/res_*.txt at ccf8c26 (RTX 2080 Super; the two versions of that data differ by up to 16 %).
// In the order of their speed, slowest first.
std::span<const LadderStep> SiboehmLadder();
std::span<const LadderStep> YzhaiLadder();

struct Prediction {
  TimeEstimate estimate;
  double gflops = 0;
  double error = 0;  // predicted over published, minus 1
};

// Predicts each step. Cost: two small simulations a step.
std::vector<Prediction> Predict(std::span<const LadderStep> steps);

// A figure for a whole chip, from a library's own kernels (cited), and the roof that the model has
// for it: arithmetic or memory alone, the efficiency and the power limit included.
struct ChipFigure {
  const char* gpu;
  const char* what;
  double published;  // flop/s or byte/s
  double predicted;
  const char* source;
  bool input;  // the machine file is made from it, so that it proves nothing
};
std::vector<ChipFigure> ChipFigures();

// All of it as Markdown, as README.md has it.
std::string PublishedTable();

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_PUBLISHED_H_
