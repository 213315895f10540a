// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/internal/validate.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"

namespace assay::gemm::internal {
namespace {

struct Named {
  const char* name;
  const Place& place;
};

std::string Shape(const Named& m) {
  return absl::StrCat(m.name, " is ", m.place.rows, " x ", m.place.cols);
}

bool Empty(const Place& p) { return p.rows == 0 || p.cols == 0 || p.count == 0; }

// Bytes from the first element's begin to the last one's end; false if there are too many to count.
bool Extent(const Place& p, int64_t* bytes) {
  int64_t down = 0;
  int64_t across = 0;
  int64_t along = 0;
  return !__builtin_mul_overflow(p.rows - 1, p.row_stride, &down) &&
         !__builtin_mul_overflow(p.cols - 1, p.col_stride, &across) &&
         !__builtin_mul_overflow(p.count - 1, p.stride, &along) &&
         !__builtin_add_overflow(down, across, &down) &&
         !__builtin_add_overflow(down, along, &down) &&
         !__builtin_add_overflow(down, int64_t{1}, &down) &&
         !__builtin_mul_overflow(down, p.element_bytes, bytes);
}

absl::Status Numbers(const Named& m) {
  const Place& p = m.place;
  if (p.rows < 0 || p.cols < 0) {
    return absl::InvalidArgumentError(absl::StrCat("extents must not be negative: ", Shape(m)));
  }
  if (p.row_stride < 0 || p.col_stride < 0 || p.stride < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("strides must not be negative: ", m.name, " has ", p.row_stride,
                     " from row to row, ", p.col_stride, " from column to column",
                     p.stride < 0 ? absl::StrCat(", ", p.stride, " from matrix to matrix") : ""));
  }
  int64_t bytes = 0;
  if (!Empty(p) && !Extent(p, &bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(Shape(m), " with strides ", p.row_stride,
                                                   " and ", p.col_stride,
                                                   ", which passes 2^63 bytes"));
  }
  return absl::OkStatus();
}

// One level of a place: `steps` of `stride` elements.
struct Level {
  int64_t stride;
  int64_t steps;
};

// Whether two elements of a matrix, or of a batch, lie at one place. Exact for levels that nest;
// levels that interleave (a stride smaller than what the levels below it span) are taken to share.
bool SharesWithItself(const Place& p) {
  Level levels[3] = {{p.col_stride, p.cols}, {p.row_stride, p.rows}, {p.stride, p.count}};
  // A total order: equal levels are alike.
  std::sort(std::begin(levels), std::end(levels), [](const Level& x, const Level& y) {
    return std::pair(x.stride, x.steps) < std::pair(y.stride, y.steps);
  });
  int64_t span = 1;
  for (const Level& level : levels) {
    if (level.steps <= 1) continue;
    if (level.stride < span) return true;
    span += (level.steps - 1) * level.stride;
  }
  return false;
}

// Of an array of lines `line` bytes long: the part of each line that p's elements lie in. False if
// p does not lie so.
bool Window(const Place& p, int64_t line, int64_t* begin, int64_t* length) {
  int64_t within = 1;
  for (const Level& level :
       {Level{p.col_stride, p.cols}, Level{p.row_stride, p.rows}, Level{p.stride, p.count}}) {
    if (level.steps <= 1 || level.stride * p.element_bytes % line == 0) continue;
    within += (level.steps - 1) * level.stride;
  }
  *length = within * p.element_bytes;
  *begin = static_cast<int64_t>(reinterpret_cast<uintptr_t>(p.data) % static_cast<uintptr_t>(line));
  return *length <= line;
}

}  // namespace

bool MayOverlap(const Place& x, const Place& y) {
  if (Empty(x) || Empty(y)) return false;
  int64_t x_bytes = 0;
  int64_t y_bytes = 0;
  if (!Extent(x, &x_bytes) || !Extent(y, &y_bytes)) return true;
  const auto x_begin = reinterpret_cast<uintptr_t>(x.data);
  const auto y_begin = reinterpret_cast<uintptr_t>(y.data);
  if (x_begin + static_cast<uintptr_t>(x_bytes) <= y_begin ||
      y_begin + static_cast<uintptr_t>(y_bytes) <= x_begin) {
    return false;
  }
  // Parts of one array: on its lines the two keep to places of their own.
  for (const int64_t stride : {y.row_stride, y.col_stride, y.stride}) {
    const int64_t line = stride * y.element_bytes;
    int64_t x_at = 0;
    int64_t x_length = 0;
    int64_t y_at = 0;
    int64_t y_length = 0;
    if (line == 0 || !Window(x, line, &x_at, &x_length) || !Window(y, line, &y_at, &y_length)) {
      continue;
    }
    const int64_t ahead = (y_at - x_at + line) % line;  // from x's window on to y's
    if (ahead >= x_length && ahead + y_length <= line) return false;
  }
  return true;
}

absl::Status ValidateProduct(const Place& a, const Place& b, const Place& c) {
  for (const Named& m : {Named{"A", a}, Named{"B", b}, Named{"C", c}}) {
    if (absl::Status status = Numbers(m); !status.ok()) return status;
  }
  if (a.rows != c.rows || b.cols != c.cols || a.cols != b.rows) {
    return absl::InvalidArgumentError(absl::StrCat(Shape({"A", a}), ", ", Shape({"B", b}), ", ",
                                                   Shape({"C", c}),
                                                   "; expected A m x k, B k x n, C m x n"));
  }
  if (Empty(c)) return absl::OkStatus();
  if (SharesWithItself(c)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "elements of C share memory: ", Shape({"C", c}), " with strides ", c.row_stride, " and ",
        c.col_stride,
        c.count > 1 ? absl::StrCat(", ", c.count, " of them ", c.stride, " apart") : ""));
  }
  for (const Named& m : {Named{"A", a}, Named{"B", b}}) {
    if (MayOverlap(m.place, c)) {
      return absl::InvalidArgumentError(absl::StrCat(m.name, " and C share memory"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateLength(const char* what, int64_t length, int64_t expected) {
  if (length == 0 || length == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has ", length, " elements; expected ", expected, " or none"));
}

}  // namespace assay::gemm::internal
