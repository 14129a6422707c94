// SPDX-License-Identifier: Apache-2.0
// PTX text in, PTX text or one error line out.

#include "emulator/ptx/parser.h"

#include <gtest/gtest.h>

#include "emulator/ptx/printer.h"
#include "emulator/ptx/relocation.h"

namespace drgpum::emulator::ptx {
namespace {

const std::string kHeader = ".version 9.0\n.target sm_75\n.address_size 64\n";

// The function `f` around `body`, parsed.
Function body(const std::string& text) {
  auto program = parse(kHeader + ".func f(.param .b64 a)\n{\n" + text + "\n}\n", "t.ptx");
  EXPECT_TRUE(program) << program.error().message;
  return program ? program->functions.front() : Function{};
}

// What stands in the braces of f when it is printed again, without tabs.
std::string reprinted(const std::string& text) {
  const Function function = body(text);
  std::string printed = to_text(Program{}, function);
  std::erase(printed, '\t');
  const std::size_t begin = printed.find("{\n") + 2;
  return printed.substr(begin, printed.size() - begin - 2);
}

std::string error_of(const std::string& text) {
  const auto program = parse(text, "t.ptx");
  return program ? "no error" : program.error().message;
}

TEST(Parser, KeepsARegisterOnlyOnceItIsUsed) {
  EXPECT_EQ(reprinted(".reg .b32 %r<4000000000>;\nadd.s32 %r7, %r9, 1;"),
            ".reg .b32 %r7;\n.reg .b32 %r9;\nadd.s32 %r7, %r9, 1;\n");
}

TEST(Parser, RoundTripsEveryKindOfOperand) {
  const std::string text =
      ".reg .b32 %r1;\n.reg .pred %p1;\n.reg .pred %p2;\n.reg .b64 %rd1;\n.reg .b32 %r2;\n"
      ".reg .f32 %f1;\n.reg .f64 %fd1;\n"
      "mov.u32 %r1, %tid.x;\n"
      "setp.lt.and.s32 %p1|%p2, %r1, 4294967295, !%p2;\n"
      "@!%p1 ld.param.u64 %rd1, [a+8];\n"
      "mov.b64 {%r1, %r2}, %rd1;\n"
      "ld.global.nc.L1::no_allocate.v2.b32 {%r1, _}, [%rd1+-16];\n"
      "fma.rn.ftz.f32 %f1, %f1, 0f3F800000, 0fBF800000;\n"
      "mul.f64 %fd1, %fd1, 0d3FF8000000000000;\n"
      "shfl.sync.down.b32 %r2|%p1, %r1, 1, 31, 4294967295;\n"
      "tex.2d.v4.f32.s32 {%f1, _, _, _}, [%rd1, {%r1, %r2}];\n"
      "vabsdiff.u32.u32.u32.add %r1, %r1.b0, %r2.h1, %r2;\n"
      "mov.u32 %r1, %envreg3;\n";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Parser, NarrowsConstantsToTheTypeOfTheirPlace) {
  const Function f = body(
      ".reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %s<9>; .reg .b64 %l<9>; .reg .pred %p<9>;\n"
      "mov.f32 %f1, 0d3FF8000000000000;\n"
      "mov.f64 %d1, 0f3FC00000;\n"
      "add.f32 %f1, %f1, -1.5;\n"
      "add.s16 %s1, %s1, -1;\n"
      "shl.b64 %l1, %l1, 0x3F;\n"
      "mov.pred %p1, -1;\n"
      "mov.b64 %l1, 017;\n"
      "mov.b64 %l1, 0b101U;");
  const auto bits = [&](std::size_t i) { return f.instructions[i].sources.back().bits; };
  EXPECT_EQ(bits(0), 0x3FC00000u);
  EXPECT_EQ(bits(1), 0x3FF8000000000000u);
  EXPECT_EQ(bits(2), 0xBFC00000u);
  EXPECT_EQ(bits(3), 0xFFFFu);
  EXPECT_EQ(bits(4), 63u);
  EXPECT_EQ(bits(5), 1u);
  EXPECT_EQ(bits(6), 15u);
  EXPECT_EQ(bits(7), 5u);
}

TEST(Parser, FindsLabelsInTheBlockThatDeclaresThem) {
  EXPECT_EQ(reprinted(".reg .pred %p;\n"
                      "{\nAGAIN:\n@%p bra DONE;\nbra AGAIN;\nDONE:\n}\n"
                      "{\nAGAIN:\n@%p bra DONE;\nbra AGAIN;\nDONE:\n}\n"
                      "bra OUT;\nOUT:"),
            ".reg .pred %p;\n"
            "$LBL_0:\n@%p bra $LBL_2;\nbra $LBL_0;\n"
            "$LBL_2:\n@%p bra $LBL_4;\nbra $LBL_2;\n"
            "$LBL_4:\nbra $LBL_5;\n$LBL_5:\n");
}

TEST(Parser, NamesTheSameInTwoBlocksAreTwoThings) {
  EXPECT_EQ(reprinted("{\n.param .b32 p;\nst.param.b32 [p], 1;\n}\n"
                      "{\n.param .b32 p;\nst.param.b32 [p], 2;\n}"),
            ".param .b32 p;\n.param .b32 p$1;\nst.param.b32 [p], 1;\nst.param.b32 [p$1], 2;\n");
}

TEST(Parser, ReadsJumpTablesAndPrototypes) {
  const std::string text =
      ".reg .b32 %r1;\n.reg .b64 %rd1;\n"
      "P: .callprototype (.param .b32 _) _(.param .b64 _);\n"
      "$TBL_0: .branchtargets $LBL_1, $LBL_2;\n"
      "brx.idx %r1, $TBL_0;\n"
      "$LBL_1:\ncall (a), %rd1, (a), P;\n"
      "$LBL_2:\nret;\n";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Parser, ReadsWhereInlinedCodeCameFrom) {
  const auto program = parse(kHeader +
                             ".func f()\n{\n.loc 1 10 3\n"
                             ".loc 2 20 5, function_name $L__info_string0+2, inlined_at 1 10 3\n"
                             "ret;\n}\n.file 1 \"a.cu\"\n.file 2 \"b.h\"\n"
                             ".section .debug_str\n{\n$L__info_string0:\n.b8 120,0,103,0\n}\n");
  ASSERT_TRUE(program) << program.error().message;
  const Function& f = program->functions.front();
  const SourceLocation& place = f.locations[f.instructions[0].location];
  EXPECT_EQ(program->files[place.file], "b.h");
  EXPECT_EQ(place.line, 20u);
  EXPECT_EQ(place.inlined_function, "g");
  EXPECT_EQ(f.locations[place.inlined_at].line, 10u);
  EXPECT_EQ(program->files[f.locations[place.inlined_at].file], "a.cu");
}

TEST(Parser, LaysOutParametersByTheirAlignment) {
  const auto program =
      parse(kHeader +
            ".entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .u16 c,\n"
            " .param .align 8 .b8 d[12], .param .align 4 .f32 e)\n.maxntid 128, 2\n{\nret;\n}\n");
  ASSERT_TRUE(program) << program.error().message;
  const Function& k = program->functions.front();
  std::vector<std::uint32_t> offsets;
  for (const Parameter& p : k.parameters)
    offsets.push_back(p.offset);
  EXPECT_EQ(offsets, (std::vector<std::uint32_t>{0, 8, 16, 24, 36}));
  EXPECT_EQ(k.parameter_bytes, 40u);
  EXPECT_EQ(k.max_threads[1], 2u);
  EXPECT_EQ(k.max_threads[2], 1u);
}

TEST(Parser, ReadsInitialValuesAndAddresses) {
  const auto program = parse(kHeader +
                             ".visible .global .align 8 .u64 p[3] = {5, generic(q)+8, q};\n"
                             ".global .align 4 .b8 m[4] = {0xFF(q), 0xFF00(generic(q)), 7};\n"
                             ".const .align 4 .f32 g[2][2] = {{0f3F800000}, {1.0, 2}};\n"
                             ".global .attribute(.managed) .align 4 .u32 n = -1;\n"
                             ".extern .shared .align 16 .b8 s[];\n");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(to_text(*program),
            kHeader +
                ".visible .global .u64 p[3] = {5, generic(q)+8, q};\n"
                ".global .align 4 .b8 m[4] = {255(q), 65280(generic(q)), 7};\n"
                ".const .f32 g[4] = {0f3F800000, 0f00000000, 0f3F800000, 0f40000000};\n"
                ".global .attribute(.managed) .u32 n = 4294967295;\n"
                ".extern .shared .align 16 .b8 s[];\n");
  const auto& bytes = program->variables[1].relocations;
  EXPECT_EQ(value_of(bytes[0], 0x700000001234), 0x34u);
  EXPECT_EQ(value_of(bytes[1], 0x700000001234), 0x12u);
  EXPECT_EQ(value_of(program->variables[0].relocations[0], 0x700000001230), 0x700000001238u);
}

TEST(Parser, KeepsWhatItDoesNotKnow) {
  const std::string text = ".reg .b32 %r1;\nwgmma.fence.sync.aligned;\nfrobnicate.x2 %r1, 7;\n";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Parser, SettlesOpcodesSpelledInEitherOrder) {
  const Function f = body(
      ".reg .b32 %r<9>; .reg .pred %p<9>;\n"
      "vote.sync.ballot.b32 %r1, %p1, -1;\nvote.ballot.sync.b32 %r1, %p1, -1;");
  for (const Instruction& i : f.instructions) {
    EXPECT_EQ(i.warp_mode, WarpMode::kBallot);
    EXPECT_TRUE(i.warp_sync);
  }
}

TEST(Parser, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(error_of(""), "t.ptx:1:1: expected .version at the start, found the end of the text");
  EXPECT_EQ(error_of(kHeader + ".func f()\n{\n\tbra NOWHERE;\n}\n"),
            "t.ptx:6:6: label that function f does not have, found 'NOWHERE'");
  EXPECT_EQ(error_of(kHeader + ".func f()\n{\nadd.s32 %r1, %r2, 1;\n}\n"),
            "t.ptx:6:9: undeclared register, found '%r1'");
  EXPECT_EQ(error_of(kHeader + ".global .align 3 .u32 x;\n"),
            "t.ptx:4:16: an alignment must be a power of two, found '3'");
  EXPECT_EQ(error_of(kHeader + ".global .b8 x[99999999999999999999];\n"),
            "t.ptx:4:15: expected a constant, found '99999999999999999999'");
  EXPECT_EQ(error_of(".version 9.0\n.target sm_75\n.address_size 32\n"),
            "t.ptx:3:15: only 64-bit addresses are supported, found '32'");
}

}  // namespace
}  // namespace drgpum::emulator::ptx
