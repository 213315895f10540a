// SPDX-License-Identifier: Apache-2.0
// Any bytes as a cubin: read without harm, and what is read writes and reads as the same mix.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu/model/cubin.h"
#include "gpu/model/mix.h"
#include "numerics/core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::model;  // lint: allow(namespaces): a fuzz target is one function
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Cubin> cubin = ReadCubin(bytes);
  if (!cubin.ok()) return 0;
  const absl::StatusOr<Mix> mix = MixOfAll(*cubin);
  if (!mix.ok()) return 0;
  const std::string text = FormatMix(*mix);
  const absl::StatusOr<Mix> again = ParseMix(text);
  ASSAY_CHECK(again.ok());
  ASSAY_CHECK(FormatMix(*again) == text);
  return 0;
}
