// SPDX-License-Identifier: Apache-2.0
// Instructions in, the complaint about them out.

#include "emulator/ptx/verifier.h"

#include <gtest/gtest.h>

#include "emulator/ptx/linker.h"
#include "emulator/ptx/parser.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr std::string_view kHeader =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".func (.param .b32 r) g(.param .b32 a)\n{\nret;\n}\n"
    ".extern .func v(.param .b32 a, .param .b8 more[]);\n"
    ".entry k\n{\nret;\n}\n"
    ".const .align 4 .u32 number = 7;\n"
    ".func (.param .b32 out) f(.param .b32 in)\n{\n"
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"
    ".reg .f64 %fd<9>; .reg .u32 %u<9>; .param .b32 one; .param .b32 two; .param .b8 tiny;\n"
    ".local .b32 spot;\n";

// "" when everything is in order.
std::string complaint(const std::string& text) {
  auto program = parse(std::string(kHeader) + text + "\n}\n", "t.ptx");
  if (!program) return program.error().message;
  std::vector<Program> units;
  units.push_back(*std::move(program));
  auto linked = link(std::move(units));
  if (!linked) return linked.error().message;
  const Status status = verify(*linked);
  return status ? "" : status.error().message;
}

TEST(Verifier, NamesFunctionLineInstructionAndComplaint) {
  EXPECT_EQ(complaint("add.s32 %r1, %r2;"),
            "t.ptx: function f, line 19: 'add.s32 %r1, %r2;': wrong number of operands: 1 where 2 "
            "belong");
}

struct Case {
  const char* text;
  const char* complaint;  // the end of the message
};

class VerifierCases : public testing::TestWithParam<Case> {};

TEST_P(VerifierCases, Complain) {
  const std::string message = complaint(GetParam().text);
  EXPECT_TRUE(message.ends_with(std::string("': ") + GetParam().complaint)) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Verifier, VerifierCases,
    testing::Values(
        Case{"@%r1 ret;", "the guard is not a predicate"},
        Case{"add.s32 5, %r1, %r2;", "a result must be a register (result 1)"},
        Case{"add.s32 %r1|%p1, %r1, %r2;", "wrong number of results"},
        Case{"add.s32 %r1, %r1, %rd2;", "register %rd2 is .b64, the instruction .s32 (operand 2)"},
        Case{"add.s32 %r1, %r1, %f2;", "register %f2 is .f32, the instruction .s32 (operand 2)"},
        Case{"add.f32 %f1, %f1, %u2;", "register %u2 is .u32, the instruction .f32 (operand 2)"},
        Case{"add.s32 %r1, %p1, 1;", "register %p1 is .pred, the instruction .s32 (operand 1)"},
        Case{"add %r1, %r1, 1;", "the opcode needs a type (result 1)"},
        Case{"ld.global.u32 %h1, [%rd1];", "register %h1 is .b16, the instruction .u32 (result 1)"},
        Case{"ld.global.u32 %r1, %rd1;", "an address in brackets is missing (operand 1)"},
        Case{"ld.global.u32 %r1, [%h1];", "the register cannot hold an address (operand 1)"},
        Case{"ld.global.v4.u32 {%r1, %r2}, [%rd1];",
             "the vector has another length than the instruction (result 1)"},
        Case{"ld.global.v2.u32 %r1, [%rd1];", "a vector is missing (result 1)"},
        Case{"mov.b64 %rd1, {%r1, %r2, %r3};", "the vector does not fill the type (operand 1)"},
        Case{"mov.b64 %rd1, {%r1, %h2};", "register %h2 does not fill its place (operand 1)"},
        Case{"selp.b32 %r1, 1, 0, %r2;", "a predicate is missing (operand 3)"},
        Case{"add.s32 %r1, !%r1, 1;", "only predicates can be negated (operand 1)"},
        Case{"add.s32 %r1, %r1+4, 1;",
             "a register plus a number stands outside of brackets (operand 1)"},
        Case{"add.s32 %r1, %r1.b0, 1;",
             "only video instructions take a part of a register (operand 1)"},
        Case{"call (one), g, (one, two);", "a call with 2 arguments where 1 belong"},
        Case{"call g, (one);", "wrong number of results of a call"},
        Case{"call (one), g, (tiny);", "the argument is too small (argument 1)"},
        Case{"call (one), g, (spot);", "an argument that is not .param (argument 1)"},
        Case{"call k;", "a kernel cannot be called"},
        Case{"call spot;", "what is called is not a function"},
        Case{"call %rd1;", "an indirect call needs a prototype"},
        Case{"ld.global.u32 %r1, [spot];", "'spot' is in another state space (operand 1)"},
        Case{"ld.u32 %r1, [number];", "'number' is in another state space (operand 1)"},
        Case{"ld.u32 %r1, [in];", "'in' is in another state space (operand 1)"},
        Case{"ld.global.u32 %r1, [g];", "a function is no place in memory (operand 1)"},
        Case{"st.param.b32 [in], 1;", "a parameter of the function can only be read (operand 1)"},
        Case{"ld.param.b32 %r1, [out];",
             "a result of the function can only be written (operand 1)"},
        Case{"add.s64 %rd1, %rd1, spot;", "a register is missing (operand 2)"},
        Case{"mov.u64 %rd1, one;", "'one' has no address (operand 1)"},
        Case{"mov.u64 %rd1, out;", "'out' has no address (operand 1)"},
        Case{"mov.u16 %h1, spot;", "an address does not fit the type (operand 1)"},
        Case{"cvta.shared.u64 %rd1, spot;", "'spot' is in another state space (operand 1)"},
        Case{"cp.async.ca.shared.global [spot], [%rd1], 4;",
             "'spot' is in another state space (operand 1)"},
        Case{"call v;", "a call with 0 arguments where 1 belong"}));

class VerifierAccepts : public testing::TestWithParam<const char*> {};

TEST_P(VerifierAccepts, WhatTheLanguageAllows) {
  EXPECT_EQ(complaint(GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(
    Verifier, VerifierAccepts,
    testing::Values(
        "ld.global.u8 %r1, [%rd1];", "ld.global.s8 %rd1, [%rd1+4];", "ld.global.f32 %r1, [%rd1];",
        "st.shared.u8 [%r1], %h1;", "cvt.u16.u32 %h1, %r1;", "cvt.u8.u32 %r1, %r2;",
        "cvt.rn.f16.f32 %h1, %f1;", "mul.wide.s32 %rd1, %r1, %r2;",
        "mad.wide.u16 %r1, %h1, %h2, %r3;", "mov.b32 %r1, %f1;", "mov.b32 %r1, {%h1, %h2};",
        "mov.b64 {_, %r1}, %rd1;", "mov.u64 %rd1, spot;", "ld.u32 %r1, [spot];",
        "ld.const.u32 %r1, [number];", "mov.u64 %rd1, in;", "mov.u64 %rd1, g;",
        "cvta.local.u64 %rd1, spot;", "st.param.b32 [out], %r1;", "ld.param.b32 %r1, [in];",
        "mov.pred %p1, 1;", "bar.sync 0, 64;", "bar.red.popc.u32 %r1, 0, %p1;",
        "bar.red.and.pred %p1, 0, 32, !%p2;", "bar.warp.sync -1;", "barrier.sync.aligned 1;",
        "vote.sync.any.pred %p1, %p2, -1;", "setp.ltu.and.f32 %p1|_, %f1, 0f3F800000, %p2;",
        "atom.global.cas.b32 %r1, [%rd1], %r2, 5;", "atom.shared.exch.b64 _, [%r1], %rd1;",
        "red.global.add.f64 [%rd1], %fd1;", "lop3.or.b32 %r1|%p1, %r1, %r2, %r3, 4, %p2;",
        "call (one), g, (two);", "call v, (one);", "call v, (one, two, spot);",
        "cp.async.ca.shared.global [%r1], [%rd1], 16, %r2;", "cp.async.wait_group 0;",
        "min.s32 %r1, %r1, %r2;", "popc.b64 %r1, %rd1;", "bfe.u64 %rd1, %rd2, 3, %r1;",
        "shf.l.wrap.b32 %r1, %r2, %r3, 5;", "wgmma.anything %r1, {%p1}, [%h1];"));

}  // namespace
}  // namespace drgpum::emulator::ptx
