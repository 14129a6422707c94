// SPDX-License-Identifier: Apache-2.0
// Damaged PTX in: either a program that prints and parses again, or one error line; never a crash.

#include <random>

#include <gtest/gtest.h>

#include "emulator/ptx/control_flow.h"
#include "emulator/ptx/parser.h"
#include "emulator/ptx/printer.h"
#include "tests/unit/emulator/ptx/load.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr std::string_view kText = R"(.version 9.0
.target sm_80, debug
.address_size 64
.file 1 "a.cu"
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .global .attribute(.managed) .align 8 .u64 p[3] = {5, generic(q)+8, q};
.global .align 4 .b8 q[12] = {0xFF(p), 0xFF00(generic(p)), 7};
.const .align 4 .f32 g[2][2] = {{0f3F800000}, {1.0, 2}};
.extern .shared .align 16 .b8 dyn[];
.weak .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>;
  ld.param.u32 %r1, [a]; mul.lo.s32 %r2, %r1, 3; st.param.b32 [r+0], %r2; ret; }
.visible .entry k(.param .u64 k_0, .param .align 8 .b8 k_1[24])
.maxntid 128, 1, 1
{
  .reg .pred %p<9>; .reg .b16 %h<4>; .reg .f32 %f<9>; .reg .b32 %r<40>; .reg .b64 %rd<9>;
  .shared .align 4 .b8 s[512]; .local .align 16 .b8 depot[16];
  .loc 1 13 0
  ld.param.u64 %rd1, [k_0]; cvta.to.global.u64 %rd1, %rd1; mov.u64 %rd2, depot;
  mov.u32 %r5, %ntid.x; mad.lo.s32 %r2, %r5, %r5, 7; setp.ge.s32 %p1|%p2, %r2, -1;
  @!%p1 bra $L1;
  .loc 1 20 5, function_name $str+0, inlined_at 1 13 0
  ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+16]; fma.rn.ftz.f32 %f1, %f1, 0f3F800000, %f2;
  { .reg .b32 t; .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;
    proto : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (retval0), %rd2, (param0), proto; call.uni (retval0), f, (param0);
    ld.param.b32 %r20, [retval0+0]; }
  ts: .branchtargets $L1, $L2; brx.idx %r20, ts;
$L1: atom.global.add.u32 %r22, [%rd1], 1; vote.sync.ballot.b32 %r24, %p2, -1;
  shfl.sync.down.b32 %r30|%p1, %r22, 1, 31, %r24; mov.b64 {%r1, %r3}, %rd1; bar.sync 0;
$L2: st.shared.u8 [s+4], %h1; tex.2d.v4.f32.s32 {%f1, %f2, _, _}, [%rd1, {%r1, %r2}];
  wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4}, [%rd1], %r5; ret;
}
.section .debug_str { $str: .b8 95,90,0 }
)";

void expect_line_or_program(const std::string& text) {
  const std::string_view view = text;
  const auto program = load_texts({view});
  if (!program) {
    const std::string& message = program.error().message;
    EXPECT_FALSE(message.empty());
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return;
  }
  for (const Function& function : program->functions)
    analyze_liveness(function);
  const auto parsed = parse(text);
  ASSERT_TRUE(parsed);
  const std::string printed = to_text(*parsed);
  const auto again = parse(printed);
  EXPECT_TRUE(again) << again.error().message << '\n' << text;
}

TEST(HostilePtx, TheTextItselfIsGood) {
  const auto program = load_texts({kText});
  EXPECT_TRUE(program) << program.error().message;
}

TEST(HostilePtx, EveryTruncationGivesALineOrAProgram) {
  for (std::size_t size = 0; size < kText.size(); ++size) {
    expect_line_or_program(std::string(kText.substr(0, size)));
  }
}

// A byte changed, a piece cut out, a piece copied elsewhere, two pieces swapped.
std::string mutated(std::mt19937& random) {
  std::string text(kText);
  const auto place = [&] { return random() % text.size(); };
  const auto length = [&] { return random() % 12; };
  for (std::size_t n = 1 + random() % 3; n > 0; --n) {
    switch (random() % 4) {
      case 0:
        text[place()] = static_cast<char>(random());
        break;
      case 1:
        text.erase(place(), length());
        break;
      case 2:
        text.insert(place(), text.substr(place(), length()));
        break;
      default: {
        const std::size_t from = place();
        const std::string piece = text.substr(from, length());
        text.erase(from, piece.size());
        text.insert(place(), piece);
      }
    }
  }
  return text;
}

TEST(HostilePtx, TenThousandMutationsGiveALineOrAProgram) {
  std::mt19937 random(20250101);
  for (int i = 0; i < 10000; ++i)
    expect_line_or_program(mutated(random));
}

TEST(HostilePtx, DeepNestingEndsInALine) {
  const std::string head = ".version 9.0\n.target sm_75\n.address_size 64\n";
  const std::size_t deep = 100000;
  expect_line_or_program(head + ".func f\n{" + std::string(deep, '{'));
  expect_line_or_program(head + ".global .u32 x = " + std::string(deep, '('));
  expect_line_or_program(head + ".global .u32 x = " + std::string(deep, '-') + "1;");
  expect_line_or_program(head + ".global .u32 x[1] = " + std::string(deep, '{'));
  expect_line_or_program(head + ".func f\n{\n.reg .b32 %r<9>;\nmov.b64 %r1, " +
                         std::string(deep, '{'));
  expect_line_or_program(head + ".func f\n{\n.reg .b32 %r<9>;\nmov.b64 %r1, " +
                         std::string(deep, '['));
  std::string generic = head + ".global .u64 x = ";
  for (std::size_t i = 0; i < deep; ++i)
    generic += "generic(";
  expect_line_or_program(generic);
}

TEST(HostilePtx, AHundredThousandBlocksInARowAreOnlyAProgram) {
  std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n.func f\n{\n.reg .pred %p;\n";
  for (int i = 0; i < 100000; ++i) {
    text += "@%p bra L" + std::to_string(i) + ";\nL" + std::to_string(i) + ":\n";
  }
  text += "}\n";
  const std::string_view view = text;
  const auto program = load_texts({view});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->functions[0].blocks.size(), 100000u);
  EXPECT_EQ(program->functions[0].blocks[0].post_dominator, 1u);
}

}  // namespace
}  // namespace drgpum::emulator::ptx
