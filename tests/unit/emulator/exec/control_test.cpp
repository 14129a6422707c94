// SPDX-License-Identifier: Apache-2.0
// Divergence, reconvergence, loops, spin locks, barriers, grid synchronisation.

#include <functional>

#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// %i: the thread's number in its block; %out: an array of words, zero at first; %at: &out[%i].
std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 out) {
      .reg .pred %p, %q; .reg .b32 %i, %r<12>; .reg .b64 %out, %at, %rd<9>;
      ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.s64 %at, %at, %out;
      )" +
         body + "\n}";
}

struct Outcome {
  LaunchResult result;
  std::vector<U32> out;
};

Outcome run(const std::string& body, U32 threads, U32 blocks = 1, U64 seed = 0,
            bool cooperative = false) {
  Machine machine(kernel(body));
  machine.config.schedule_seed = seed;
  machine.config.cooperative = cooperative;
  const U64 out = machine.upload(std::vector<U32>(1024));
  Outcome r{machine.run("k", {blocks}, {threads}, out), {}};
  r.out = machine.download<U32>(out, 1024);
  return r;
}

void expect_out(const Outcome& r, U32 threads, const std::function<U32(U32)>& of_thread) {
  ASSERT_FALSE(r.result.fault) << r.result.fault->text;
  for (U32 i = 0; i < threads; ++i)
    ASSERT_EQ(r.out[i], of_thread(i)) << i;
}

TEST(Control, MeetsAgainAfterAnIf) {
  // activemask after the join sees all lanes.
  expect_out(run(R"(and.b32 %r1, %i, 1; setp.eq.u32 %p, %r1, 0; @%p bra EVEN;
      mov.u32 %r2, 100; bra.uni JOIN; EVEN: mov.u32 %r2, 200; JOIN: activemask.b32 %r3;
      setp.eq.u32 %q, %r3, -1; selp.b32 %r4, 1, 0, %q; add.u32 %r2, %r2, %r4;
      st.global.u32 [%at], %r2; ret;)",
                 64),
             64, [](U32 i) { return i % 2 == 0 ? 201u : 101u; });
}

TEST(Control, MeetsAgainAfterALoopOfDifferentLengths) {
  expect_out(run(R"(mov.u32 %r1, 0; mov.u32 %r2, %i; LOOP: setp.eq.u32 %p, %r2, 0; @%p bra END;
      add.u32 %r1, %r1, %r2; sub.u32 %r2, %r2, 1; bra.uni LOOP; END: activemask.b32 %r3;
      popc.b32 %r3, %r3; mad.lo.u32 %r1, %r1, 100, %r3; st.global.u32 [%at], %r1; ret;)",
                 32),
             32, [](U32 i) { return i * (i + 1) / 2 * 100 + 32; });
}

// `continue` from the middle of a loop body: the lanes meet at the loop's head each time.
TEST(Control, MeetsAtTheHeadOfALoopWithContinue) {
  expect_out(run(R"(mov.u32 %r1, 0; mov.u32 %r2, 0; HEAD: activemask.b32 %r3; popc.b32 %r3, %r3;
      add.u32 %r1, %r1, %r3; add.u32 %r2, %r2, 1; setp.eq.u32 %q, %r2, 8; @%q bra END;
      add.u32 %r4, %r2, %i; and.b32 %r4, %r4, 1; setp.eq.u32 %p, %r4, 0; @%p bra HEAD;
      add.u32 %r1, %r1, 1000; bra.uni HEAD; END: st.global.u32 [%at], %r1; ret;)",
                 32),
             32, [](U32 i) { return 8 * 32 + 1000 * (i % 2 == 0 ? 4 : 3); });
}

TEST(Control, LetsLanesExitInsideABranch) {
  expect_out(run(R"(setp.gt.u32 %p, %i, 9; @%p exit; setp.gt.u32 %p, %i, 4; @%p bra HIGH;
      mov.u32 %r1, 1; bra.uni JOIN; HIGH: mov.u32 %r1, 2; JOIN: activemask.b32 %r2;
      mad.lo.u32 %r1, %r2, 4, %r1; st.global.u32 [%at], %r1; ret;)",
                 32),
             32, [](U32 i) { return i > 9 ? 0 : 0x3ffu * 4 + (i > 4 ? 2 : 1); });
}

TEST(Control, ExecutesGuardedInstructionsForSomeLanes) {
  expect_out(run(R"(mov.u32 %r1, 5; setp.lt.u32 %p, %i, 7; @%p add.u32 %r1, %r1, 10;
      @!%p st.global.u32 [%at+128], %r1; @%p st.global.u32 [%at], %r1; ret;)",
                 32),
             64, [](U32 i) { return i < 7    ? 15u
                                    : i < 39 ? 0u
                                             : 5u; });
}

TEST(Control, BranchesThroughATable) {
  expect_out(run(R"(and.b32 %r1, %i, 3; T: .branchtargets A, B, C, D; brx.idx %r1, T;
      A: mov.u32 %r2, 10; bra.uni JOIN; B: mov.u32 %r2, 20; bra.uni JOIN; C: mov.u32 %r2, 30;
      bra.uni JOIN; D: mov.u32 %r2, 40; JOIN: activemask.b32 %r3; popc.b32 %r3, %r3;
      add.u32 %r2, %r2, %r3; st.global.u32 [%at], %r2; ret;)",
                 32),
             32, [](U32 i) { return 10 * (i % 4 + 1) + 32; });
}

// The lane that takes the lock leaves the loop and must be let on while the others spin.
TEST(Control, MakesProgressWithASpinLockWithinAWarp) {
  const Outcome r =
      run(R"(SPIN: atom.global.cas.b32 %r1, [%out], 0, 1; setp.ne.u32 %p, %r1, 0; @%p bra SPIN;
      ld.volatile.global.u32 %r2, [%out+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%out+4], %r2;
      membar.gl; atom.global.exch.b32 %r3, [%out], 0; ret;)",
          64, 3);
  ASSERT_FALSE(r.result.fault) << r.result.fault->text;
  EXPECT_EQ(r.out[1], 192u);
}

TEST(Control, WaitsAtBarriersForAllWarps) {
  // Each warp writes its word, then reads the next warp's.
  expect_out(
      run(R"(.shared .align 4 .b8 s[1024]; mov.u32 %r1, s; shl.b32 %r2, %i, 2; add.u32 %r3, %r1, %r2;
      st.shared.u32 [%r3], %i; bar.sync 0; add.u32 %r4, %i, 32; rem.u32 %r4, %r4, 256; shl.b32 %r4, %r4, 2;
      add.u32 %r4, %r4, %r1; ld.shared.u32 %r5, [%r4]; st.global.u32 [%at], %r5; ret;)",
          256),
      256, [](U32 i) { return (i + 32) % 256; });
}

TEST(Control, DoesNotWaitForThreadsThatHaveExited) {
  expect_out(run(R"(setp.ge.u32 %p, %i, 40; @%p ret; bar.sync 0; mov.u32 %r1, 7;
      st.global.u32 [%at], %r1; ret;)",
                 128),
             128, [](U32 i) { return i < 40 ? 7u : 0u; });
}

TEST(Control, ReducesAtBarriers) {
  expect_out(run(R"(setp.lt.u32 %p, %i, 10; bar.red.popc.u32 %r1, 0, %p; bar.red.or.pred %q, 0, %p;
      selp.b32 %r2, 100, 0, %q; bar.red.and.pred %q, 0, !%p; selp.b32 %r3, 1000, 0, %q;
      add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [%at], %r1; ret;)",
                 96),
             96, [](U32) { return 110u; });
}

// Warp 0 produces, warp 1 consumes, on a barrier of their own; warp 2 takes no part.
TEST(Control, KeepsNamedBarriersApart) {
  expect_out(run(R"(.shared .align 4 .b8 s[4]; setp.ge.u32 %p, %i, 64; @%p bra END;
      setp.lt.u32 %p, %i, 32; @%p bra PRODUCER; bar.sync 3, 64; ld.shared.u32 %r1, [s];
      st.global.u32 [%at], %r1; bra.uni END; PRODUCER: mov.u32 %r2, 42; st.shared.u32 [s], %r2;
      bar.arrive 3, 64; END: bar.sync 0; ret;)",
                 96),
             96, [](U32 i) { return i >= 32 && i < 64 ? 42u : 0u; });
}

TEST(Control, SynchronisesWarpsPartByPart) {
  expect_out(
      run(R"(.shared .align 4 .b8 s[128]; mov.u32 %r1, s; shl.b32 %r2, %i, 2; add.u32 %r3, %r1, %r2;
      setp.lt.u32 %p, %i, 16; @%p bra LOW; mov.u32 %r4, 1; bra.uni JOIN; LOW: mov.u32 %r4, 2; JOIN:
      add.u32 %r4, %r4, %i; st.shared.u32 [%r3], %r4; bar.warp.sync 0xffffffff;
      xor.b32 %r5, %r2, 64; add.u32 %r5, %r5, %r1; ld.shared.u32 %r6, [%r5];
      st.global.u32 [%at], %r6; ret;)",
          32),
      32, [](U32 i) { return (i ^ 16) + ((i ^ 16) < 16 ? 2 : 1); });
}

TEST(Control, NamesABarrierThatCannotOpen) {
  const Outcome r =
      run(R"(setp.lt.u32 %p, %i, 32; @%p bra END; bar.sync 1, 96; END: bar.sync 0; ret;)", 64);
  ASSERT_TRUE(r.result.fault);
  EXPECT_EQ(r.result.fault->kind, FaultKind::kBarrierDeadlock);
  EXPECT_NE(r.result.fault->text.find("Deadlock"), std::string::npos) << r.result.fault->text;
}

// Blocks that wait for each other, as cooperative groups do through the grid's workspace.
TEST(Control, SynchronisesAGrid) {
  const std::string body =
      R"(mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; mov.b64 %rd1, {%r1, %r2};
      red.global.add.u32 [%out], 1; bar.sync 0; setp.ne.u32 %p, %i, 0; @%p bra WAITED;
      mov.u32 %r3, %nctaid.x; atom.global.add.u32 %r4, [%rd1+4], 1;
      SPIN: ld.acquire.gpu.u32 %r5, [%rd1+4]; setp.lt.u32 %p, %r5, %r3; @%p bra SPIN;
      WAITED: bar.sync 0; ld.global.u32 %r6, [%out]; st.global.u32 [%at+4], %r6; ret;)";
  for (const U64 seed : {0, 5}) {
    const Outcome r = run(body, 64, 12, seed, true);
    ASSERT_FALSE(r.result.fault) << r.result.fault->text;
    EXPECT_EQ(r.out[1], 12u * 64) << seed;
  }
}

// Block 0 waits for a flag that the last block sets.
TEST(Control, LetsBlocksWaitForLaterOnes) {
  const Outcome r =
      run(R"(mov.u32 %r1, %ctaid.x; setp.eq.u32 %p, %r1, 0; @%p bra SPIN; setp.ne.u32 %p, %r1, 5;
      @%p bra END; mov.u32 %r2, 1; st.volatile.global.u32 [%out+400], %r2; bra.uni END;
      SPIN: ld.volatile.global.u32 %r3, [%out+400]; setp.eq.u32 %p, %r3, 0; @%p bra SPIN;
      st.global.u32 [%at], %r3; END: ret;)",
          32, 6);
  ASSERT_FALSE(r.result.fault) << r.result.fault->text;
  EXPECT_EQ(r.out[31], 1u);
}

TEST(Control, RunsEveryBlockOnceInAnyOrder) {
  for (const U64 seed : {0, 1, 2, 99}) {
    const Outcome r =
        run(R"(mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd1, %out;
        setp.ne.u32 %p, %i, 0; @%p ret; atom.global.add.u32 %r2, [%out+4000], 1; add.u32 %r2, %r2, 1;
        red.global.add.u32 [%rd1], %r2; ret;)",
            64, 100, seed);
    ASSERT_FALSE(r.result.fault) << r.result.fault->text;
    U32 sum = 0;
    bool in_order = true;
    for (U32 i = 0; i < 100; ++i) {
      sum += r.out[i];
      in_order = in_order && r.out[i] == i + 1;
    }
    EXPECT_EQ(sum, 5050u);
    EXPECT_EQ(in_order, seed == 0);
  }
}

TEST(Control, ExposesRacesByTheSeed) {
  // The last warp to write wins.
  const std::string body = "shr.u32 %r1, %i, 5; st.global.u32 [%out], %r1; ret;";
  EXPECT_EQ(run(body, 256).out[0], 7u);
  bool differs = false;
  for (U64 seed = 1; seed < 8; ++seed)
    differs = differs || run(body, 256, 1, seed).out[0] != 7;
  EXPECT_TRUE(differs);
}

TEST(Control, StopsWhenCancelled) {
  Machine machine(kernel("LOOP: bra.uni LOOP;"));
  const std::atomic<bool> cancel = true;
  machine.config.cancel = &cancel;
  const LaunchResult result = machine.run("k", {1}, {32}, machine.upload(std::vector<U32>(8)));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kTimeout);
}

TEST(Control, AdvancesItsClocksWhileItWaits) {
  const Outcome r = run(R"(mov.u64 %rd1, %clock64; mov.u64 %rd2, %globaltimer;
      LOOP: mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd1; setp.lt.s64 %p, %rd4, 10000; @%p bra LOOP;
      nanosleep.u32 1000; mov.u64 %rd5, %globaltimer; sub.s64 %rd5, %rd5, %rd2; cvt.u32.u64 %r1, %rd5;
      st.global.u32 [%at], %r1; ret;)",
                        32);
  ASSERT_FALSE(r.result.fault) << r.result.fault->text;
  EXPECT_GE(r.out[0], 11000u);
}

TEST(Control, CountsInstructionsOfActiveLanes) {
  const Outcome r = run(
      R"(setp.ge.u32 %p, %i, 8; @%p bra END; add.u32 %r1, %i, 1; add.u32 %r2, %r1, 1; END: ret;)",
      32);
  // Four instructions of the frame around it, setp, bra, ret by 32 lanes; two adds by 8.
  EXPECT_EQ(r.result.stats.lane_instructions, 7u * 32 + 2 * 8);
  EXPECT_EQ(r.result.stats.warp_instructions, 9u);
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
