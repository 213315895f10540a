// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/config.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace assay::flops {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;

absl::Status Wrong(std::string_view field, int64_t given, std::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", given, ", expected ", expected));
}

absl::Status CheckSize(std::string_view field, int64_t given, int64_t least) {
  if (given >= least && given <= kLargest) return absl::OkStatus();
  return Wrong(field, given, absl::StrCat(least, " to 2^40"));
}

}  // namespace

int64_t MoeLayers(const ModelConfig& config) {
  if (config.experts == 0) return 0;
  // Multiples of moe_every among dense_layers + 1 .. layers.
  const int64_t first = std::min(config.dense_layers, config.layers);
  return config.layers / config.moe_every - first / config.moe_every;
}

int64_t DenseLayers(const ModelConfig& config) { return config.layers - MoeLayers(config); }

absl::Status Validate(const ModelConfig& c) {
  const struct {
    std::string_view field;
    int64_t given;
    int64_t least;
  } sizes[] = {
      {"layers", c.layers, 1},
      {"width", c.width, 1},
      {"heads", c.heads, 1},
      {"kv_heads", c.kv_heads, 1},
      {"head_size", c.head_size, 1},
      {"hidden", c.hidden, 0},
      {"vocabulary", c.vocabulary, 1},
      {"context", c.context, 1},
      {"window", c.window, 0},
      {"experts", c.experts, 0},
      {"active_experts", c.active_experts, 0},
      {"expert_hidden", c.expert_hidden, 0},
      {"shared_hidden", c.shared_hidden, 0},
      {"moe_every", c.moe_every, 1},
      {"dense_layers", c.dense_layers, 0},
  };
  for (const auto& size : sizes) {
    if (absl::Status status = CheckSize(size.field, size.given, size.least); !status.ok()) {
      return status;
    }
  }
  if (c.heads % c.kv_heads != 0) {
    return Wrong("heads", c.heads, absl::StrCat("a multiple of kv_heads, ", c.kv_heads));
  }
  if (c.positions == Positions::kRotary && c.head_size % 2 != 0) {
    return Wrong("head_size", c.head_size, "an even number, for rotary positions");
  }
  if (c.experts == 0) {
    if (c.active_experts != 0)
      return Wrong("active_experts", c.active_experts, "0 without experts");
    if (c.shared_hidden != 0) return Wrong("shared_hidden", c.shared_hidden, "0 without experts");
  } else {
    if (c.active_experts < 1 || c.active_experts > c.experts) {
      return Wrong("active_experts", c.active_experts, absl::StrCat("1 to experts, ", c.experts));
    }
    if (c.expert_hidden == 0) return Wrong("expert_hidden", 0, "1 to 2^40 with experts");
  }
  if (DenseLayers(c) > 0 && c.hidden == 0) {
    return Wrong("hidden", 0, absl::StrCat("1 to 2^40 for ", DenseLayers(c), " dense layers"));
  }
  return absl::OkStatus();
}

}  // namespace assay::flops
