// SPDX-License-Identifier: Apache-2.0
// Lines of PTX: a text written by hand, texts one behind the other, what nvcc writes, damage.
#include "offline/source/ptx_lines.h"

#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace drgpum {
namespace {

constexpr const char* kSmall = R"(// made by hand
.version 9.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 a, .param .b64 b);
.global .align 4 .b8 table[8] = {1, 2, 3, 4};
.visible .entry first(
	.param .u64 first_param_0
)
.maxntid 32, 1, 1
{
	.reg .b32 	%r<4>;
	.loc	1 10 0
	ld.param.u64 	%rd1, [first_param_0];
	/* .loc 1 99 1 */
	.loc	1 12 3
	.loc	2 5 3, function_name $L__info_string0, inlined_at 1 12 3
	@%p1 bra 	$L_end;
	{
	.loc	2 2 3, function_name $L__info_string0+4, inlined_at 2 5 3
	st.global.v2.f32 	[%rd1], {%f1, %f2};
	}
	.pragma "nounroll";
$L_end:
	.loc	1 13 1
	ret;
}
.func second()
{
	ret;
	.loc	2 7 1
	ret;
}
	.file	1 "/src/a.cu"
	.file	2 "/src/b.cuh", 1, 2
	.section	.debug_str
	{
$L__info_string0:
.b8 95,90,51,0
.b8 104,105,0
	}
)";

std::string text_of(const std::vector<AddressFrame>& frames) {
  std::string text;
  for (const AddressFrame& frame : frames) {
    if (!text.empty()) text += frame.inlined || &frame == &frames.back() ? " < " : " ? ";
    text += frame.function + " " + frame.file + ":" + std::to_string(frame.line);
  }
  return text;
}

PtxLines lines_of(std::string_view text) {
  auto lines = PtxLines::parse(text);
  EXPECT_TRUE(lines) << lines.error().message;
  return *std::move(lines);
}

// Of a line of kSmall that holds `text`, from 1.
std::uint64_t line_of(std::string_view text, std::string_view in = kSmall) {
  std::uint64_t line = 1;
  for (const char c : in.substr(0, in.find(text)))
    line += c == '\n' ? 1 : 0;
  return line;
}

TEST(PtxLinesTest, EachInstructionHasThePlaceOfTheLocBeforeIt) {
  const PtxLines lines = lines_of(kSmall);
  EXPECT_EQ(text_of(lines.at(line_of("ld.param"))), "first /src/a.cu:10");
  EXPECT_EQ(text_of(lines.at(line_of("@%p1 bra"))), "_Z3 /src/b.cuh:5 < first /src/a.cu:12");
  EXPECT_EQ(text_of(lines.at(line_of("st.global"))),
            "hi /src/b.cuh:2 < _Z3 /src/b.cuh:5 < first /src/a.cu:12");
  EXPECT_EQ(text_of(lines.at(line_of("$L_end:") + 2)), "first /src/a.cu:13");
  EXPECT_EQ(text_of(lines.at(line_of("$L_end:"))), "");
  EXPECT_EQ(text_of(lines.at(line_of("second") + 2)), "");  // no .loc yet
  EXPECT_EQ(text_of(lines.at(line_of("second") + 4)), "second /src/b.cuh:7");
  EXPECT_EQ(text_of(lines.at(0)), "");
  EXPECT_EQ(text_of(lines.at(1000)), "");
}

TEST(PtxLinesTest, TextsOneBehindTheOtherHaveTheirOwnFiles) {
  const std::string both = std::string(kSmall) +
                           ".version 9.0\n/*\n*/.entry third()\n{\n.loc 1 3 1\nexit;\n}\n"
                           ".file 1 \"/src/c.cu\"\n";
  const PtxLines lines = lines_of(both);
  EXPECT_EQ(text_of(lines.at(line_of("ld.param"))), "first /src/a.cu:10");
  EXPECT_EQ(text_of(lines.at(line_of("exit;", both))), "third /src/c.cu:3");
}

TEST(PtxLinesTest, WhatHasNoLinesIsToldApartFromWhatIsNoPtx) {
  EXPECT_EQ(PtxLines::parse(".version 9.0\n.entry k(){ret;}").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(PtxLines::parse("").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(PtxLines::parse("\x7f" "ELF").error().code, ErrorCode::kCorrupt);
}

TEST(PtxLinesTest, TheCompilersTextGivesChains) {
  std::ifstream file(INLINED_PTX);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const PtxLines lines = lines_of(text);
  std::set<std::string> places;
  for (std::uint64_t at = 1; at < 500; ++at) {
    std::string place = text_of(lines.at(at));
    for (std::size_t slash = 0; (slash = place.find(" /")) != std::string::npos;)
      place.erase(slash + 1, place.find("inlined_kernels", slash) - slash - 1);
    places.insert(place);
  }
  EXPECT_TRUE(places.contains("_Z3putPfif inlined_kernels.cuh:14 < entry inlined_kernels.cu:15"));
  EXPECT_TRUE(places.contains(
      "_Z3getPKfi inlined_kernels.cuh:6 < _Z7get_twoPKfi inlined_kernels.cuh:10 < entry "
      "inlined_kernels.cu:12"));
}

TEST(PtxLinesTest, DamagedTextIsReadWithoutHarm) {
  const std::string good = kSmall;
  std::mt19937 random(9);
  for (int k = 0; k < 5000; ++k) {
    std::string text = good;
    for (std::uint32_t change = 1 + random() % 8; change > 0; --change)
      text[random() % text.size()] = static_cast<char>(random());
    if (k % 5 == 0) text.resize(random() % text.size());
    const auto lines = PtxLines::parse(text);
    if (!lines) continue;
    for (std::uint64_t at = 0; at < 60; ++at)
      EXPECT_LE(lines->at(at).size(), 64u);
  }
}

}  // namespace
}  // namespace drgpum
