// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/exact_search.h"

#include <algorithm>
#include <utility>

#include "offline/plan/failed_states.h"
#include "offline/plan/skyline_state.h"

namespace drgpum {

class ExactSearch::Impl : SkylineState {
 public:
  Impl(const Instance& instance, std::int64_t capacity, std::uint64_t seed)
      : SkylineState(instance, capacity, seed) {}

  SearchOutcome run(const SearchOrder& order, const SearchLimits& limits) {
    if (instance_.load > capacity_) return SearchOutcome::kInfeasible;
    order_ = order;
    limits_ = &limits;
    node_limit_ = nodes_ + limits.nodes;
    stopped_ = false;
    start_afresh();
    rank_objects();
    const bool solved = settle() && solve_parts({0, instance_.section_count});
    if (!solved) return stopped_ ? SearchOutcome::kGaveUp : SearchOutcome::kInfeasible;
    return SearchOutcome::kSolved;
  }

  const std::vector<std::int64_t>& offsets() const { return offset_; }
  std::int64_t nodes() const { return nodes_; }

 private:
  void rank_objects() {
    rank_.resize(instance_.count());
    for (const Object b : by_first_) {
      const double size = static_cast<double>(instance_.size[b]);
      double length = 0;
      for_sections(b, [&](Section) { length += 1; });
      double rank = size * length;
      if (order_.value == SearchOrder::Value::kSize) rank = size;
      if (order_.value == SearchOrder::Value::kLength) rank = length;
      random_ = mixed_bits(random_ + 0x9e3779b97f4a7c15ULL);
      const double chance = static_cast<double>(random_ >> 11) * 0x1p-53;
      if (order_.value == SearchOrder::Value::kRandom) rank *= chance;
      rank_[b] = rank * (1 + 0.05 * chance);
    }
  }

  // Solves `part` after `placed`: it falls apart where nothing unplaced connects it any more, which
  // can only have happened inside `placed`.
  bool solve_after(SectionRange part, SectionRange placed, std::uint64_t key) {
    for (Section s = placed.first; s <= placed.last; ++s)
      if (s > part.first && s < part.last && crossing_[at(s)] == 0) return solve_parts(part);
    return count_[at(part.first)] == 0 || solve(part, key);
  }

  bool solve_parts(SectionRange whole) {
    std::vector<std::pair<std::uint32_t, SectionRange>> parts;
    Section begin = whole.first;
    for (Section s = whole.first + 1; s <= whole.last; ++s) {
      if (s < whole.last && crossing_[at(s)] != 0) continue;
      const std::uint32_t unplaced = unplaced_in({begin, s});
      if (unplaced > 0) parts.push_back({unplaced, {begin, s}});
      begin = s;
    }
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second.first) < std::pair(b.first, b.second.first);
    });
    for (const auto& part : parts)
      if (!solve(part.second, key_of_part(part.second))) return false;
    return true;
  }

  std::uint32_t unplaced_in(SectionRange part) const {
    std::uint32_t unplaced = 0;
    for (std::uint32_t i = first_index_[at(part.first)]; i < first_index_[at(part.last)]; ++i)
      unplaced += !placed_[by_first_[i]];
    return unplaced;
  }

  bool out_of_budget() {
    ++nodes_;
    if (nodes_ > node_limit_) stopped_ = true;
    if ((nodes_ & 255) == 0 && (WorkClock::now() > limits_->deadline ||
                                (limits_->stop && limits_->stop())))
      stopped_ = true;
    return stopped_;
  }

  std::uint64_t key_of_part(SectionRange part) const {
    std::uint64_t key = 0;
    for (std::uint32_t i = first_index_[at(part.first)]; i < first_index_[at(part.last)]; ++i) {
      const Object b = by_first_[i];
      if (!placed_[b]) key ^= key_[b];
    }
    return key;
  }

  // `key` stands for the state of this part: which objects are unplaced and how low each may go.
  bool solve(SectionRange part, std::uint64_t key) {
    if (out_of_budget()) return false;
    if (failed_states_.contains(key)) return false;
    const Section section = choose_section(part);
    if (try_objects(part, key, section) || try_nothing(part, key, section)) return true;
    if (!stopped_) failed_states_.insert(key);
    return false;
  }

  std::vector<Object> candidates(Section section) const {
    std::vector<Object> found;
    for (std::uint32_t i = 0; i < count_[at(section)]; ++i) {
      const Object b = members_[at(section)][i];
      if (earliest_[b] == floor_[at(section)]) found.push_back(b);
    }
    std::sort(found.begin(), found.end(), [&](Object a, Object b) {
      return rank_[a] != rank_[b] ? rank_[a] > rank_[b] : a < b;
    });
    return found;
  }

  bool try_objects(SectionRange part, std::uint64_t key, Section section) {
    const std::vector<Object> found = candidates(section);
    for (std::size_t i = 0; i < found.size() && !stopped_; ++i) {
      if (same_as_earlier(found, i)) continue;
      const std::size_t before_change = mark();
      begin_change();
      const std::uint64_t before = state_key_;
      place(found[i]);
      if (settle() && solve_after(part, instance_.hull_of(found[i]), key ^ before ^ state_key_))
        return true;
      undo_to(before_change);
    }
    return false;
  }

  bool same_as_earlier(const std::vector<Object>& found, std::size_t i) const {
    const SectionRange hull = instance_.hull_of(found[i]);
    if (instance_.ranges_of(found[i]).size() > 1) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (instance_.size[found[j]] != instance_.size[found[i]]) continue;
      if (instance_.alignment[found[j]] != instance_.alignment[found[i]]) continue;
      if (instance_.ranges_of(found[j]).size() > 1) continue;
      const SectionRange other = instance_.hull_of(found[j]);
      if (other.first == hull.first && other.last == hull.last) return true;
    }
    return false;
  }

  // Nothing rests on the section's floor: whatever could has to wait for the end of something
  // beside the section.
  bool try_nothing(SectionRange part, std::uint64_t key, Section section) {
    if (stopped_) return false;
    if (floor_[at(section)] + remaining_[at(section)] >= capacity_) return false;
    const std::size_t before_change = mark();
    const std::uint64_t before = state_key_;
    begin_change();
    const std::int64_t floor = floor_[at(section)];
    for (std::uint32_t i = 0; i < count_[at(section)]; ++i) {
      const Object b = members_[at(section)][i];
      if (earliest_[b] != floor) continue;
      const std::int64_t height = earliest_without(b, section);
      if (height + instance_.size[b] > capacity_) return undo_to(before_change), false;
      raise_earliest(b, height);
    }
    if (settle() && solve(part, key ^ before ^ state_key_)) return true;
    undo_to(before_change);
    return false;
  }

  std::int64_t earliest_without(Object b, Section section) const {
    std::int64_t height = kNever;
    for (const Object c : neighbours_[b]) {
      if (placed_[c] || covers(c, section)) continue;
      height = std::min(height, earliest_[c] + instance_.size[c]);
    }
    return height;
  }

  bool covers(Object c, Section section) const {
    for (const SectionRange& range : instance_.ranges_of(c))
      if (range.first <= section && section < range.last) return true;
    return false;
  }

  struct Choice {
    std::int64_t first = kNever, second = kNever, third = kNever;
    friend auto operator<=>(const Choice&, const Choice&) = default;
  };

  // A section in a local minimum of the skyline, where walls on both sides are higher.
  Section choose_section(SectionRange part) const {
    Section best = part.first;
    Choice best_choice;
    Section s = part.first;
    const std::int64_t lowest = instance_.has_gaps ? lowest_floor(part) : -1;
    while (s < part.last) {
      Section end = s + 1;
      while (end < part.last && floor_[at(end)] == floor_[at(s)])
        ++end;
      const bool wall_before = s == part.first || floor_[at(s) - 1] > floor_[at(s)];
      const bool wall_after = end == part.last || floor_[at(end)] > floor_[at(s)];
      if (wall_before && wall_after && (lowest < 0 || floor_[at(s)] == lowest))
        choose_in({s, end}, best, best_choice);
      s = end;
    }
    return best;
  }

  std::int64_t lowest_floor(SectionRange part) const {
    std::int64_t lowest = kNever;
    for (Section s = part.first; s < part.last; ++s)
      if (count_[at(s)] > 0) lowest = std::min(lowest, floor_[at(s)]);
    return lowest;
  }

  void choose_in(SectionRange flat, Section& best, Choice& best_choice) const {
    for (Section s = flat.first; s < flat.last; ++s) {
      if (count_[at(s)] == 0) continue;
      const Choice choice = rate(s);
      if (choice < best_choice) {
        best_choice = choice;
        best = s;
      }
    }
  }

  Choice rate(Section s) const {
    const std::int64_t slack = capacity_ - floor_[at(s)] - remaining_[at(s)];
    std::int64_t choices = slack > 0 ? 1 : 0;
    choices += ready_[at(s)];
    switch (order_.place) {
      case SearchOrder::Place::kLowest:
        return {floor_[at(s)], choices, slack};
      case SearchOrder::Place::kLeastSlack:
        return {slack, choices, floor_[at(s)]};
      case SearchOrder::Place::kFewestChoices:
        break;
    }
    return {choices, slack, floor_[at(s)]};
  }

  SearchOrder order_;
  std::vector<double> rank_;
  FailedStates failed_states_;
  const SearchLimits* limits_ = nullptr;  // of the run that goes on
  std::int64_t nodes_ = 0;
  std::int64_t node_limit_ = 0;
  bool stopped_ = false;
};

ExactSearch::ExactSearch(const Instance& instance, std::int64_t capacity, std::uint64_t seed)
    : impl_(std::make_unique<Impl>(instance, capacity, seed)) {}
ExactSearch::~ExactSearch() = default;
SearchOutcome ExactSearch::run(const SearchOrder& order, const SearchLimits& limits) {
  return impl_->run(order, limits);
}
const std::vector<std::int64_t>& ExactSearch::offsets() const {
  return impl_->offsets();
}
std::int64_t ExactSearch::nodes() const {
  return impl_->nodes();
}

}  // namespace drgpum
