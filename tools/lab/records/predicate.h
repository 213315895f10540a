// SPDX-License-Identifier: Apache-2.0
//
// Predicates: what decides a claim, written over the figures of a lab.
//
//   naive_error / kahan_error >= 1000
//   all(errors.kahan_ulps <= 2) and last(errors.n) == 65536
//   median(tiled) / median(naive) <= 0.33
//
// Values are f64 numbers, truth values, texts, and arrays of each. A name is a figure's id or
// table.column (an array); the id of a measured figure is the array of its samples. From weak to
// strong: or, and, not, comparisons (< <= > >= == !=, which chain: 1 < a < 2), + -, * /, unary -.
// Arithmetic and comparisons go element by element, a scalar beside an array serving each element.
//   min max           of an array, or of several scalars
//   sum mean median   of an array of numbers (median of an even number: the middle of the two)
//   abs sqrt log2     of a number, or of each element
//   len first last    of an array, at(array, i) with i from 0
//   count all any     of an array of truth values
// Comparisons with NaN are false (!= is true), as IEEE 754 has them. A predicate comes to one truth
// value. `and` and `or` do not look at their right side when the left decides.
#ifndef ASSAY_TOOLS_LAB_RECORDS_PREDICATE_H_
#define ASSAY_TOOLS_LAB_RECORDS_PREDICATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::lab {

// A value in a predicate.
struct Operand {
  enum class Kind { kNumber, kBool, kText };
  Kind kind = Kind::kNumber;
  bool is_array = false;
  std::vector<double> numbers = {};     // of kNumber, and 0 or 1 of kBool
  std::vector<std::string> texts = {};  // of kText

  static Operand Number(double value) { return {.numbers = {value}}; }
  static Operand Bool(bool value) { return {.kind = Kind::kBool, .numbers = {value ? 1.0 : 0.0}}; }
  static Operand Text(std::string value) {
    return {.kind = Kind::kText, .texts = {std::move(value)}};
  }
  static Operand Numbers(std::vector<double> values) {
    return {.is_array = true, .numbers = std::move(values)};
  }
};

// One comparison that was decided, as a page shows it.
struct Comparison {
  std::string left, op, right;          // source text
  std::string left_value, right_value;  // shortest round trip; for an array its length and range
  bool holds = false;
};

struct Verdict {
  bool holds = false;
  bool narrow = false;  // holds, but some deciding comparison only by less than the margin
  std::vector<Comparison> evidence = {};
};

class Predicate {
 public:
  // Fails: InvalidArgument with the column (from 1) and what was expected there; also for more than
  // 4,000 characters or 100 levels.
  static absl::StatusOr<Predicate> Parse(std::string_view text);

  // The names it uses, each once, in order: "id" or "table.column".
  const std::vector<std::string>& names() const { return names_; }
  const std::string& text() const { return *text_; }

  // Gives the value of a name.
  using Scope = std::function<absl::StatusOr<Operand>(std::string_view name)>;

  // Decides it.
  //   margin: relative; see Verdict::narrow.
  // Fails: InvalidArgument with the column for values that do not fit their operation, and with
  // what the scope says.
  absl::StatusOr<Verdict> Evaluate(const Scope& scope, double margin = 0) const;

  struct Node;

 private:
  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const Node> root_;
  std::vector<std::string> names_;
};

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_RECORDS_PREDICATE_H_
