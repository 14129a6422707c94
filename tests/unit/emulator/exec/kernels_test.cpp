// SPDX-License-Identifier: Apache-2.0
// Whole kernels, as nvcc writes them.

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

constexpr std::string_view kVectorAdd = R"(
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd4, %rd1; cvta.to.global.u64 %rd6, %rd2; cvta.to.global.u64 %rd8, %rd3;
  mul.wide.s32 %rd5, %r1, 4;
  add.s64 %rd7, %rd4, %rd5; add.s64 %rd9, %rd6, %rd5; add.s64 %rd10, %rd8, %rd5;
  ld.global.f32 %f1, [%rd7]; ld.global.f32 %f2, [%rd9];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd10], %f3;
DONE:
  ret;
})";

TEST(Kernels, AddVectorsWhoseLastBlockIsPartlyIdle) {
  Machine machine(kVectorAdd);
  std::vector<float> a(1000), b(1000);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 0.5f);
  const auto pa = machine.upload(a), pb = machine.upload(b);
  const auto pc = machine.upload(std::vector<float>(1000, -1.0f));
  const LaunchResult result = machine.run("add", {8}, {128}, pa, pb, pc, 1000u);
  ASSERT_FALSE(result.fault) << result.fault->text;
  const auto c = machine.download<float>(pc, 1000);
  for (std::size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(c[i], a[i] + b[i]) << i;
  EXPECT_EQ(result.stats.blocks, 8u);
  EXPECT_EQ(result.stats.warps, 32u);
  EXPECT_EQ(result.stats.global_bytes, 1000u * 12);
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
