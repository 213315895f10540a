// SPDX-License-Identifier: Apache-2.0
//
// What the page times on the host beside the probes: Eigen's product, layer and addition in f32, in
// one thread, as a compiler makes them for any x86-64. Not exact.
#ifndef ASSAY_WEB_ARTICLES_ROOFLINE_HOST_JOBS_H_
#define ASSAY_WEB_ARTICLES_ROOFLINE_HOST_JOBS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"

namespace assay::roofline_page {

class HostJobs {
 public:
  static constexpr int64_t kProduct = 1024;          // rows and columns of a square product
  static constexpr int64_t kLayer = 4096;            // of a layer's weights
  static constexpr int64_t kAdd = int64_t{1} << 24;  // numbers of an addition

  // Arrays of small whole numbers, so that every result is exact in any order of additions.
  HostJobs();
  ~HostJobs();
  HostJobs(const HostJobs&) = delete;
  HostJobs& operator=(const HostJobs&) = delete;

  void Product();  // c = a b
  void Layer();    // y = w x
  void Add();      // z = x + y

  // Compares the last results with plain loops. Fails with DataLoss and what was found.
  absl::Status CheckProduct() const;
  absl::Status CheckLayer() const;
  absl::Status CheckAdd() const;

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace assay::roofline_page

#endif  // ASSAY_WEB_ARTICLES_ROOFLINE_HOST_JOBS_H_
