// SPDX-License-Identifier: Apache-2.0
// Programs that the published tool was evaluated on, as traces: its own rules give its published
// counts; the strict rules give what is true of them.

#include <array>
#include <map>

#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

// PolyBench-GPU 2MM at N = 2048: D := A B C with a matrix of 16 MiB for each name.
constexpr const char* kTwoProducts = R"(
  alloc A 16M; alloc B 16M; alloc C 16M; alloc D 16M; alloc E 16M
  memcpy h2d A; memcpy h2d B; memcpy h2d C; memcpy h2d D; memcpy h2d E
  launch mm2_kernel1 reads A reads B updates C
  launch mm2_kernel2 reads C reads D updates E
  sync device
  memcpy d2h E
  free A; free B; free C; free D; free E
  end exit=0
)";

// PolyBench-GPU 3MM at N = 512: G := (A B) (C D).
constexpr const char* kThreeProducts = R"(
  alloc A 1M; alloc B 1M; alloc C 1M; alloc D 1M; alloc E 1M; alloc F 1M; alloc G 1M
  memcpy h2d A; memcpy h2d B; memcpy h2d C; memcpy h2d D
  memcpy h2d E; memcpy h2d F; memcpy h2d G
  launch mm3_kernel1 reads A reads B updates E
  launch mm3_kernel2 reads C reads D updates F
  launch mm3_kernel3 reads E reads F updates G
  sync device
  memcpy d2h G
  free A; free B; free C; free D; free E; free F; free G
  end exit=0
)";

// PolyBench-GPU BICG at 4096: s := A^T r, q := A p.
constexpr const char* kTwoVectorProducts = R"(
  alloc A 64M; alloc r 16K; alloc s 16K; alloc p 16K; alloc q 16K
  memcpy h2d A; memcpy h2d r; memcpy h2d s; memcpy h2d p; memcpy h2d q
  launch bicg_kernel1 reads A reads r updates s
  launch bicg_kernel2 reads A reads p updates q
  sync device
  memcpy d2h s; memcpy d2h q
  free A; free r; free s; free p; free q
  end exit=0
)";

// PolyBench-GPU GRAMSCHM: for each column, its norm, the column of Q, and the columns to its right,
// of which the last round has none.
std::string orthogonalise(int columns) {
  std::string text = "alloc A 16M; alloc R 16M; alloc Q 16M\nmemcpy h2d A\n";
  for (int k = 0; k < columns; ++k) {
    text += "launch gramschmidt_kernel1 reads A writes R\n";
    text += "launch gramschmidt_kernel2 reads A reads R writes Q\n";
    text += k + 1 < columns ? "launch gramschmidt_kernel3 reads Q updates A updates R\n"
                            : "launch gramschmidt_kernel3\n";
  }
  return text + "sync device\nmemcpy d2h A\nfree A; free R; free Q\nend exit=0\n";
}

constexpr const char* kVectorAddition = R"(
  alloc A 200K; alloc B 200K; alloc C 200K
  memcpy h2d A; memcpy h2d B
  launch vectorAdd reads A reads B writes C
  memcpy d2h C
  free A; free B; free C
  end exit=0
)";

std::map<std::string, int> counts(std::string_view text, Rules rules) {
  ReportOptions options;
  options.rules = rules;
  std::map<std::string, int> found;
  for (const Finding& f : report_from_text(text, options).findings)
    ++found[std::string(name_of(f.pattern))];
  return found;
}

using Counts = std::map<std::string, int>;

TEST(PublishedRules, GiveThePublishedCountsFor2mm) {
  EXPECT_EQ(
      counts(kTwoProducts, Rules::kPublished),
      (Counts{{"early_allocation", 2}, {"late_deallocation", 2}, {"redundant_allocation", 4}}));
}

TEST(PublishedRules, GiveThePublishedCountsFor3mm) {
  EXPECT_EQ(counts(kThreeProducts, Rules::kPublished), (Counts{{"early_allocation", 4},
                                                               {"late_deallocation", 4},
                                                               {"temporary_idleness", 1},
                                                               {"redundant_allocation", 6}}));
}

TEST(PublishedRules, GiveThePublishedCountsForBicg) {
  EXPECT_EQ(
      counts(kTwoVectorProducts, Rules::kPublished),
      (Counts{{"early_allocation", 2}, {"late_deallocation", 2}, {"redundant_allocation", 3}}));
}

TEST(PublishedRules, GiveThePublishedCountsForGramSchmidt) {
  EXPECT_EQ(counts(orthogonalise(16), Rules::kPublished),
            (Counts{{"early_allocation", 1}, {"late_deallocation", 3}, {"temporary_idleness", 1}}));
}

TEST(PublishedRules, CallAVectorAdditionsBuffersRedundantAsTheCodeDoes) {
  EXPECT_EQ(counts(kVectorAddition, Rules::kPublished), (Counts{{"redundant_allocation", 2}}));
}

TEST(PublishedRules, TakeADownloadAfterAnUploadForADeadWrite) {
  EXPECT_EQ(counts("alloc A 1K; memcpy h2d A; memcpy d2h A; free A", Rules::kPublished),
            (Counts{{"dead_write", 1}, {"unused_allocation", 1}}));
}

TEST(StrictRules, FindNothingInAVectorAddition) {
  EXPECT_EQ(findings_in(kVectorAddition), "");
}

TEST(StrictRules, FindTwoReusesAndFourLifetimesIn2mm) {
  EXPECT_EQ(
      counts(kTwoProducts, Rules::kStrict),
      (Counts{{"early_allocation", 2}, {"late_deallocation", 2}, {"redundant_allocation", 2}}));
  const Report report = report_from_text(kTwoProducts);
  EXPECT_EQ(report.peak_bytes(), 80u << 20);
  EXPECT_EQ(report.lower_bound_bytes, 48u << 20);
  EXPECT_EQ(report.savings.peak_after_all_fixes_bytes, 48u << 20);
}

TEST(StrictRules, SayThatTheLifetimesIn2mmSaveOnlyTogether) {
  EXPECT_EQ(findings_in(kTwoProducts),
            "redundant_allocation D->B possible distance=0 moves=1 wasted=16777216 alone=16777216 "
            "joint=16777216\n"
            "redundant_allocation E->A possible distance=0 moves=1 wasted=16777216 alone=16777216 "
            "joint=16777216\n"
            "early_allocation D possible distance=1 moves=1 wasted=16777216 joint=16777216 "
            "superseded\n"
            "early_allocation E possible distance=1 moves=1 wasted=16777216 joint=16777216 "
            "superseded\n"
            "late_deallocation A proven distance=1 wasted=16777216 joint=16777216 superseded\n"
            "late_deallocation B proven distance=1 wasted=16777216 joint=16777216 superseded\n");
}

TEST(StrictRules, FindThreeReusesIn3mmAndTwoInBicg) {
  for (const auto& [text, reuses] :
       {std::pair(kThreeProducts, 3), std::pair(kTwoVectorProducts, 2)}) {
    const Report report = report_from_text(text);
    int found = 0;
    for (const Finding& f : report.findings) {
      if (f.pattern != Pattern::kRedundantAllocation) continue;
      ++found;
      EXPECT_EQ(f.certainty, Certainty::kPossible);
      EXPECT_FALSE(f.must_move.empty());
    }
    EXPECT_EQ(found, reuses);
  }
}

}  // namespace
}  // namespace drgpum
