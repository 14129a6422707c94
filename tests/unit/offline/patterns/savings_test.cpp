// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/savings.h"

#include <map>
#include <random>

#include "offline/patterns/live_tree.h"
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"
#include "tests/support/random_program.h"
#include "tests/support/slow_replay.h"

namespace drgpum {
namespace {

TEST(LiveTree, EqualsAnArrayUnderRandomAdditions) {
  std::mt19937 random(7);
  constexpr std::uint32_t kPlaces = 437;
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
    const bool at_once = random() % 4 == 0;
    if (at_once) tree.begin_batch();
    tree.add(3 * l, 3 * r, bytes);
    if (at_once) tree.add(0, 3 * r, bytes);
    if (at_once) tree.end_batch();
    for (std::uint32_t i = 0; i < r; ++i)
      array[i] += (i >= l ? bytes : 0) + (at_once ? bytes : 0);
    tree.take_bounds();
    ASSERT_GE(tree.bound_within(3 * l, 3 * r), tree.peak_within(3 * l, 3 * r));
    ASSERT_LE(tree.bound_within(3 * l, 3 * r), tree.peak());
    ASSERT_EQ(tree.peak_within(3 * l, 3 * r),
              *std::max_element(array.begin() + l, array.begin() + r));
    ASSERT_EQ(tree.peak(),
              std::max<std::int64_t>(0, *std::max_element(array.begin(), array.end())));
  }
}

// A report, and its findings of one device with a replay that is slow and simple.
struct Checked {
  const Report& report;
  SlowReplay replay;
  std::vector<const Finding*> findings;  // in rank order
  std::vector<const Finding*> standing;

  Checked(const Report& r, const SlowOrder& order, std::uint16_t device)
      : report(r), replay(r.evidence, order, r.level, device) {
    for (const Finding& f : r.findings) {
      if (r.evidence.objects[f.object].device != device) continue;
      findings.push_back(&f);
      if (f.superseded_by == kNone) standing.push_back(&f);
    }
  }

  std::uint64_t saved(const std::vector<const Finding*>& without,
                      const std::vector<const Finding*>& with) const {
    const std::uint64_t before = replay.peak_with(without);
    const std::uint64_t after = replay.peak_with(with);
    return before > after ? before - after : 0;
  }
  std::uint64_t joint(const Finding& f) const {
    std::vector<const Finding*> others;
    const auto fits = [&](const Finding* g) {
      return g != &f && !contradict(f, *g) &&
             std::none_of(others.begin(), others.end(),
                          [&](const Finding* other) { return contradict(*other, *g); });
    };
    for (const Finding* g : standing)
      if (g != &f && !contradict(f, *g)) others.push_back(g);
    for (const Finding* g : findings)
      if (g->superseded_by != kNone && fits(g)) others.push_back(g);
    std::vector<const Finding*> all = others;
    all.push_back(&f);
    const std::uint64_t bytes = saved(others, all);
    if (f.superseded_by == kNone) return bytes;
    return std::min(bytes, report.findings[f.superseded_by].joint_saving_bytes);
  }
};

void expect_savings_hold(const Report& report, const std::string& where) {
  const SlowOrder order(report.evidence);
  std::uint64_t highest = 0;
  for (const std::uint16_t device : {std::uint16_t{0}, std::uint16_t{1}}) {
    const Checked checked(report, order, device);
    const std::uint64_t peak = checked.replay.peak_with({});
    if (peak > highest) {
      highest = peak;
      EXPECT_EQ(report.savings.peak_after_all_fixes_bytes,
                checked.replay.peak_with(checked.standing))
          << where;
    }
    for (const Finding* f : checked.findings) {
      const std::string line = where + " " + line_of(report, *f);
      EXPECT_EQ(f->peak_saving_bytes, checked.saved({}, {f})) << line;
      EXPECT_EQ(f->joint_saving_bytes, checked.joint(*f)) << line;
      EXPECT_EQ(f->idle_at_peak_bytes, checked.replay.idle_at_peak(f->object)) << line;
    }
  }
  EXPECT_EQ(report.savings.peak_bytes, highest) << where;
}

TEST(Savings, HoldInAReplayFromScratch) {
  std::map<Pattern, int> found;
  for (std::uint32_t seed = 0; seed < 150 && !::testing::Test::HasFailure(); ++seed) {
    RandomProgram program(seed, seed % 3 != 0);
    program.steps = 60;
    ReportOptions options;
    if (seed % 5 == 1) options.level = MemoryLevel::kTensor;
    const Report report = report_from_text(program.text(), options);
    expect_savings_hold(report, "seed " + std::to_string(seed));
    for (const Finding& f : report.findings)
      ++found[f.pattern];
  }
  for (const PatternEntry& entry : kPatterns)
    EXPECT_GT(found[entry.pattern], 2) << entry.name << " hardly occurs: the test says little";
}

TEST(Savings, AFixThatStandsContradictsNoOther) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const Report report = report_from_text(RandomProgram(seed, seed % 2 == 0).text());
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

TEST(Savings, DoNotDependOnStreamsNamesOrIdsNorOnAddresses) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    RandomProgram program(seed, seed % 2 == 0);
    const std::string before = findings_in(program.text());
    program.stream_prefix = "another";
    program.last_stream_first = true;
    program.first_address += 5 << 20;
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
    const Report report = report_from_text(RandomProgram(seed, seed % 2 == 0).text());
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
