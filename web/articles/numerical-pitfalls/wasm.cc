// SPDX-License-Identifier: Apache-2.0
//
// The C face of <assay-numerical-pitfalls>: text in, a JSON document out (calculator.h).
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "web/articles/numerical-pitfalls/calculator.h"

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
      return "the mode must be 0, 1 or 2";
    case 3:
      return "the answer is longer than the room for it";
    default:
      return "an unknown error";
  }
}

// Analyses `length` bytes of text.
//   mode: 0 expression, 1 sum, 2 softmax.   out: [capacity] bytes, zero-filled behind the document.
// Returns 0 or a code for message(). What is wrong with the text is said in the document.
int analyse(int32_t mode, const char* text, uint32_t length, uint8_t* out, uint32_t capacity) {
  namespace demo = assay::numerical_pitfalls;
  if (length > static_cast<uint32_t>(demo::kMaxText)) return 1;
  if (mode < 0 || mode > 2) return 2;
  const std::string_view view(text, length);
  const std::string json = mode == 0   ? demo::AnalyseExpression(view)
                           : mode == 1 ? demo::AnalyseSum(view)
                                       : demo::AnalyseSoftmax(view);
  if (json.size() > capacity) return 3;
  std::memset(out, 0, capacity);
  std::memcpy(out, json.data(), json.size());
  return 0;
}
}
