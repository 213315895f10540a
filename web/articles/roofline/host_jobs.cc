// SPDX-License-Identifier: Apache-2.0
#include "web/articles/roofline/host_jobs.h"

#include <utility>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"

namespace assay::roofline_page {
namespace {

// 0 to 6: products of 4096 of them stay below 2^24, where f32 has every whole number.
float Small(int64_t i, int64_t j) { return static_cast<float>((3 * i + 5 * j + i * j % 11) % 7); }

absl::Status Expect(float got, double expected, int64_t i, int64_t j) {
  if (static_cast<double>(got) == expected) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("element (", i, ", ", j, ") is ", got, ", expected ", expected));
}

}  // namespace

struct HostJobs::Arrays {
  Eigen::MatrixXf a, b, c, weights;
  Eigen::VectorXf input, output;
  Eigen::ArrayXf x, y, z;
};

HostJobs::HostJobs() : arrays_(std::make_unique<Arrays>()) {
  Arrays& s = *arrays_;
  s.a.resize(kProduct, kProduct);
  s.b.resize(kProduct, kProduct);
  s.c.setZero(kProduct, kProduct);
  for (int64_t i = 0; i < kProduct; ++i) {
    for (int64_t j = 0; j < kProduct; ++j) {
      s.a(i, j) = Small(i, j);
      s.b(i, j) = Small(j + 1, i);
    }
  }
  s.weights.resize(kLayer, kLayer);
  for (int64_t j = 0; j < kLayer; ++j) {
    for (int64_t i = 0; i < kLayer; ++i) s.weights(i, j) = Small(i, j);
  }
  s.input.resize(kLayer);
  for (int64_t j = 0; j < kLayer; ++j) s.input(j) = Small(j, 2);
  s.output.setZero(kLayer);
  s.x.resize(kAdd);
  s.y.resize(kAdd);
  for (int64_t i = 0; i < kAdd; ++i) {
    s.x(i) = Small(i, 1);
    s.y(i) = Small(2, i);
  }
  s.z.setZero(kAdd);
}

HostJobs::~HostJobs() = default;

void HostJobs::Product() { arrays_->c.noalias() = arrays_->a * arrays_->b; }
void HostJobs::Layer() { arrays_->output.noalias() = arrays_->weights * arrays_->input; }
void HostJobs::Add() { arrays_->z = arrays_->x + arrays_->y; }

absl::Status HostJobs::CheckProduct() const {
  const Arrays& s = *arrays_;
  // A diagonal and a row: every tile of the product is met.
  for (int64_t i = 0; i < kProduct; ++i) {
    for (const auto& [row, column] : {std::pair(i, i), std::pair(kProduct / 3, i)}) {
      double sum = 0;
      for (int64_t k = 0; k < kProduct; ++k) {
        sum += static_cast<double>(s.a(row, k)) * static_cast<double>(s.b(k, column));
      }
      if (absl::Status status = Expect(s.c(row, column), sum, row, column); !status.ok()) {
        return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status HostJobs::CheckLayer() const {
  const Arrays& s = *arrays_;
  for (int64_t i = 0; i < kLayer; i += 7) {
    double sum = 0;
    for (int64_t j = 0; j < kLayer; ++j) {
      sum += static_cast<double>(s.weights(i, j)) * static_cast<double>(s.input(j));
    }
    if (absl::Status status = Expect(s.output(i), sum, i, 0); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status HostJobs::CheckAdd() const {
  const Arrays& s = *arrays_;
  for (int64_t i = 0; i < kAdd; ++i) {
    const double sum = static_cast<double>(s.x(i)) + static_cast<double>(s.y(i));
    if (absl::Status status = Expect(s.z(i), sum, i, 0); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace assay::roofline_page
