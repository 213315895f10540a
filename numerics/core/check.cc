// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/check.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace assay::internal {

#ifdef __EMSCRIPTEN__

void CheckFailed(const char*, int, const char*) { __builtin_trap(); }

void CheckComparisonFailed(const char*, int, const char*, const CheckOperand&,
                           const CheckOperand&) {
  __builtin_trap();
}

#else

namespace {

void Print(const CheckOperand& operand) {
  switch (operand.kind) {
    case CheckOperand::Kind::kNone:
      std::fputs("?", stderr);
      break;
    case CheckOperand::Kind::kSigned:
      std::fprintf(stderr, "%" PRId64, operand.as_signed);
      break;
    case CheckOperand::Kind::kUnsigned:
      std::fprintf(stderr, "%" PRIu64, operand.as_unsigned);
      break;
    case CheckOperand::Kind::kReal:
      std::fprintf(stderr, "%.17g", operand.as_real);
      break;
  }
}

}  // namespace

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

void CheckComparisonFailed(const char* file, int line, const char* condition, const CheckOperand& a,
                           const CheckOperand& b) {
  std::fprintf(stderr, "%s:%d: check failed: %s (", file, line, condition);
  Print(a);
  std::fputs(" against ", stderr);
  Print(b);
  std::fputs(")\n", stderr);
  std::abort();
}

#endif

}  // namespace assay::internal
