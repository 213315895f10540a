// SPDX-License-Identifier: Apache-2.0
//
// Checks for our own bugs: a broken invariant, an index out of range, a precondition that the
// documentation states. Data that comes from outside gets a status instead, never a check.
//
//   ASSAY_CHECK(cond)        aborts with file, line and the condition when cond is false
//   ASSAY_CHECK_EQ(a, b)     likewise for a == b, printing both values; also NE, LT, LE, GT, GE
//   ASSAY_DCHECK(cond), ...  the same in debug builds (NDEBUG unset); otherwise cond is compiled
//   but
//                            not evaluated
//
// In WebAssembly a failed check is a trap without text: printing would pull formatted output and
// its system imports into every module. The page's loader turns the trap into a failed state.
#ifndef ASSAY_NUMERICS_CORE_CHECK_H_
#define ASSAY_NUMERICS_CORE_CHECK_H_

#include <cstdint>
#include <type_traits>

namespace assay::internal {

// One operand of a failed comparison, in a form that a non-template function can print.
struct CheckOperand {
  enum class Kind { kNone, kSigned, kUnsigned, kReal } kind = Kind::kNone;
  int64_t as_signed = 0;
  uint64_t as_unsigned = 0;
  double as_real = 0.0;
};

template <class T>
CheckOperand MakeCheckOperand(const T& value) {
  CheckOperand operand;
  if constexpr (std::is_enum_v<T>) {
    operand.kind = CheckOperand::Kind::kSigned;
    operand.as_signed = static_cast<int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    operand.kind = CheckOperand::Kind::kReal;
    operand.as_real = static_cast<double>(value);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    operand.kind = CheckOperand::Kind::kSigned;
    operand.as_signed = static_cast<int64_t>(value);
  } else if constexpr (std::is_integral_v<T>) {
    operand.kind = CheckOperand::Kind::kUnsigned;
    operand.as_unsigned = static_cast<uint64_t>(value);
  }
  return operand;
}

// Prints to stderr (natively) and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
[[noreturn]] void CheckComparisonFailed(const char* file, int line, const char* condition,
                                        const CheckOperand& a, const CheckOperand& b);

}  // namespace assay::internal

#define ASSAY_CHECK(condition)                                        \
  do {                                                                \
    if (!(condition)) [[unlikely]]                                    \
      ::assay::internal::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

#define ASSAY_INTERNAL_CHECK_OP(a, op, b)                      \
  do {                                                         \
    const auto& assay_check_a = (a);                           \
    const auto& assay_check_b = (b);                           \
    if (!(assay_check_a op assay_check_b)) [[unlikely]]        \
      ::assay::internal::CheckComparisonFailed(                \
          __FILE__, __LINE__, #a " " #op " " #b,               \
          ::assay::internal::MakeCheckOperand(assay_check_a),  \
          ::assay::internal::MakeCheckOperand(assay_check_b)); \
  } while (false)

#define ASSAY_CHECK_EQ(a, b) ASSAY_INTERNAL_CHECK_OP(a, ==, b)
#define ASSAY_CHECK_NE(a, b) ASSAY_INTERNAL_CHECK_OP(a, !=, b)
#define ASSAY_CHECK_LT(a, b) ASSAY_INTERNAL_CHECK_OP(a, <, b)
#define ASSAY_CHECK_LE(a, b) ASSAY_INTERNAL_CHECK_OP(a, <=, b)
#define ASSAY_CHECK_GT(a, b) ASSAY_INTERNAL_CHECK_OP(a, >, b)
#define ASSAY_CHECK_GE(a, b) ASSAY_INTERNAL_CHECK_OP(a, >=, b)

#ifdef NDEBUG
#define ASSAY_INTERNAL_DCHECK(check) \
  do {                               \
    if (false) {                     \
      check;                         \
    }                                \
  } while (false)
#else
#define ASSAY_INTERNAL_DCHECK(check) check
#endif

#define ASSAY_DCHECK(condition) ASSAY_INTERNAL_DCHECK(ASSAY_CHECK(condition))
#define ASSAY_DCHECK_EQ(a, b) ASSAY_INTERNAL_DCHECK(ASSAY_CHECK_EQ(a, b))
#define ASSAY_DCHECK_NE(a, b) ASSAY_INTERNAL_DCHECK(ASSAY_CHECK_NE(a, b))
#define ASSAY_DCHECK_LT(a, b) ASSAY_INTERNAL_DCHECK(ASSAY_CHECK_LT(a, b))
#define ASSAY_DCHECK_LE(a, b) ASSAY_INTERNAL_DCHECK(ASSAY_CHECK_LE(a, b))
#define ASSAY_DCHECK_GT(a, b) ASSAY_INTERNAL_DCHECK(ASSAY_CHECK_GT(a, b))
#define ASSAY_DCHECK_GE(a, b) ASSAY_INTERNAL_DCHECK(ASSAY_CHECK_GE(a, b))

#endif  // ASSAY_NUMERICS_CORE_CHECK_H_
