// SPDX-License-Identifier: Apache-2.0
#include "profiler/ptx_functions.h"

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

using Lines = std::vector<std::uint32_t>;

TEST(PtxFunctions, EachInstructionHasItsLine) {
  const auto functions = functions_in_ptx(R"(.version 8.0
.target sm_75
.visible .entry add(.param .u64 add_param_0)
{
  .reg .b32 %r<4>;  // not one
  .loc 1 5 3
  ld.global.u32 %r1,
      [%rd1];
  @!%p1 bra $L__BB0_2;
  mov.u32 %r2, 1; mov.u32 %r3, 2;
$L__BB0_2:
  ret;
}
)");
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "add");
  EXPECT_EQ(functions[0].lines, (Lines{7, 9, 10, 10, 12}));
}

TEST(PtxFunctions, BlocksCallsAndTablesOfLabelsCountAsTheExecutorCountsThem) {
  const auto functions = functions_in_ptx(R"(.func (.param .b32 r) helper(.param .b32 a)
{
{ // a block
.param .b64 p0;
st.param.b64 [p0], %rd1;
call.uni (r0),
  other, (p0);
}
prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _);
$table: .branchtargets $a, $b;
st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
/* a comment;
   of lines */ exit;
}
)");
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].lines, (Lines{5, 6, 11, 13}));
}

TEST(PtxFunctions, DeclarationsAndVariablesAreNoFunctions) {
  const auto functions = functions_in_ptx(R"(.extern .func (.param .b32 r) printf_(.param .b64 a);
.global .align 4 .b8 text[4] = {115, 46, 59, 125};
.global .b8 other[3] = "{;";
.entry last() { ret; }
.file 1 "a;{b.cu"
.section .debug_str
{
.b8 95,90
}
.entry more()
{
ret; }
)");
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].name, "last");
  EXPECT_EQ(functions[0].lines, Lines{4});
  EXPECT_EQ(functions[1].lines, Lines{12});
}

TEST(PtxFunctions, TextThatStopsAnywhereIsReadToItsEnd) {
  const std::string text =
      ".entry k(.param .u64 p)\n{\n@%p bra a; /* x */ .loc 1 2 3\na: ret;\n}\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_LE(functions_in_ptx(text.substr(0, size)).size(), 1u);
  }
}

}  // namespace
}  // namespace drgpum::profiler
