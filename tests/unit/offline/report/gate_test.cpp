// SPDX-License-Identifier: Apache-2.0
#include "offline/report/gate.h"

#include "offline/report/suppressions.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

constexpr const char* kProgram =
    "alloc A 1M; alloc B 1M; launch k writes A; launch l writes B; free A; end";

bool holds(std::string_view text, std::optional<std::uint64_t> baseline = std::nullopt) {
  const Result<Gate> gate = parse_gate(text);
  EXPECT_TRUE(gate) << gate.error().message;
  if (!gate) return false;
  const Result<bool> is = is_true(*gate, report_from_text(kProgram), baseline);
  EXPECT_TRUE(is) << is.error().message;
  return is && *is;
}

TEST(Gate, ComparesBytesInTheirUnits) {
  EXPECT_TRUE(holds("peak>1MiB"));
  EXPECT_FALSE(holds("peak > 2 MiB"));
  EXPECT_TRUE(holds("peak>=2MiB"));
  EXPECT_TRUE(holds("peak==2097152"));
  EXPECT_TRUE(holds("peak>2MB"));
  EXPECT_FALSE(holds("peak<2097152B"));
}

TEST(Gate, CountsFindingsOfAPattern) {
  EXPECT_TRUE(holds("memory_leak>0"));
  EXPECT_TRUE(holds("memory_leak=1"));
  EXPECT_FALSE(holds("dead_write!=0"));
}

TEST(Gate, MeasuresSavingsInBytesAndPerCent) {
  EXPECT_TRUE(holds("saving>=1MiB"));
  EXPECT_TRUE(holds("saving>=50%"));
  EXPECT_FALSE(holds("saving>50%"));
}

TEST(Gate, MeasuresGrowthOverABaseline) {
  EXPECT_TRUE(holds("peak_growth>5%", 1 << 20));
  EXPECT_FALSE(holds("peak_growth>5%", 2 << 20));
  EXPECT_FALSE(holds("peak_growth>0", 4 << 20)) << "it shrank";
  EXPECT_FALSE(is_true(*parse_gate("peak_growth>5%"), report_from_text(kProgram), std::nullopt));
}

TEST(Gate, SaysWhatIsWrongWithAnExpression) {
  for (const char* text :
       {"peak", "peak>", "peak>x", "peek>1", "peak>1parsec", "peak>1%", "peak!1"})
    EXPECT_FALSE(parse_gate(text)) << text;
  EXPECT_NE(parse_gate("peek>1").error().message.find("peek"), std::string::npos);
}

TEST(Suppressions, HoldTheirGlobsAgainstNameFunctionAndLine) {
  const auto rules = parse_suppressions("# a comment\n\nmemory_leak:B  # known\n*:nothing\n");
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_EQ(rules->front().reason, "known");
  ReportOptions options;
  options.suppressions = *rules;
  const Report report = report_from_text(kProgram, options);
  for (const Finding& f : report.findings)
    EXPECT_NE(f.pattern, Pattern::kMemoryLeak);
  EXPECT_EQ(report.suppressions.front().count, 1u);
  EXPECT_EQ(report.suppressions.back().count, 0u);
}

TEST(Suppressions, NameTheLineThatIsWrong) {
  const auto rules = parse_suppressions("memory_leak:B\nnonsense\n");
  ASSERT_FALSE(rules);
  EXPECT_NE(rules.error().message.find("line 2"), std::string::npos);
}

}  // namespace
}  // namespace drgpum
