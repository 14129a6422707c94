// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/savings.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "offline/patterns/replay.h"

namespace drgpum {
namespace {

bool shrinks(Pattern pattern) {
  return pattern == Pattern::kOverallocation || pattern == Pattern::kStructuredAccess;
}

bool frees_sooner(Pattern pattern) {
  return pattern == Pattern::kLateDeallocation || pattern == Pattern::kMemoryLeak;
}

bool reuse_contradicts(const Finding& reuse, const Finding& other) {
  const bool of_guest = other.object == reuse.object;
  const bool of_host = other.object == reuse.host;
  if (other.pattern == Pattern::kRedundantAllocation) return of_guest || other.host == reuse.host;
  if (shrinks(other.pattern)) return of_guest || of_host;
  if (other.pattern == Pattern::kEarlyAllocation) return of_guest;
  return frees_sooner(other.pattern) && of_host;
}

bool touches(const Finding& finding, std::uint32_t object) {
  return finding.object == object || finding.host == object;
}

std::uint64_t less(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

// Ranks the findings of one device.
class Ranking {
 public:
  Ranking(const Evidence& evidence, MemoryLevel level, std::uint16_t device,
          std::vector<Finding>& findings)
      : findings_(findings), replay_(evidence, level, device, findings) {
    of_object_begin_.assign(evidence.objects.size() + 1, 0);
    for (std::uint32_t i = 0; i < findings.size(); ++i)
      if (evidence.objects[findings[i].object].device == device) mine_.push_back(i);
    index_by_object();
  }

  // The peak before and after all fixes that stand.
  DeviceSavings run() {
    DeviceSavings savings{0, 0, replay_.peak(), 0};
    measure_alone();
    std::vector<std::uint32_t> order = ranked();
    take_in_order(order);
    bool settled = false;
    for (int round = 0; round < kRounds && !settled; ++round) {
      measure_joint();
      order = ranked();
      const std::vector<bool> stood = stands_;
      take_in_order(order);
      settled = stands_ == stood;
    }
    if (!settled) measure_joint();
    // Where ranks went round in circles, a fix that gave way ranks no higher than the one before
    // it.
    for (const std::uint32_t i : mine_) {
      Finding& f = findings_[i];
      if (f.superseded_by == kNone) continue;
      f.joint_saving_bytes =
          std::min(f.joint_saving_bytes, findings_[f.superseded_by].joint_saving_bytes);
    }
    savings.peak_after_all_fixes_bytes = replay_.peak();
    return savings;
  }

 private:
  // Joint savings depend on what stands, and that on the ranks; two rounds mostly agree.
  static constexpr int kRounds = 8;
  static constexpr std::size_t kFewOf = 16;  // of so many findings one: replayed one by one

  // Findings by object, as object or host, in one array.
  void index_by_object() {
    const auto each = [&](auto visit) {
      for (const std::uint32_t i : mine_) {
        visit(findings_[i].object, i);
        if (findings_[i].host != kNone && findings_[i].host != findings_[i].object)
          visit(findings_[i].host, i);
      }
    };
    each([&](std::uint32_t object, std::uint32_t) { ++of_object_begin_[object + 1]; });
    for (std::size_t o = 1; o < of_object_begin_.size(); ++o)
      of_object_begin_[o] += of_object_begin_[o - 1];
    of_object_.resize(of_object_begin_.back());
    std::vector<std::uint32_t> next(of_object_begin_.begin(), of_object_begin_.end() - 1);
    each([&](std::uint32_t object, std::uint32_t i) { of_object_[next[object]++] = i; });
  }

  void measure_alone() {
    for (const std::uint32_t i : mine_)
      findings_[i].peak_saving_bytes = replay_.saving_of(i);
  }

  std::vector<std::uint32_t> ranked() const {
    std::vector<std::uint32_t> order = mine_;
    // Most change nothing and keep their order behind the rest.
    const auto rest = std::stable_partition(order.begin(), order.end(), [&](std::uint32_t i) {
      const Finding& f = findings_[i];
      return f.joint_saving_bytes > 0 || f.peak_saving_bytes > 0 || f.idle_at_peak_bytes > 0;
    });
    std::sort(order.begin(), rest, [&](std::uint32_t x, std::uint32_t y) {
      const Finding& a = findings_[x];
      const Finding& b = findings_[y];
      if (a.joint_saving_bytes != b.joint_saving_bytes)
        return a.joint_saving_bytes > b.joint_saving_bytes;
      if (a.peak_saving_bytes != b.peak_saving_bytes)
        return a.peak_saving_bytes > b.peak_saving_bytes;
      if (a.idle_at_peak_bytes != b.idle_at_peak_bytes)
        return a.idle_at_peak_bytes > b.idle_at_peak_bytes;
      return x < y;
    });
    return order;
  }

  // The first standing finding that contradicts `i`, in rank order; kNone when there is none.
  std::uint32_t contradicted_by(std::uint32_t i) const {
    std::uint32_t best = kNone;
    for_each_neighbour(i, [&](std::uint32_t other) {
      if (!stands_[other] || !contradict(findings_[i], findings_[other])) return;
      if (best == kNone || rank_[other] < rank_[best]) best = other;
    });
    return best;
  }

  template <typename Visit>
  void for_each_neighbour(std::uint32_t i, Visit visit) const {
    visit_object(findings_[i].object, i, visit);
    const std::uint32_t host = findings_[i].host;
    if (host != kNone && host != findings_[i].object) visit_object(host, i, visit);
  }

  template <typename Visit>
  void visit_object(std::uint32_t object, std::uint32_t but, Visit visit) const {
    for (std::uint32_t at = of_object_begin_[object]; at < of_object_begin_[object + 1]; ++at)
      if (of_object_[at] != but) visit(of_object_[at]);
  }

  // Only what stands now and did not before, or the other way round, is replayed anew.
  void take_in_order(const std::vector<std::uint32_t>& order) {
    stands_.assign(findings_.size(), false);
    rank_.assign(findings_.size(), kNone);
    for (std::uint32_t place = 0; place < order.size(); ++place)
      rank_[order[place]] = place;
    for (const std::uint32_t i : order) {
      findings_[i].superseded_by = contradicted_by(i);
      stands_[i] = findings_[i].superseded_by == kNone;
    }
    std::size_t changes = 0;
    for (const std::uint32_t i : mine_)
      if (stands_[i] != replay_.is_applied(i)) ++changes;
    if (changes > mine_.size() / kFewOf) {
      replay_.set_all(stands_);
    } else {
      for (const std::uint32_t i : mine_)
        if (!stands_[i]) replay_.remove(i);
      for (const std::uint32_t i : mine_)
        if (stands_[i]) replay_.apply(i);
    }
    replay_.take_bounds();
  }

  void measure_joint() {
    for (const std::uint32_t i : mine_) {
      if (!Replay::changes_curve(findings_[i])) continue;
      findings_[i].joint_saving_bytes = stands_[i] ? replay_.loss_without(i) : joint_if_first(i);
    }
  }

  // What finding `i` adds to the fixes that stand once it has pushed out those that contradict it
  // and these have made room for others.
  std::uint64_t joint_if_first(std::uint32_t i) {
    std::vector<std::uint32_t> out;
    for_each_neighbour(i, [&](std::uint32_t other) {
      if (stands_[other] && contradict(findings_[i], findings_[other])) out.push_back(other);
    });
    for (const std::uint32_t other : out)
      stands_[other] = false;
    stands_[i] = true;
    const std::vector<std::uint32_t> in_turn = that_can_stand_without(out);
    const std::uint64_t saving = is_out_of_reach(i, out, in_turn) ? 0 : replayed(i, out, in_turn);
    stands_[i] = false;
    for (const std::uint32_t other : in_turn)
      stands_[other] = false;
    for (const std::uint32_t other : out)
      stands_[other] = true;
    return saving;
  }

  // Fixes that gave way to those in `out` and contradict none that stands, in rank order; they
  // stand from here on.
  std::vector<std::uint32_t> that_can_stand_without(const std::vector<std::uint32_t>& out) {
    std::vector<std::uint32_t> waiting;
    for (const std::uint32_t gone : out)
      for_each_neighbour(gone, [&](std::uint32_t other) {
        if (!stands_[other]) waiting.push_back(other);
      });
    std::sort(waiting.begin(), waiting.end(),
              [&](std::uint32_t a, std::uint32_t b) { return rank_[a] < rank_[b]; });
    std::vector<std::uint32_t> in_turn;
    for (const std::uint32_t other : waiting) {
      if (stands_[other] || contradicted_by(other) != kNone) continue;
      stands_[other] = true;
      in_turn.push_back(other);
    }
    return in_turn;
  }

  // Whether the peak stays elsewhere: the fixes that go and come leave it as it is, and wherever any
  // of them or `i` changes the curve it stays below, even with all their bytes on top.
  bool is_out_of_reach(std::uint32_t i, const std::vector<std::uint32_t>& out,
                       const std::vector<std::uint32_t>& in_turn) const {
    const std::uint32_t peak = replay_.place_of_peak();
    std::int64_t highest = replay_.bound_where_it_saves(i);
    long double more = 0;
    for (const auto* others : {&out, &in_turn}) {
      for (const std::uint32_t other : *others) {
        if (replay_.touches(other, peak)) return false;
        highest = std::max(highest, replay_.bound_where_it_saves(other));
        more += static_cast<long double>(replay_.size_of(other));
      }
    }
    return !replay_.touches(i, peak) &&
           static_cast<long double>(highest) + more < static_cast<long double>(replay_.peak());
  }

  std::uint64_t replayed(std::uint32_t i, const std::vector<std::uint32_t>& out,
                         const std::vector<std::uint32_t>& in_turn) {
    for (const std::uint32_t other : out)
      replay_.remove(other);
    for (const std::uint32_t other : in_turn)
      replay_.apply(other);
    const std::uint64_t without = replay_.peak();
    replay_.apply(i);
    const std::uint64_t with = replay_.peak();
    replay_.remove(i);
    for (auto other = in_turn.rbegin(); other != in_turn.rend(); ++other)
      replay_.remove(*other);
    for (const std::uint32_t other : out)
      replay_.apply(other);
    return less(without, with);
  }

  std::vector<Finding>& findings_;
  Replay replay_;
  std::vector<std::uint32_t> mine_;
  std::vector<std::uint32_t> of_object_begin_;  // by object, and one more: into of_object_
  std::vector<std::uint32_t> of_object_;
  std::vector<std::uint32_t> rank_;
  std::vector<bool> stands_;
};

void measure_idle_at_peak(const Evidence& evidence, MemoryLevel level, const Peak& peak,
                          std::vector<Finding>& findings) {
  for (Finding& f : findings) {
    const Object& object = evidence.objects[f.object];
    const bool live = object.device == peak.device && holds_memory(object, level) &&
                      object.alloc <= peak.api && peak.api < object.end;
    if (!live) continue;
    const auto uses = evidence.uses_of(f.object);
    const auto at =
        std::lower_bound(uses.begin(), uses.end(), peak.api,
                         [](const Use& use, std::uint32_t api) { return use.api < api; });
    if (at == uses.end() || at->api >= peak.until) f.idle_at_peak_bytes = object.size;
  }
}

// A finding that would come before the one that supersedes it comes right behind it instead.
std::vector<std::uint32_t> behind_what_supersedes(const std::vector<Finding>& findings,
                                                  const std::vector<std::uint32_t>& order) {
  std::vector<bool> shown(findings.size(), false);
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> waiting;
  std::vector<std::uint32_t> result;
  result.reserve(order.size());
  for (const std::uint32_t i : order) {
    const std::uint32_t by = findings[i].superseded_by;
    if (by != kNone && !shown[by]) {
      waiting[by].push_back(i);
      continue;
    }
    shown[i] = true;
    result.push_back(i);
    const auto behind = waiting.find(i);
    if (behind == waiting.end()) continue;
    result.insert(result.end(), behind->second.begin(), behind->second.end());
  }
  return result;
}

void sort_by_rank(std::vector<Finding>& findings) {
  std::vector<std::uint32_t> order(findings.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
    const Finding& a = findings[x];
    const Finding& b = findings[y];
    if (a.joint_saving_bytes != b.joint_saving_bytes)
      return a.joint_saving_bytes > b.joint_saving_bytes;
    if (a.peak_saving_bytes != b.peak_saving_bytes)
      return a.peak_saving_bytes > b.peak_saving_bytes;
    return a.idle_at_peak_bytes > b.idle_at_peak_bytes;
  });
  order = behind_what_supersedes(findings, order);
  std::vector<std::uint32_t> place(findings.size());
  for (std::uint32_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;
  for (Finding& f : findings)
    if (f.superseded_by != kNone) f.superseded_by = place[f.superseded_by];
  // In place, cycle by cycle: a copy of all findings would double their memory.
  for (std::uint32_t i = 0; i < findings.size(); ++i) {
    while (place[i] != i) {
      std::swap(findings[i], findings[place[i]]);
      std::swap(place[i], place[place[i]]);
    }
  }
}

}  // namespace

bool contradict(const Finding& a, const Finding& b) {
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (one->pattern == Pattern::kUnusedAllocation && touches(*other, one->object)) return true;
    if (one->pattern == Pattern::kRedundantAllocation && reuse_contradicts(*one, *other))
      return true;
  }
  return a.object == b.object && shrinks(a.pattern) && shrinks(b.pattern);
}

const DeviceSavings* Savings::of(std::uint16_t device) const {
  const auto at = std::find_if(devices.begin(), devices.end(),
                               [&](const DeviceSavings& one) { return one.device == device; });
  return at == devices.end() ? nullptr : &*at;
}

Savings rank_by_savings(const Evidence& evidence, MemoryLevel level,
                        std::vector<Finding>& findings) {
  std::set<std::uint16_t> devices;
  for (const Object& object : evidence.objects)
    devices.insert(object.device);
  Savings highest;
  for (const std::uint16_t device : devices) {
    std::uint64_t bytes = 0;
    Peak peak;
    for (const LivePoint& point : live_curve(evidence, device, level)) {
      if (bytes != 0 && peak.until == 0) peak.until = point.api;
      if (point.bytes > bytes) {
        bytes = point.bytes;
        peak = {bytes, point.api, 0, device, {}};
      }
    }
    if (peak.until == 0) peak.until = evidence.api_count();
    if (bytes != 0) measure_idle_at_peak(evidence, level, peak, findings);
    DeviceSavings savings = Ranking(evidence, level, device, findings).run();
    savings.device = device;
    savings.peak_api = peak.api;
    if (bytes != 0) highest.devices.push_back(savings);
    if (savings.peak_bytes <= highest.peak_bytes) continue;
    highest.peak_bytes = savings.peak_bytes;
    highest.peak_after_all_fixes_bytes = savings.peak_after_all_fixes_bytes;
  }
  sort_by_rank(findings);
  return highest;
}

}  // namespace drgpum
