// SPDX-License-Identifier: Apache-2.0
#include "web/articles/roofline/host_jobs.h"

#include "gtest/gtest.h"

namespace assay::roofline_page {
namespace {

TEST(HostJobsTest, ResultsAreThoseOfPlainLoops) {
  HostJobs jobs;
  // Nothing done yet: the checks must see it.
  EXPECT_FALSE(jobs.CheckProduct().ok());
  EXPECT_FALSE(jobs.CheckLayer().ok());
  EXPECT_FALSE(jobs.CheckAdd().ok());
  jobs.Product();
  jobs.Layer();
  jobs.Add();
  EXPECT_TRUE(jobs.CheckProduct().ok()) << jobs.CheckProduct();
  EXPECT_TRUE(jobs.CheckLayer().ok()) << jobs.CheckLayer();
  EXPECT_TRUE(jobs.CheckAdd().ok()) << jobs.CheckAdd();
}

}  // namespace
}  // namespace assay::roofline_page
