// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/savings.h"

#include <map>
#include <random>

#include "offline/patterns/live_tree.h"
#include "tests/support/judged.h"
#include "tests/support/random_program.h"

namespace drgpum {
namespace {

TEST(LiveTree, EqualsAnArrayUnderRandomAdditions) {
  std::mt19937 random(7);
  constexpr std::uint32_t kPlaces = 37;
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < kPlaces; ++i)
    places.push_back(3 * i);
  LiveTree tree(places);
  std::vector<std::int64_t> array(kPlaces - 1, 0);
  for (int round = 0; round < 2000; ++round) {
    const auto a = static_cast<std::uint32_t>(random() % kPlaces);
    const auto b = static_cast<std::uint32_t>(random() % kPlaces);
    const auto [l, r] = std::minmax(a, b);
    if (l == r) continue;
    const auto bytes = static_cast<std::int64_t>(random() % 200) - 100;
    tree.add(3 * l, 3 * r, bytes);
    for (std::uint32_t i = l; i < r; ++i)
      array[i] += bytes;
    ASSERT_EQ(tree.peak_within(3 * l, 3 * r),
              *std::max_element(array.begin() + l, array.begin() + r));
    ASSERT_EQ(tree.peak(),
              std::max<std::int64_t>(0, *std::max_element(array.begin(), array.end())));
  }
}

// The peak with some findings fixed, call by call, from the definitions alone.
std::uint64_t peak_with(const Evidence& e, const std::vector<const Finding*>& fixed) {
  struct Life {
    std::uint32_t begin, end;
    std::uint64_t size;
    std::vector<Gap> away;
    std::uint32_t host = kNone;
  };
  std::vector<Life> lives;
  for (const Object& o : e.objects)
    lives.push_back({o.alloc, o.end, o.size, {}, kNone});
  std::map<std::uint32_t, std::uint32_t> guest_of;
  for (const Finding* f : fixed) {
    Life& life = lives[f->object];
    switch (f->pattern) {
      case Pattern::kEarlyAllocation:
        life.begin = f->to;
        break;
      case Pattern::kLateDeallocation:
      case Pattern::kMemoryLeak:
        if (!f->gaps.empty()) life.end = f->gaps.front().begin;
        break;
      case Pattern::kUnusedAllocation:
        life.size = 0;
        break;
      case Pattern::kTemporaryIdleness:
        life.away = f->gaps;
        break;
      case Pattern::kRedundantAllocation:
        if (f->missing & kMissingOrder) break;
        life.host = f->host;
        guest_of[f->host] = f->object;
        break;
      default:
        break;
    }
  }
  std::uint64_t peak = 0;
  for (std::uint32_t call = 0; call <= e.api_count(); ++call) {
    std::uint64_t live = 0;
    for (std::uint32_t o = 0; o < lives.size(); ++o) {
      if (lives[o].host != kNone) continue;
      std::uint32_t last = o;
      bool away = false;
      for (std::uint32_t member = o;; member = guest_of.at(member)) {
        last = member;
        for (const Gap& gap : lives[member].away)
          away = away || (gap.begin <= call && call < gap.end);
        if (guest_of.count(member) == 0) break;
      }
      if (lives[o].begin <= call && call < lives[last].end && !away) live += lives[o].size;
    }
    peak = std::max(peak, live);
  }
  return peak;
}

TEST(Savings, HoldInAReplayFromScratch) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const Report report = report_from_text(RandomProgram{seed}.text());
    const Evidence& e = report.evidence;
    std::vector<const Finding*> standing;
    for (const Finding& f : report.findings)
      if (f.superseded_by == kNone) standing.push_back(&f);
    const std::uint64_t peak = peak_with(e, {});
    const std::uint64_t after = peak_with(e, standing);
    ASSERT_EQ(report.savings.peak_bytes, peak) << seed;
    ASSERT_EQ(report.savings.peak_after_all_fixes_bytes, after) << seed;
    for (const Finding& f : report.findings) {
      const std::uint64_t alone = peak_with(e, {&f});
      ASSERT_EQ(f.peak_saving_bytes, peak > alone ? peak - alone : 0) << seed << line_of(report, f);
      if (f.superseded_by != kNone) continue;
      std::vector<const Finding*> others = standing;
      std::erase(others, &f);
      const std::uint64_t without = peak_with(e, others);
      ASSERT_EQ(f.joint_saving_bytes, without > after ? without - after : 0)
          << seed << " " << line_of(report, f);
    }
  }
}

TEST(Savings, AFixThatStandsContradictsNoOther) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const Report report = report_from_text(RandomProgram{seed}.text());
    for (std::size_t i = 0; i < report.findings.size(); ++i) {
      const Finding& f = report.findings[i];
      if (f.superseded_by != kNone) {
        ASSERT_LT(f.superseded_by, i);
        ASSERT_TRUE(contradict(f, report.findings[f.superseded_by]));
        ASSERT_EQ(report.findings[f.superseded_by].superseded_by, kNone);
        continue;
      }
      for (std::size_t k = 0; k < i; ++k)
        ASSERT_TRUE(report.findings[k].superseded_by != kNone ||
                    !contradict(f, report.findings[k]));
    }
  }
}

TEST(Savings, DoNotDependOnTheNamesOfStreamsNorOnAddresses) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    RandomProgram program{seed};
    const std::string before = findings_in(program.text());
    program.stream_prefix = "another";
    program.first_address += 1 << 20;
    ASSERT_EQ(findings_in(program.text()), before) << seed;
  }
}

TEST(Savings, ClaimNoMemoryThatOverlappingStreamsNeed) {
  // Two streams, double-buffered: while one copies, the other computes. All four buffers are in
  // use all the time.
  std::string text =
      "stream s non-blocking; stream t non-blocking\n"
      "alloc in0 1M; alloc out0 1M; alloc in1 1M; alloc out1 1M\n";
  for (int round = 0; round < 6; ++round) {
    const std::string n = std::to_string(round % 2);
    const std::string on = round % 2 == 0 ? " on=s" : " on=t";
    text += "memcpy h2d in" + n + " async" + on + "\nlaunch k reads in" + n + " writes out" + n +
            on + "\nmemcpy d2h out" + n + " async" + on + "\n";
  }
  text += "sync device\nfree in0; free out0; free in1; free out1\nend";
  const Report report = report_from_text(text);
  EXPECT_EQ(report.peak_bytes(), 4u << 20);
  EXPECT_EQ(report.savings.peak_after_all_fixes_bytes, 4u << 20);
  for (const Finding& f : report.findings) {
    EXPECT_EQ(f.peak_saving_bytes, 0u) << line_of(report, f);
    EXPECT_EQ(f.joint_saving_bytes, 0u) << line_of(report, f);
  }
}

TEST(Savings, RankByJointThenAloneThenIdleBytes) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const Report report = report_from_text(RandomProgram{seed}.text());
    std::vector<Finding> standing;
    for (const Finding& f : report.findings)
      if (f.superseded_by == kNone) standing.push_back(f);
    for (std::size_t i = 1; i < standing.size(); ++i) {
      const Finding& a = standing[i - 1];
      const Finding& b = standing[i];
      const auto key = [](const Finding& f) {
        return std::tuple(f.joint_saving_bytes, f.peak_saving_bytes, f.idle_at_peak_bytes);
      };
      ASSERT_GE(key(a), key(b)) << seed;
    }
  }
}

}  // namespace
}  // namespace drgpum
