// SPDX-License-Identifier: Apache-2.0
// PTX text in, basic blocks out as "begin-end -> successors ^ post-dominator".

#include "emulator/ptx/control_flow.h"

#include <gtest/gtest.h>

#include "emulator/ptx/parser.h"

namespace drgpum::emulator::ptx {
namespace {

Function analyzed(const std::string& body) {
  auto program = parse(
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".func f\n{\n.reg .pred %p<9>; .reg .b32 %r<9>;\n" +
      body + "\n}\n");
  EXPECT_TRUE(program) << program.error().message;
  Function function = program ? std::move(program->functions.front()) : Function{};
  analyze_control_flow(function);
  return function;
}

std::string blocks_of(const Function& function) {
  std::string text;
  for (const BasicBlock& block : function.blocks) {
    text += std::to_string(block.begin) + '-' + std::to_string(block.end) + " ->";
    for (const std::uint32_t s : block.successors)
      text += ' ' + std::to_string(s);
    text += " ^";
    text += block.post_dominator == kNoBlock ? "-" : std::to_string(block.post_dominator);
    text += '\n';
  }
  return text;
}

TEST(ControlFlow, AnIfMeetsAgainBehindIt) {
  EXPECT_EQ(blocks_of(analyzed("@%p1 bra ELSE;\nmov.u32 %r1, 1;\nbra END;\n"
                               "ELSE: mov.u32 %r1, 2;\nEND: ret;")),
            "0-1 -> 2 1 ^3\n1-3 -> 3 ^3\n3-4 -> 3 ^3\n4-5 -> ^-\n");
}

TEST(ControlFlow, ALoopMeetsAgainWhereItIsLeft) {
  EXPECT_EQ(blocks_of(analyzed("AGAIN: add.s32 %r1, %r1, 1;\n@%p1 bra AGAIN;\nret;")),
            "0-2 -> 0 1 ^1\n2-3 -> ^-\n");
}

TEST(ControlFlow, AGuardedReturnMayLeaveOrGoOn) {
  EXPECT_EQ(blocks_of(analyzed("@%p1 ret;\n@%p2 bra END;\nmov.u32 %r1, 1;\nEND: exit;")),
            "0-1 -> 1 ^-\n1-2 -> 3 2 ^3\n2-3 -> 3 ^3\n3-4 -> ^-\n");
}

TEST(ControlFlow, ALoopWithoutExitHasNoPostDominator) {
  EXPECT_EQ(blocks_of(analyzed("@%p1 bra END;\nAGAIN: bra AGAIN;\nEND: ret;")),
            "0-1 -> 2 1 ^2\n1-2 -> 1 ^-\n2-3 -> ^-\n");
}

TEST(ControlFlow, AJumpTableGoesToEachOfItsLabelsOnce) {
  EXPECT_EQ(blocks_of(analyzed("T: .branchtargets A, B, A;\nbrx.idx %r1, T;\n"
                               "A: mov.u32 %r1, 1;\nB: mov.u32 %r1, 2;")),
            "0-1 -> 1 2 ^2\n1-2 -> 2 ^2\n2-3 -> ^-\n");
}

TEST(ControlFlow, AJumpToTheEndOfTheBodyLeavesTheFunction) {
  EXPECT_EQ(blocks_of(analyzed("@%p1 bra END;\nmov.u32 %r1, 1;\nEND:")),
            "0-1 -> 1 ^-\n1-2 -> ^-\n");
}

TEST(ControlFlow, AFunctionWithoutInstructionsHasNoBlocks) {
  EXPECT_EQ(blocks_of(analyzed("")), "");
}

std::string names_of(const Function& function, const std::vector<std::uint64_t>& set) {
  std::string text;
  for (std::uint32_t r = 0; r < function.registers.size(); ++r) {
    if (Liveness::has(set, r)) text += function.registers[r].name + ' ';
  }
  return text;
}

TEST(Liveness, FollowsValuesAroundALoop) {
  const Function f = analyzed(
      "mov.u32 %r1, 0;\nmov.u32 %r2, 7;\n"
      "AGAIN: add.s32 %r1, %r1, %r2;\nsetp.lt.s32 %p1, %r1, 100;\n@%p1 bra AGAIN;\n"
      "mov.u32 %r3, %r1;\nret;");
  const Liveness live = analyze_liveness(f);
  EXPECT_EQ(names_of(f, live.live_in[0]), "");
  EXPECT_EQ(names_of(f, live.live_in[1]), "%r1 %r2 ");
  EXPECT_EQ(names_of(f, live.live_out[1]), "%r1 %r2 ");
  EXPECT_EQ(names_of(f, live.live_in[2]), "%r1 ");
}

TEST(Liveness, AGuardedWriteKeepsTheOldValueLive) {
  const Function f = analyzed("@%p1 mov.u32 %r1, 1;\nmov.u32 %r2, %r1;\nmov.u32 %r3, 5;");
  EXPECT_EQ(names_of(f, analyze_liveness(f).live_in[0]), "%p1 %r1 ");
}

TEST(Liveness, AddressesAndVectorElementsAreReads) {
  const Function f = analyzed("st.global.v2.b32 [%r1+4], {%r2, %r3};");
  EXPECT_EQ(names_of(f, analyze_liveness(f).live_in[0]), "%r1 %r2 %r3 ");
}

}  // namespace
}  // namespace drgpum::emulator::ptx
