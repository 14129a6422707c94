// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/fix_groups.h"

#include <algorithm>
#include <set>

#include "offline/patterns/replay.h"

namespace drgpum {
namespace {

// Places of curves that are visited: all for small programs, some passes for large ones.
std::size_t most_work(const Evidence& evidence) {
  return std::max<std::size_t>(std::size_t{8} * evidence.api_count(), 1 << 20);
}

// The groups of one device: of each the findings that its replay can change.
class DeviceGroups {
 public:
  DeviceGroups(const Evidence& evidence, MemoryLevel level, std::uint16_t device,
               std::span<const Finding> findings)
      : evidence_(evidence),
        findings_(findings),
        device_(device),
        replay_(evidence, level, device, findings) {}

  void measure(std::span<FixGroup> groups) {
    const std::uint64_t untouched = replay_.peak();
    for (FixGroup& group : groups) {
      if (!group.measured) continue;
      const std::vector<std::uint32_t> fixes = changing(group);
      replay_.set_some(fixes, true);
      raise(group.peak_saving_bytes, untouched, replay_.peak());
      replay_.set_some(fixes, false);
    }
    std::vector<bool> stands(findings_.size(), false);
    for (std::uint32_t i = 0; i < findings_.size(); ++i)
      stands[i] = counts(i);
    replay_.set_all(stands);
    const std::uint64_t fixed = replay_.peak();
    for (FixGroup& group : groups) {
      if (!group.measured) continue;
      const std::vector<std::uint32_t> fixes = changing(group);
      replay_.set_some(fixes, false);
      raise(group.joint_saving_bytes, replay_.peak(), fixed);
      replay_.set_some(fixes, true);
    }
  }

 private:
  bool counts(std::uint32_t i) const {
    const Finding& f = findings_[i];
    return f.superseded_by == kNone && evidence_.objects[f.object].device == device_ &&
           Replay::changes_curve(f);
  }
  std::vector<std::uint32_t> changing(const FixGroup& group) const {
    std::vector<std::uint32_t> fixes;
    for (const std::uint32_t i : group.findings)
      if (counts(i)) fixes.push_back(i);
    return fixes;
  }
  static void raise(std::uint64_t& saving, std::uint64_t before, std::uint64_t after) {
    if (before > after) saving = std::max(saving, before - after);
  }

  const Evidence& evidence_;
  std::span<const Finding> findings_;
  std::uint16_t device_;
  Replay replay_;
};

}  // namespace

void measure_groups(const Evidence& evidence, MemoryLevel level, std::span<const Finding> findings,
                    std::span<FixGroup> groups) {
  std::size_t work = 0;
  std::set<std::uint16_t> devices;
  for (FixGroup& group : groups) {
    const std::size_t more =
        std::min<std::size_t>(Replay::kVisited * group.findings.size(), evidence.api_count());
    group.measured = work + more <= most_work(evidence);
    if (!group.measured) continue;
    work += more;
    for (const std::uint32_t i : group.findings)
      devices.insert(evidence.objects[findings[i].object].device);
  }
  for (const std::uint16_t device : devices)
    DeviceGroups(evidence, level, device, findings).measure(groups);
}

}  // namespace drgpum
