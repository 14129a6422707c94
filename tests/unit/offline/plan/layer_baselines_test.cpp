// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/layer_baselines.h"

#include <gtest/gtest.h>

#include "offline/plan/iterations.h"
#include "offline/plan/read_csv.h"
#include "tests/support/training_trace.h"

namespace drgpum {
namespace {

// Four layers of 100 bytes each, 10 ns a layer, then the backward pass frees them last first.
Problem chain() {
  return *parse_problem_csv(
      "time_ns,op,id,size\n"
      "0,layer,conv1,\n0,malloc,a,100\n0,write,a,\n"
      "10,layer,relu1,\n10,malloc,b,100\n10,read,a,\n10,write,b,\n"
      "20,layer,conv2,\n20,malloc,c,100\n20,read,b,\n20,write,c,\n"
      "30,layer,relu2,\n30,malloc,d,100\n30,read,c,\n30,write,d,\n"
      "40,layer,loss,\n40,malloc,e,10\n40,read,d,\n40,write,e,\n"
      "50,layer,relu2.backward,\n50,read,c,\n50,free,d,\n"
      "60,layer,conv2.backward,\n60,read,b,\n60,free,c,\n"
      "70,layer,relu1.backward,\n70,read,a,\n70,free,b,\n"
      "80,layer,conv1.backward,\n80,free,a,\n80,free,e,\n",
      "chain.csv");
}

TEST(LayerBaselines, RecomputationInTwoGroupsKeepsTheLastOutputOfEach) {
  const auto plans = plan_sublinear(chain());
  ASSERT_TRUE(plans) << plans.error().message;
  ASSERT_EQ(plans->size(), 4u);
  // Two groups: a and c are dropped. c comes back while b, d and e live; then a after d and c.
  EXPECT_EQ((*plans)[1].overhead_ns, 20);
  EXPECT_EQ((*plans)[1].peak_bytes, 310);
  // As many groups as layers: nothing is dropped.
  EXPECT_EQ((*plans)[3].overhead_ns, 0);
  EXPECT_EQ((*plans)[3].peak_bytes, 410);
}

TEST(LayerBaselines, NeedLayers) {
  const Problem none =
      *parse_problem_csv("time_ns,op,id,size\n0,malloc,a,1\n0,write,a,\n", "t.csv");
  const auto plans = plan_sublinear(none);
  ASSERT_FALSE(plans);
  EXPECT_EQ(plans.error().message,
            "t.csv: layers are needed before the peak: `layer` events, or NVTX ranges in a trace");
}

TEST(LayerBaselines, TradePeakForTimeOnANetwork) {
  const Problem trace = training_trace(testing::vgg_like(16, 64), {.iterations = 4});
  const Iterations found = *find_iterations(trace);
  const Problem iteration = window_of(trace, found.first, found.last);
  EXPECT_TRUE(validate(iteration));
  const std::int64_t peak = load_of(iteration);
  const auto sublinear = plan_sublinear(iteration);
  ASSERT_TRUE(sublinear);
  EXPECT_LT((*sublinear)[5].peak_bytes, peak);
  EXPECT_GT((*sublinear)[5].overhead_ns, 0);
  for (const double share : {0.8, 0.7}) {
    const auto limit = static_cast<std::int64_t>(share * static_cast<double>(peak));
    const auto geeps = plan_layer_swapping(iteration, {}, limit);
    ASSERT_TRUE(geeps);
    EXPECT_TRUE(geeps->feasible);
    EXPECT_LE(geeps->peak_bytes, limit);
    const auto super = plan_swap_and_recompute(iteration, {}, limit);
    ASSERT_TRUE(super);
    EXPECT_TRUE(super->feasible);
    EXPECT_LE(super->peak_bytes, limit);
    EXPECT_GT(super->overhead_ns, 0);
  }
}

}  // namespace
}  // namespace drgpum
