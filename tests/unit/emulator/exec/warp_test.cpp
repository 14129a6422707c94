// SPDX-License-Identifier: Apache-2.0
// Exchange within a warp: shfl, vote, match, redux, elect, activemask.

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// 32 threads; %r1 is the lane, the body leaves its result in %out.
std::vector<U32> lanes(const std::string& body) {
  Machine machine(R"(.visible .entry k(.param .u64 out) {
      .reg .pred %p, %q; .reg .b32 %out, %r<9>; .reg .b64 %rd<9>;
      ld.param.u64 %rd1, [out]; mov.u32 %r1, %laneid; mov.u32 %out, 0xdead;)" +
                  body + R"( mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
      st.global.u32 [%rd3], %out; ret; })");
  const U64 out = machine.upload(std::vector<U32>(32));
  const LaunchResult result = machine.run("k", {1}, {32}, out);
  EXPECT_FALSE(result.fault) << result.fault->text;
  return machine.download<U32>(out, 32);
}

std::vector<U32> expected(const std::function<U32(U32)>& of_lane) {
  std::vector<U32> values(32);
  for (U32 i = 0; i < 32; ++i)
    values[i] = of_lane(i);
  return values;
}

TEST(Shuffle, MovesDownUpAcrossAndFromAnIndex) {
  const std::string start = "mul.lo.u32 %r2, %r1, 10; ";
  EXPECT_EQ(lanes(start + "shfl.sync.down.b32 %out, %r2, 3, 31, -1;"),
            expected([](U32 i) { return 10 * (i + 3 < 32 ? i + 3 : i); }));
  EXPECT_EQ(lanes(start + "shfl.sync.up.b32 %out, %r2, 5, 0, -1;"),
            expected([](U32 i) { return 10 * (i >= 5 ? i - 5 : i); }));
  EXPECT_EQ(lanes(start + "shfl.sync.bfly.b32 %out, %r2, 6, 31, -1;"),
            expected([](U32 i) { return 10 * (i ^ 6); }));
  EXPECT_EQ(lanes(start + "shfl.sync.idx.b32 %out, %r2, 9, 31, -1;"),
            expected([](U32) { return 90; }));
}

// c holds the segment mask in bits 8..12: width 8 gives 0x181f for down, 0x1800 for up.
TEST(Shuffle, StaysWithinSegmentsAndTellsWhatIsInRange) {
  EXPECT_EQ(lanes("shfl.sync.down.b32 %out|%p, %r1, 2, 0x181f, -1; @!%p add.u32 %out, %out, 100;"),
            expected([](U32 i) { return i % 8 + 2 < 8 ? i + 2 : i + 100; }));
  EXPECT_EQ(lanes("shfl.sync.up.b32 %out|%p, %r1, 3, 0x1800, -1; @!%p add.u32 %out, %out, 100;"),
            expected([](U32 i) { return i % 8 >= 3 ? i - 3 : i + 100; }));
  EXPECT_EQ(lanes("shfl.sync.idx.b32 %out, %r1, 1, 0x181f, -1;"),
            expected([](U32 i) { return i - i % 8 + 1; }));
}

TEST(Shuffle, OverwritesItsOwnSource) {
  EXPECT_EQ(lanes("mov.b32 %out, %r1; shfl.sync.bfly.b32 %out, %out, 1, 31, -1;"),
            expected([](U32 i) { return i ^ 1; }));
}

// The lanes come to the same shuffle on different ways; it waits for all that its mask names.
TEST(Shuffle, GathersLanesThatHaveDiverged) {
  EXPECT_EQ(lanes(R"(mov.u32 %r2, %r1; setp.lt.u32 %p, %r1, 16; @%p bra LOW;
      add.u32 %r2, %r2, 100; bra.uni JOIN; LOW: add.u32 %r2, %r2, 200; JOIN:
      shfl.sync.bfly.b32 %out, %r2, 16, 31, -1;)"),
            expected([](U32 i) { return (i ^ 16) + ((i ^ 16) < 16 ? 200 : 100); }));
}

TEST(Vote, CountsTheLanesThatHold) {
  const std::string odd = "and.b32 %r2, %r1, 1; setp.eq.u32 %p, %r2, 1; ";
  EXPECT_EQ(lanes(odd + "vote.sync.ballot.b32 %out, %p, -1;"),
            expected([](U32) { return 0xaaaaaaaau; }));
  EXPECT_EQ(lanes(odd + "vote.sync.ballot.b32 %out, !%p, -1;"),
            expected([](U32) { return 0x55555555u; }));
  EXPECT_EQ(lanes(odd + "vote.ballot.sync.b32 %out, %p, -1;"),
            expected([](U32) { return 0xaaaaaaaau; }));
  EXPECT_EQ(lanes(odd + "vote.sync.any.pred %q, %p, -1; selp.b32 %out, 1, 0, %q;"),
            expected([](U32) { return 1u; }));
  EXPECT_EQ(lanes(odd + "vote.sync.all.pred %q, %p, -1; selp.b32 %out, 1, 0, %q;"),
            expected([](U32) { return 0u; }));
  EXPECT_EQ(lanes(odd + "vote.sync.uni.pred %q, %p, -1; selp.b32 %out, 1, 0, %q;"),
            expected([](U32) { return 0u; }));
}

TEST(Vote, LimitsItselfToTheMembersThatBranched) {
  EXPECT_EQ(lanes(R"(setp.lt.u32 %p, %r1, 8; @!%p bra DONE; setp.gt.u32 %q, %r1, 2;
      vote.sync.ballot.b32 %out, %q, 0xff; DONE:)"),
            expected([](U32 i) { return i < 8 ? 0xf8u : 0xdeadu; }));
}

// Tiles of four lanes, as cooperative groups make them: each names its own members.
TEST(Vote, KeepsGroupsWithDifferentMembersApart) {
  const std::string tile = "and.b32 %r2, %r1, 28; mov.u32 %r3, 15; shl.b32 %r3, %r3, %r2; ";
  EXPECT_EQ(
      lanes(tile +
            "and.b32 %r4, %r1, 1; setp.eq.u32 %p, %r4, 1; vote.sync.ballot.b32 %out, %p, %r3;"),
      expected([](U32 i) { return 0xau << (i & 28); }));
  EXPECT_EQ(lanes(tile + "redux.sync.add.u32 %out, %r1, %r3;"),
            expected([](U32 i) { return 4 * (i & 28) + 6; }));
  EXPECT_EQ(
      lanes(tile +
            "setp.lt.u32 %p, %r1, 6; vote.sync.all.pred %q, %p, %r3; selp.b32 %out, 1, 0, %q;"),
      expected([](U32 i) { return i < 4 ? 1u : 0u; }));
}

// A scan in a warp whose lanes name only those below them, as on a device.
TEST(Vote, AnswersLanesThatAreNotTheirOwnMembers) {
  const std::string below =
      "mov.u32 %r3, 1; shl.b32 %r3, %r3, %r1; sub.u32 %r3, %r3, 1; "
      "and.b32 %r4, %r1, 1; setp.eq.u32 %p, %r4, 1; ";
  EXPECT_EQ(lanes(below + "vote.sync.ballot.b32 %out, %p, %r3;"),
            expected([](U32 i) { return 0xaaaaaaaau & ((1u << i) - 1); }));
  EXPECT_EQ(lanes(below + "vote.sync.any.pred %q, %p, %r3; selp.b32 %out, 1, 0, %q;"),
            expected([](U32 i) { return i > 1 ? 1u : 0u; }));
}

TEST(Match, FindsLanesWithTheSameValue) {
  EXPECT_EQ(lanes("and.b32 %r2, %r1, 3; match.any.sync.b32 %out, %r2, -1;"),
            expected([](U32 i) { return 0x11111111u << (i & 3); }));
  EXPECT_EQ(lanes("mov.b64 %rd4, 7; match.all.sync.b64 %out|%p, %rd4, -1; @!%p mov.u32 %out, 1;"),
            expected([](U32) { return ~0u; }));
  EXPECT_EQ(lanes("match.all.sync.b32 %out|%p, %r1, -1; @!%p add.u32 %out, %out, 1;"),
            expected([](U32) { return 1u; }));
}

TEST(Redux, ReducesOverMembers) {
  EXPECT_EQ(lanes("redux.sync.add.u32 %out, %r1, -1;"), expected([](U32) { return 496u; }));
  EXPECT_EQ(lanes("sub.u32 %r2, %r1, 9; redux.sync.min.s32 %out, %r2, -1;"),
            expected([](U32) { return static_cast<U32>(-9); }));
  EXPECT_EQ(lanes("redux.sync.xor.b32 %out, %r1, -1;"), expected([](U32) { return 0u; }));
}

TEST(Activemask, TellsWhoIsHere) {
  EXPECT_EQ(lanes("setp.lt.u32 %p, %r1, 5; @!%p bra DONE; activemask.b32 %out; DONE:"),
            expected([](U32 i) { return i < 5 ? 0x1fu : 0xdeadu; }));
  EXPECT_EQ(lanes("elect.sync %r2|%p, -1; selp.b32 %out, 1, 0, %p;"),
            expected([](U32 i) { return i == 0 ? 1u : 0u; }));
}

TEST(SpecialRegisters, NameLanesThreadsAndBlocks) {
  EXPECT_EQ(lanes("mov.u32 %out, %lanemask_lt;"), expected([](U32 i) { return (1u << i) - 1; }));
  EXPECT_EQ(lanes("mov.u32 %out, %lanemask_ge;"), expected([](U32 i) { return ~0u << i; }));
  EXPECT_EQ(lanes("mov.u32 %r2, %ntid.x; mov.u32 %r3, %nctaid.y; mad.lo.u32 %out, %r2, 10, %r3;"),
            expected([](U32) { return 321u; }));
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
