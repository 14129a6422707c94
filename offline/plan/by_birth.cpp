// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/by_birth.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace drgpum {
namespace {

// The holes below the top, by place and by size.
class Holes {
 public:
  std::int64_t take(std::int64_t size) {
    const auto fits = by_size_.lower_bound({size, 0});
    if (fits == by_size_.end()) {
      top_ += size;
      return top_ - size;
    }
    const auto [length, offset] = *fits;
    remove(offset, length);
    if (length > size) add(offset + size, length - size);
    return offset;
  }
  void give_back(std::int64_t offset, std::int64_t size) {
    const auto next = by_place_.lower_bound(offset);
    if (next != by_place_.end() && next->first == offset + size) {
      const std::int64_t length = next->second;
      remove(offset + size, length);
      size += length;
    }
    const auto behind = by_place_.lower_bound(offset);
    if (behind != by_place_.begin()) {
      const auto [before, length] = *std::prev(behind);
      if (before + length == offset) {
        remove(before, length);
        offset = before;
        size += length;
      }
    }
    if (offset + size == top_)
      top_ = offset;
    else
      add(offset, size);
  }

 private:
  void add(std::int64_t offset, std::int64_t length) {
    by_place_.emplace(offset, length);
    by_size_.emplace(length, offset);
  }
  void remove(std::int64_t offset, std::int64_t length) {
    by_place_.erase(offset);
    by_size_.erase({length, offset});
  }

  std::map<std::int64_t, std::int64_t> by_place_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
  std::int64_t top_ = 0;
};

bool takes_part(const PlanObject& object) {
  return object.size > 0 && object.life.lower < object.life.upper;
}

}  // namespace

// What ends at a time ends before what begins there.
std::vector<std::int64_t> place_by_birth(const Problem& problem) {
  struct Step {
    std::int64_t time;
    bool begins;
    std::size_t object;
  };
  std::vector<Step> steps;
  std::int64_t unit = 1;
  for (std::size_t i = 0; i < problem.objects.size(); ++i) {
    const PlanObject& object = problem.objects[i];
    unit = std::max(unit, object.alignment);
    if (!takes_part(object)) continue;
    steps.push_back({object.life.lower, true, i});
    steps.push_back({object.life.upper, false, i});
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.begins != b.begins ? b.begins : a.object < b.object;
  });
  std::vector<std::int64_t> offsets(problem.objects.size(), 0);
  Holes holes;
  for (const Step& step : steps) {
    const std::int64_t size = (problem.objects[step.object].size + unit - 1) / unit * unit;
    if (step.begins)
      offsets[step.object] = holes.take(size);
    else
      holes.give_back(offsets[step.object], size);
  }
  return offsets;
}

// An object lives together with those born before its end, less those gone before its birth and
// itself; that counts each pair twice.
std::uint64_t pairs_together(const Problem& problem) {
  std::vector<std::int64_t> births, ends;
  for (const PlanObject& object : problem.objects) {
    if (!takes_part(object)) continue;
    births.push_back(object.life.lower);
    ends.push_back(object.life.upper);
  }
  std::sort(births.begin(), births.end());
  std::sort(ends.begin(), ends.end());
  std::uint64_t twice = 0;
  for (const PlanObject& object : problem.objects) {
    if (!takes_part(object)) continue;
    const auto born = std::lower_bound(births.begin(), births.end(), object.life.upper);
    const auto gone = std::upper_bound(ends.begin(), ends.end(), object.life.lower);
    twice += static_cast<std::uint64_t>((born - births.begin()) - (gone - ends.begin()) - 1);
  }
  return twice / 2;
}

}  // namespace drgpum
