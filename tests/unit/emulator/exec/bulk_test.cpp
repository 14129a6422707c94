// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk in all directions, the barriers that wait for its bytes, and what hooks hear of it.

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

struct Heard final : AccessHook {
  void on_access(WarpContext&, const WarpAccess& access) override {
    const auto lane = static_cast<unsigned>(std::countr_zero(access.mask));
    log += std::to_string(access.flags) + ":" + std::to_string(access.size) + "@" +
           std::to_string(access.addresses[lane] & 0xfff) + " ";
  }
  void on_block_enter(WarpContext&, U64, U32) override {}
  void on_block_exit(WarpContext&, U64, U32) override {}
  void on_device_malloc(WarpContext&, U64, U32, const U64*, const U64*) override {}
  void on_device_free(WarpContext&, U64, U32, const U64*) override {}
  [[nodiscard]] U32 wanted_spaces() const override {
    return 1u << static_cast<unsigned>(ptx::Space::kGlobal);
  }
  [[nodiscard]] bool wants_blocks() const override { return false; }
  std::string log;
};

// 64 threads; the first one copies, all wait.
std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 in, .param .u64 out) {
      .reg .pred %p, %done; .reg .b32 %t, %r<9>; .reg .b64 %in, %out, %rd<9>;
      .shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;
      ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;
      @%p mbarrier.init.shared.b64 [bar], 64; bar.sync 0;)" +
         body + " ret; }";
}

constexpr const char* kWait =
    " WAIT: mbarrier.try_wait.parity.shared.b64 %done, [bar], 0; @!%done bra WAIT;";
constexpr const char* kStoreOwn =
    " mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; ld.shared.u32 %r2, [%r1];"
    " mul.wide.u32 %rd1, %t, 4; add.s64 %rd1, %rd1, %out; st.global.u32 [%rd1], %r2;";

std::vector<U32> numbers(std::size_t count) {
  std::vector<U32> values(count);
  std::iota(values.begin(), values.end(), 100u);
  return values;
}

TEST(BulkCopies, WaitForTheirBytesInEitherOrder) {
  const std::string copy =
      "@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 256,"
      " [bar];";
  const std::string expect = "@%p mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;";
  for (const std::string& start : {copy + expect, expect + copy}) {
    Machine machine(
        kernel(start + "@!%p mbarrier.arrive.shared.b64 %rd3, [bar];" + kWait + kStoreOwn));
    Heard heard;
    machine.config.hook = &heard;
    const U64 out = machine.upload(std::vector<U32>(64));
    const LaunchResult result = machine.run("k", {1}, {64}, machine.upload(numbers(64)), out);
    ASSERT_FALSE(result.fault) << result.fault->text;
    EXPECT_EQ(machine.download<U32>(out, 64), numbers(64));
    EXPECT_TRUE(heard.log.starts_with("1:256@")) << heard.log;
  }
}

TEST(BulkCopies, StoreAndReduce) {
  Machine machine(kernel(R"(mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; st.shared.u32 [%r1], %t;
      bar.sync 0; @!%p bra END;
      cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 256;
      cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [tile], 128;
      cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%in], [tile], 256;
      cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:)"));
  Heard heard;
  machine.config.hook = &heard;
  const U64 in = machine.upload(std::vector<U32>(64, 30)),
            out = machine.upload(std::vector<U32>(64));
  const LaunchResult result = machine.run("k", {1}, {64}, in, out);
  ASSERT_FALSE(result.fault) << result.fault->text;
  const auto stored = machine.download<U32>(out, 64), most = machine.download<U32>(in, 64);
  for (U32 i = 0; i < 64; ++i) {
    EXPECT_EQ(stored[i], i < 32 ? 2 * i : i);
    EXPECT_EQ(most[i], std::max(i, 30u));
  }
  EXPECT_EQ(std::count(heard.log.begin(), heard.log.end(), ' '), 3) << heard.log;
}

TEST(BulkCopies, SayWhatIsWrong) {
  Machine machine(kernel("@%p cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 512;"));
  const U64 in = machine.upload(std::vector<U32>(64)), out = machine.upload(std::vector<U32>(64));
  const LaunchResult beyond = machine.run("k", {1}, {64}, in, out);
  ASSERT_TRUE(beyond.fault);
  EXPECT_EQ(beyond.fault->kind, FaultKind::kIllegalAddress);
  const LaunchResult odd = machine.run("k", {1}, {64}, in, out + 4);
  ASSERT_TRUE(odd.fault);
  EXPECT_EQ(odd.fault->kind, FaultKind::kMisalignedAddress);
  Machine tensors(
      kernel("@%p cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier"
             "::complete_tx::bytes [tile], [%in, {%t}], [bar];"));
  const LaunchResult unserved = tensors.run("k", {1}, {64}, in, out);
  ASSERT_TRUE(unserved.fault);
  EXPECT_EQ(unserved.fault->kind, FaultKind::kUnsupported);
}

// Two blocks of a cluster: rank 0 sends its tile to both.
TEST(BulkCopies, ReachTheBlocksOfACluster) {
  Machine machine(R"(.visible .entry k(.param .u64 in, .param .u64 out) {
      .reg .pred %p, %q, %done; .reg .b32 %t, %r<9>; .reg .b16 %h; .reg .b64 %in, %out, %rd<9>;
      .shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;
      ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;
      mov.u32 %r5, %cluster_ctarank; setp.eq.and.u32 %q, %r5, 0, %p; mov.u16 %h, 3;
      @%p mbarrier.init.shared.b64 [bar], 1; barrier.cluster.arrive; barrier.cluster.wait;
      @%p mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
      @%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%in], 256,
      [bar], %h; WAIT: mbarrier.try_wait.parity.shared.b64 %done, [bar], 0; @!%done bra WAIT;
      mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1; ld.shared.u32 %r2, [%r1]; mad.lo.u32 %r3, %r5, 64, %t;
      mul.wide.u32 %rd1, %r3, 4; add.s64 %rd1, %rd1, %out; st.global.u32 [%rd1], %r2;
      barrier.cluster.arrive.release; barrier.cluster.wait.acquire; ret; })");
  machine.config.cluster = {2};
  const U64 out = machine.upload(std::vector<U32>(128));
  const LaunchResult result = machine.run("k", {2}, {64}, machine.upload(numbers(64)), out);
  ASSERT_FALSE(result.fault) << result.fault->text;
  const auto found = machine.download<U32>(out, 128);
  for (U32 i = 0; i < 128; ++i)
    EXPECT_EQ(found[i], 100 + i % 64) << i;
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
