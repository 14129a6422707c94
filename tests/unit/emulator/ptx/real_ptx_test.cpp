// SPDX-License-Identifier: Apache-2.0
// What nvcc makes of fixtures/kernels.cu, through the whole way.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "emulator/ptx/parser.h"
#include "emulator/ptx/printer.h"
#include "emulator/ptx/words.h"
#include "tests/unit/emulator/ptx/load.h"

namespace drgpum::emulator::ptx {
namespace {

std::string content(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string kernels() {
  return content(FIXTURES "/kernels.ptx");
}

// NVIDIA's assembler as an independent reader.
int assembled(const std::string& text, const std::string& architecture) {
  const std::string path = testing::TempDir() + "printed_for_" + architecture + ".ptx";
  std::ofstream(path) << text;
  return std::system((PTXAS " -arch=" + architecture + " -o /dev/null " + path).c_str());
}

Program loaded() {
  const std::string text = kernels();
  auto program = load_texts({text});
  EXPECT_TRUE(program) << program.error().message;
  return program ? *std::move(program) : Program{};
}

TEST(RealPtx, LoadsWithBlocksInEveryBody) {
  const Program program = loaded();
  std::size_t kernels_seen = 0;
  for (const Function& function : program.functions) {
    kernels_seen += function.is_entry ? 1 : 0;
    EXPECT_EQ(function.blocks.empty(), !function.has_body) << function.name;
  }
  EXPECT_EQ(kernels_seen, 8u);
}

TEST(RealPtx, HoldsTheConstructsThatThisTestIsFor) {
  std::set<Opcode> opcodes;
  std::size_t indirect_calls = 0;
  std::size_t inlined = 0;
  for (const Function& function : loaded().functions) {
    for (const Instruction& i : function.instructions) {
      opcodes.insert(i.opcode);
      EXPECT_NE(i.opcode, Opcode::kOther) << to_text(function, i);
      indirect_calls += i.prototype != kNoRegister ? 1 : 0;
    }
    for (const SourceLocation& l : function.locations)
      inlined += !l.inlined_function.empty();
  }
  for (const Opcode opcode :
       {Opcode::kAtom, Opcode::kBar, Opcode::kCall, Opcode::kCpAsync, Opcode::kDp4a, Opcode::kFma,
        Opcode::kMatch, Opcode::kPrmt, Opcode::kRedux, Opcode::kShf, Opcode::kShfl, Opcode::kTrap,
        Opcode::kVideo, Opcode::kVote, Opcode::kWmma}) {
    EXPECT_TRUE(opcodes.contains(opcode)) << word_of(opcode);
  }
  EXPECT_GE(indirect_calls, 2u);
  EXPECT_GE(inlined, 10u);
}

TEST(RealPtx, PrintsToTextThatParsesToTheSameText) {
  const auto first = parse(kernels());
  ASSERT_TRUE(first) << first.error().message;
  const std::string printed = to_text(*first);
  const auto second = parse(printed);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(to_text(*second), printed);
}

TEST(RealPtx, PrintsToTextThatPtxasTakes) {
  const auto program = parse(kernels());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(assembled(to_text(*program), "sm_80"), 0);
}

TEST(RealPtx, TheNewestInstructionsPassAndPrint) {
  const std::string text = content(SOURCES "/whole_isa.ptx");
  const auto loaded_whole = load_texts({text});
  ASSERT_TRUE(loaded_whole) << loaded_whole.error().message;
  Program program = *parse(text);
  const std::string printed = to_text(program);
  EXPECT_EQ(to_text(*parse(printed)), printed);
  std::string specific = printed;  // Program::target has no letter
  specific.replace(specific.find("sm_100"), 6, "sm_100a");
  EXPECT_EQ(assembled(specific, "sm_100a"), 0);
}

TEST(RealPtx, KeepsInitialValuesAndAddressesOfVariables) {
  const Program program = loaded();
  const auto find = [&](std::string_view name) {
    for (const Variable& v : program.variables) {
      if (v.name == name) return v;
    }
    ADD_FAILURE() << name;
    return Variable{};
  };
  EXPECT_EQ(find("base_value").initial.front(), std::byte{5});
  EXPECT_EQ(find("base_pointer").relocations.front().symbol, "base_value");
  EXPECT_TRUE(find("base_pointer").relocations.front().generic);
  EXPECT_EQ(find("operations").relocations.size(), 2u);
  EXPECT_EQ(find("settings").relocations.front().offset, 16u);
  EXPECT_EQ(find("weights").space, Space::kConst);
  EXPECT_EQ(find("weights").size, 20u);
  EXPECT_TRUE(find("managed_count").managed);
  EXPECT_EQ(find("grid_bytes").size, 15u);
  EXPECT_EQ(find("packed").relocations.size(), 8u);
  EXPECT_EQ(find("packed").relocations[1].offset, 2u);
  EXPECT_EQ(find("packed").relocations[1].mask, 0xFF00u);
  EXPECT_EQ(find("dynamic").linkage, Linkage::kExtern);
}

}  // namespace
}  // namespace drgpum::emulator::ptx
