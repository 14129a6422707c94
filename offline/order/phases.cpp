// SPDX-License-Identifier: Apache-2.0
#include "offline/order/phases.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace drgpum {
namespace {

// Open phases, found by their name or their thread, the latest first.
class OpenPhases {
 public:
  void add(std::uint32_t at, const Phase& phase) {
    is_closed_.resize(at + 1, false);
    by_name_[phase.name].push_back(at);
    by_thread_[phase.thread].push_back(at);
  }
  // kNone: there is none.
  std::uint32_t close(const RangeMark& mark, std::uint16_t thread) {
    std::vector<std::uint32_t>& candidates =
        mark.name == 0 ? by_thread_[thread] : by_name_[mark.name];
    while (!candidates.empty() && is_closed_[candidates.back()])
      candidates.pop_back();
    if (candidates.empty()) return kNone;
    const std::uint32_t at = candidates.back();
    candidates.pop_back();
    is_closed_[at] = true;
    return at;
  }

 private:
  std::vector<bool> is_closed_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_name_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_thread_;
};

// Those of one thread in rows, each in the first that is free; returns how many rows there are.
std::uint32_t give_rows(std::vector<Phase>& phases, std::uint16_t thread, std::uint32_t first) {
  using Row = std::pair<std::uint32_t, std::uint32_t>;  // the call at which it is free, its number
  std::priority_queue<Row, std::vector<Row>, std::greater<>> taken;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> idle;
  std::uint32_t rows = 0;
  for (Phase& phase : phases) {
    if (phase.thread != thread) continue;
    for (; !taken.empty() && taken.top().first <= phase.begin; taken.pop())
      idle.push(taken.top().second);
    if (idle.empty()) idle.push(rows++);
    phase.row = first + idle.top();
    taken.emplace(phase.end, idle.top());
    idle.pop();
  }
  return rows;
}

}  // namespace

std::vector<Phase> phases_of(const Evidence& evidence) {
  std::vector<Phase> phases;
  OpenPhases open;
  for (const RangeMark& mark : evidence.range_marks) {
    const std::uint16_t thread = evidence.apis[mark.api].thread;
    if (mark.begins) {
      phases.push_back({mark.api, evidence.api_count(), mark.name, 0, thread});
      open.add(static_cast<std::uint32_t>(phases.size() - 1), phases.back());
    } else if (const std::uint32_t at = open.close(mark, thread); at != kNone) {
      phases[at].end = std::max(mark.api, phases[at].begin);
    }
  }
  std::stable_sort(phases.begin(), phases.end(), [](const Phase& a, const Phase& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::uint32_t rows = 0;
  for (std::uint32_t thread = 0; thread < evidence.thread_count; ++thread)
    rows += give_rows(phases, static_cast<std::uint16_t>(thread), rows);
  return phases;
}

}  // namespace drgpum
