// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/fix_groups.h"

#include <array>

#include "tests/support/judged.h"
#include "tests/support/random_program.h"
#include "tests/support/slow_replay.h"

namespace drgpum {
namespace {

using Fixes = std::vector<const Finding*>;

std::uint64_t saved(const SlowReplay& replay, const Fixes& without, const Fixes& with) {
  const std::uint64_t before = replay.peak_with(without);
  const std::uint64_t after = replay.peak_with(with);
  return before > after ? before - after : 0;
}

TEST(FixGroups, SaveWhatAReplayFromScratchSaves) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Report report = report_from_text(RandomProgram(seed, true).text());
    std::array<FixGroup, 3> groups;
    for (std::uint32_t i = 0; i < report.findings.size(); ++i)
      groups.at(report.findings[i].object % 3).findings.push_back(i);
    measure_groups(report.evidence, report.level, report.findings, groups);
    const SlowOrder order(report.evidence);
    for (const FixGroup& group : groups) {
      ASSERT_TRUE(group.measured);
      std::uint64_t alone = 0;
      std::uint64_t joint = 0;
      for (const std::uint16_t device : {std::uint16_t{0}, std::uint16_t{1}}) {
        const SlowReplay replay(report.evidence, order, report.level, device);
        Fixes all;
        Fixes others;
        Fixes mine;
        for (std::uint32_t i = 0; i < report.findings.size(); ++i) {
          const Finding& f = report.findings[i];
          if (f.superseded_by != kNone || report.evidence.objects[f.object].device != device) continue;
          const bool is_mine = std::find(group.findings.begin(), group.findings.end(), i) !=
                               group.findings.end();
          all.push_back(&f);
          (is_mine ? mine : others).push_back(&f);
        }
        alone = std::max(alone, saved(replay, {}, mine));
        joint = std::max(joint, saved(replay, others, all));
      }
      EXPECT_EQ(group.peak_saving_bytes, alone) << seed;
      EXPECT_EQ(group.joint_saving_bytes, joint) << seed;
    }
  }
}

}  // namespace
}  // namespace drgpum
