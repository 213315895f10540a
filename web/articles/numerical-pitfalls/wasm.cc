// SPDX-License-Identifier: Apache-2.0
//
// The C face of <assay-numerical-pitfalls>: text in, a JSON document out (explorer.h,
// calculator.h).
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "numerics/floating/anatomy.h"
#include "web/articles/numerical-pitfalls/calculator.h"
#include "web/articles/numerical-pitfalls/explorer.h"

extern "C" {

void* alloc(uint32_t n) { return std::malloc(n); }
void dealloc(void* p) { std::free(p); }

const char* message(int code) {
  switch (code) {
    case 0:
      return "no error";
    case 1:
      return "the text is longer than the demo takes";
    case 2:
      return "the mode must be 0, 1 or 2, the format 0 to 3";
    case 3:
      return "the answer is longer than the room for it";
    default:
      return "an unknown error";
  }
}

// Analyses `length` bytes of text.
//   mode: 0 expression, 1 sum, 2 softmax.
//   values: [values_length] bytes, "x = 1e12": for an expression; axis: [axis_length] bytes, the
//   name
//     of the variable over which its errors are drawn, from 10^low to 10^high.
//   format: 0 f16, 1 bf16, 2 f32, 3 f64: where a better form is looked for.
//   out: [capacity] bytes, zero-filled behind the document.
// Returns 0 or a code for message(). What is wrong with the text is said in the document.
int analyse(int32_t mode, const char* text, uint32_t length, const char* values,
            uint32_t values_length, const char* axis, uint32_t axis_length, int32_t low,
            int32_t high, int32_t format, uint8_t* out, uint32_t capacity) {
  namespace demo = assay::numerical_pitfalls;
  constexpr uint32_t kMost = static_cast<uint32_t>(demo::kMaxText);
  if (length > kMost || values_length > kMost || axis_length > kMost) return 1;
  if (mode < 0 || mode > 2 || format < 0 || format > 3) return 2;
  const std::string_view view(text, length);
  demo::ExplorerOptions options;
  options.format = assay::floating::kFormats[static_cast<size_t>(format)];
  options.axis = std::string_view(axis, axis_length);
  options.low = low;
  options.high = high;
  const std::string json =
      mode == 0   ? demo::Explore(view, std::string_view(values, values_length), options)
      : mode == 1 ? demo::AnalyseSum(view)
                  : demo::AnalyseSoftmax(view);
  if (json.size() > capacity) return 3;
  std::memset(out, 0, capacity);
  std::memcpy(out, json.data(), json.size());
  return 0;
}
}
