// SPDX-License-Identifier: Apache-2.0
//
// Three faults for a fuzzer to find, each behind a word of four letters.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "numerics/core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text == "read") {
    const std::vector<uint8_t> copy(data, data + size);
    volatile uint8_t beyond = copy.data()[size];
    static_cast<void>(beyond);
  } else if (text == "wrap") {
    volatile int sum = std::numeric_limits<int>::max();
    sum = sum + static_cast<int>(size);
  } else if (text == "fail") {
    ASSAY_DCHECK(size < 4);
  }
  return 0;
}
