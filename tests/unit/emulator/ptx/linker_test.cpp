// SPDX-License-Identifier: Apache-2.0
// PTX texts in, one linked text or one error line out.

#include "emulator/ptx/linker.h"

#include <gtest/gtest.h>

#include "emulator/ptx/parser.h"
#include "emulator/ptx/printer.h"

namespace drgpum::emulator::ptx {
namespace {

const std::string kHeader = ".version 9.0\n.target sm_75\n.address_size 64\n";

Result<Program> linked(const std::vector<std::string>& texts) {
  std::vector<Program> units;
  for (const std::string& text : texts) {
    auto unit = parse(kHeader + text, std::string(1, static_cast<char>('a' + units.size())));
    if (!unit) return unit.error();
    units.push_back(*std::move(unit));
  }
  return link(std::move(units));
}

std::string text_of(const std::vector<std::string>& texts) {
  const auto program = linked(texts);
  return program ? to_text(*program).substr(kHeader.size()) : program.error().message;
}

TEST(Linker, JoinsADeclarationWithItsDefinitionInAnotherUnit) {
  EXPECT_EQ(text_of({".extern .func g;\n.extern .global .align 4 .u32 x;\n"
                     ".visible .entry k\n{\n.reg .b32 %r;\ncall g;\nld.global.u32 %r, [x];\n}\n",
                     ".visible .global .align 4 .u32 x = 7;\n.visible .func g\n{\nret;\n}\n"}),
            ".visible .global .u32 x = 7;\n.visible .func g\n{\n\tret;\n}\n"
            ".visible .entry k\n{\n\t.reg .b32 %r;\n\tcall g;\n\tld.global.u32 %r, [x];\n}\n");
}

TEST(Linker, KeepsLocalNamesOfUnitsApart) {
  const std::string unit = ".global .align 4 .u32 x = ";
  const auto program = linked({unit + "1;\n.func f\n{\n.reg .b32 %r;\nld.global.u32 %r, [x];\n}\n",
                               unit + "2;\n.func f\n{\n.reg .b32 %r;\nld.global.u32 %r, [x];\n}\n"
                                      ".global .align 8 .u64 p = x;\n"});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->functions[0].symbols[0].name, "x");
  EXPECT_EQ(program->functions[1].name, "f$1");
  EXPECT_EQ(program->functions[1].symbols[0].name, "x$1");
  EXPECT_EQ(program->functions[1].symbols[0].index, 1u);
  EXPECT_EQ(program->variables[2].relocations[0].symbol, "x$1");
}

TEST(Linker, PrefersStrongDefinitionsThenWeakThenLargestCommon) {
  EXPECT_EQ(text_of({".common .global .align 4 .b8 c[4];\n.weak .global .align 4 .u32 w = 1;\n",
                     ".common .global .align 4 .b8 c[8];\n.visible .global .align 4 .u32 w = 2;\n",
                     ".common .global .align 4 .b8 c[6];\n.weak .global .align 4 .u32 w = 3;\n"}),
            ".common .global .align 4 .b8 c[8];\n.visible .global .u32 w = 2;\n");
}

TEST(Linker, ResolvesABodyInTheUnitThatItCameFrom) {
  const auto program =
      linked({".global .align 4 .u32 x = 1;\n.weak .func f\n{\n.reg .b32 %r;\nld.global.u32 %r, "
              "[x];\n}\n",
              ".global .align 4 .u32 x = 2;\n.visible .func f\n{\n.reg .b32 %r;\nld.global.u32 "
              "%r, [x];\n}\n"});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->functions.size(), 1u);
  EXPECT_EQ(program->functions[0].symbols[0].index, 1u);
}

TEST(Linker, LeavesFunctionsOfTheDeviceRuntimeWithoutABody) {
  const auto program = linked(
      {".extern .func vprintf;\n.func f\n{\ncall vprintf;\n}\n", ".extern .func vprintf;\n"});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->functions.size(), 2u);
  EXPECT_FALSE(program->functions[0].has_body);
  EXPECT_EQ(program->functions[1].symbols[0].kind, SymbolKind::kFunction);
}

TEST(Linker, ReplacesAliasesByTheirTargets) {
  const auto program = linked({".visible .func g\n{\nret;\n}\n.visible .func h;\n.alias h, g;\n",
                               ".extern .func h;\n.func f\n{\ncall h;\n}\n"});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->functions.back().symbols[0].name, "g");
}

TEST(Linker, MergesFileNamesAndKeepsLines) {
  const auto program = linked({".file 1 \"a.cu\"\n",
                               ".file 1 \"b.cu\"\n.file 2 \"a.cu\"\n.func f\n"
                               "{\n.loc 2 5 1\nret;\n}\n"});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->files, (std::vector<std::string>{"a.cu", "b.cu"}));
  EXPECT_EQ(program->functions[0].locations[1].file, 0u);
}

TEST(Linker, NamesTheSymbolAndTheUnitOfEveryError) {
  EXPECT_EQ(text_of({".func f\n{\ncall g;\n}\n"}),
            "a: function f uses 'g', which nothing declares");
  EXPECT_EQ(
      text_of({".extern .global .u32 x;\n.func f\n{\n.reg .b32 %r;\nld.global.u32 %r, [x];\n}\n"}),
      "a: function f uses the variable 'x', which no unit defines");
  EXPECT_EQ(text_of({".visible .func f\n{\nret;\n}\n", ".visible .func f\n{\nret;\n}\n"}),
            "b: symbol 'f' is defined in more than one unit");
  EXPECT_EQ(text_of({".global .u32 x;\n.global .u32 x;\n"}), "a: symbol 'x' is defined twice");
  EXPECT_EQ(text_of({".visible .global .u32 x;\n", ".extern .func x;\n"}),
            "b: symbol 'x' is a variable in one place, a function in another");
}

}  // namespace
}  // namespace drgpum::emulator::ptx
