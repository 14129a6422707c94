// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/exact_search.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace drgpum {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

std::uint64_t mix(std::uint64_t x) {  // splitmix64's finaliser
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A set of 64-bit state keys; when full it forgets everything, which only costs time.
class FailedStates {
 public:
  bool contains(std::uint64_t key) const {
    key |= key == 0;
    for (std::size_t at = key & mask();; at = (at + 1) & mask()) {
      if (slots_[at] == key) return true;
      if (slots_[at] == 0) return false;
    }
  }

  void insert(std::uint64_t key) {
    key |= key == 0;
    if (2 * used_ >= slots_.size()) grow();
    std::size_t at = key & mask();
    while (slots_[at] != 0)
      at = (at + 1) & mask();
    slots_[at] = key;
    ++used_;
  }

 private:
  static constexpr std::size_t kMaxSlots = std::size_t{1} << 24;  // 128 MiB

  std::size_t mask() const { return slots_.size() - 1; }

  void grow() {
    std::vector<std::uint64_t> old(std::min(slots_.size() * 2, kMaxSlots));
    const bool forget = old.size() == slots_.size();
    old.swap(slots_);
    used_ = 0;
    if (forget) return;
    for (const std::uint64_t key : old)
      if (key != 0) insert(key);
  }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(std::size_t{1} << 12);
  std::size_t used_ = 0;
};

}  // namespace

class ExactSearch::Impl {
 public:
  Impl(const Instance& instance, std::int64_t capacity, std::uint64_t seed)
      : instance_(instance), capacity_(capacity), random_(mix(seed + 1)) {
    index_objects();
    index_members();
    index_neighbours();
  }

  SearchOutcome run(const SearchOrder& order, std::int64_t max_nodes,
                    std::chrono::steady_clock::time_point deadline) {
    if (instance_.load > capacity_) return SearchOutcome::kInfeasible;
    order_ = order;
    node_limit_ = nodes_ + max_nodes;
    deadline_ = deadline;
    stopped_ = false;
    start_afresh();
    const bool solved = settle() && solve_parts({0, instance_.section_count});
    if (!solved) return stopped_ ? SearchOutcome::kGaveUp : SearchOutcome::kInfeasible;
    return SearchOutcome::kSolved;
  }

  const std::vector<std::int64_t>& offsets() const { return offset_; }
  std::int64_t nodes() const { return nodes_; }

 private:
  using Object = std::uint32_t;
  using Section = std::int32_t;
  static std::size_t at(Section s) { return static_cast<std::size_t>(s); }

  // One change that has to be taken back: what, where, and the value before.
  struct Undo {
    enum class What : std::uint8_t { kEarliest, kFloor, kReady, kPlaced };
    What what;
    std::uint32_t where;
    std::int64_t before;
  };

  template <typename Do>
  void for_sections(Object b, Do&& act) {
    for (const SectionRange& range : instance_.ranges_of(b))
      for (Section s = range.first; s < range.last; ++s)
        act(s);
  }

  // ---- set-up ----

  void index_objects() {
    const std::size_t n = instance_.count();
    by_first_.reserve(n);
    for (Object b = 0; b < n; ++b)
      if (!instance_.ranges_of(b).empty()) by_first_.push_back(b);
    std::sort(by_first_.begin(), by_first_.end(), [&](Object a, Object b) {
      return std::pair(instance_.hull_of(a).first, a) < std::pair(instance_.hull_of(b).first, b);
    });
    first_index_.assign(at(instance_.section_count) + 1, 0);
    for (const Object b : by_first_)
      ++first_index_[at(instance_.hull_of(b).first) + 1];
    for (std::size_t s = 1; s < first_index_.size(); ++s)
      first_index_[s] += first_index_[s - 1];
    salt_.resize(n);
    for (std::uint64_t& salt : salt_)
      salt = random_ = mix(random_ + 0x9e3779b97f4a7c15ULL);
  }

  void index_members() {
    members_.resize(at(instance_.section_count));
    slot_begin_.assign(instance_.count() + 1, 0);
    for (Object b = 0; b < instance_.count(); ++b) {
      slot_begin_[b] = slot_.size();
      for_sections(b, [&](Section s) {
        slot_.push_back(static_cast<std::uint32_t>(members_[at(s)].size()));
        members_[at(s)].push_back(b);
      });
    }
    slot_begin_[instance_.count()] = slot_.size();
    slot_of_.resize(at(instance_.section_count));
    for (std::size_t s = 0; s < members_.size(); ++s)
      slot_of_[s].resize(members_[s].size());
    for (Object b = 0; b < instance_.count(); ++b) {
      std::size_t k = slot_begin_[b];
      for_sections(b, [&](Section s) {
        slot_of_[at(s)][slot_[k]] = k;
        ++k;
      });
    }
  }

  void index_neighbours() {
    neighbours_.resize(instance_.count());
    std::vector<Object> seen(instance_.count(), UINT32_MAX);
    for (const Object b : by_first_) {
      for_sections(b, [&](Section s) {
        for (const Object c : members_[at(s)]) {
          if (c == b || seen[c] == b) continue;
          seen[c] = b;
          neighbours_[b].push_back(c);
        }
      });
    }
  }

  void start_afresh() {
    const std::size_t n = instance_.count();
    trail_.clear();
    earliest_.assign(n, 0);
    offset_.assign(n, 0);
    placed_.assign(n, 0);
    key_.resize(n);
    for (const Object b : by_first_)
      key_[b] = key_of(b, 0);
    floor_.assign(members_.size(), 0);
    count_.resize(members_.size());
    for (std::size_t s = 0; s < members_.size(); ++s)
      count_[s] = static_cast<std::uint32_t>(members_[s].size());
    remaining_ = instance_.section_load;
    crossing_.assign(members_.size() + 1, 0);
    for (const Object b : by_first_)
      change_crossing(b, 1);
    ready_.assign(members_.size(), 0);
    stamp_.assign(members_.size(), 0);
    now_ = 0;
    dirty_.clear();
    for (Section s = 0; s < instance_.section_count; ++s)
      dirty_.push_back(s);
    state_key_ = 0;
    rank_objects();
  }

  void rank_objects() {
    rank_.resize(instance_.count());
    for (const Object b : by_first_) {
      const double size = static_cast<double>(instance_.size[b]);
      double length = 0;
      for_sections(b, [&](Section) { length += 1; });
      double rank = size * length;
      if (order_.value == SearchOrder::Value::kSize) rank = size;
      if (order_.value == SearchOrder::Value::kLength) rank = length;
      random_ = mix(random_ + 0x9e3779b97f4a7c15ULL);
      const double chance = static_cast<double>(random_ >> 11) * 0x1p-53;
      if (order_.value == SearchOrder::Value::kRandom) rank *= chance;
      rank_[b] = rank * (1 + 0.05 * chance);
    }
  }

  // ---- state and its undoing ----

  std::uint64_t key_of(Object b, std::int64_t earliest) const {
    return mix(salt_[b] + static_cast<std::uint64_t>(earliest) * 0x9e3779b97f4a7c15ULL);
  }

  void change_crossing(Object b, std::int32_t by) {
    const SectionRange hull = instance_.hull_of(b);
    for (Section s = hull.first + 1; s < hull.last; ++s)
      crossing_[at(s)] += by;
  }

  void raise_earliest(Object c, std::int64_t height) {
    trail_.push_back({Undo::What::kEarliest, c, earliest_[c]});
    set_earliest(c, instance_.aligned(c, height));
    for_sections(c, [&](Section s) {
      if (stamp_[at(s)] == now_) return;
      stamp_[at(s)] = now_;
      dirty_.push_back(s);
    });
  }

  void set_earliest(Object c, std::int64_t height) {
    earliest_[c] = height;
    state_key_ ^= key_[c];
    key_[c] = key_of(c, height);
    state_key_ ^= key_[c];
  }

  void raise_floor(Section s, std::int64_t height) {
    trail_.push_back({Undo::What::kFloor, static_cast<std::uint32_t>(s), floor_[at(s)]});
    floor_[at(s)] = height;
  }

  void begin_change() {
    ++now_;
    dirty_.clear();
  }

  void place(Object b) {
    const std::int64_t top = earliest_[b] + instance_.size[b];
    offset_[b] = earliest_[b];
    placed_[b] = 1;
    state_key_ ^= key_[b];
    std::size_t k = slot_begin_[b];
    for_sections(b, [&](Section s) {
      remove_member(s, k++);
      remaining_[at(s)] -= instance_.size[b];
      raise_floor(s, top);
      if (stamp_[at(s)] != now_) {
        stamp_[at(s)] = now_;
        dirty_.push_back(s);
      }
    });
    change_crossing(b, -1);
    trail_.push_back({Undo::What::kPlaced, b, 0});
    for (const Object c : neighbours_[b])
      if (!placed_[c] && earliest_[c] < top) raise_earliest(c, top);
  }

  void remove_member(Section s, std::size_t k) {
    auto& members = members_[at(s)];
    auto& slots = slot_of_[at(s)];
    const std::uint32_t hole = slot_[k];
    const std::uint32_t last = --count_[at(s)];
    std::swap(members[hole], members[last]);
    std::swap(slots[hole], slots[last]);
    slot_[slots[hole]] = hole;
    slot_[slots[last]] = last;
  }

  void undo_to(std::size_t mark) {
    while (trail_.size() > mark) {
      const Undo undo = trail_.back();
      trail_.pop_back();
      switch (undo.what) {
        case Undo::What::kEarliest:
          set_earliest(undo.where, undo.before);
          break;
        case Undo::What::kFloor:
          floor_[undo.where] = undo.before;
          break;
        case Undo::What::kReady:
          ready_[undo.where] = static_cast<std::uint32_t>(undo.before);
          break;
        case Undo::What::kPlaced:
          unplace(undo.where);
          break;
      }
    }
  }

  void unplace(Object b) {
    placed_[b] = 0;
    state_key_ ^= key_[b];
    change_crossing(b, 1);
    for_sections(b, [&](Section s) {
      ++count_[at(s)];  // removals are undone last first, so b is just behind the end
      remaining_[at(s)] += instance_.size[b];
    });
  }

  // Raises the floors of all changed sections to the lowest height at which anything can still
  // start there. False when what remains does not fit above.
  bool settle() {
    for (const Section s : dirty_)
      if (count_[at(s)] > 0 && !settle_section(s)) return false;
    return true;
  }

  bool settle_section(Section s) {
    const std::uint32_t count = count_[at(s)];
    const Object* members = members_[at(s)].data();
    std::int64_t lowest = kNever;
    std::int64_t highest = 0;
    std::int64_t lowest_bytes = 0;
    std::uint32_t ready = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::int64_t height = earliest_[members[i]];
      highest = std::max(highest, height);
      if (height > lowest) continue;
      if (height < lowest) lowest_bytes = ready = 0;
      lowest = height;
      lowest_bytes += instance_.size[members[i]];
      ++ready;
    }
    if (lowest + remaining_[at(s)] > capacity_) return false;
    if (lowest > floor_[at(s)]) raise_floor(s, lowest);
    set_ready(s, ready);
    const std::int64_t above = remaining_[at(s)] - lowest_bytes;
    return highest + above <= capacity_ || fits_in_steps(members, count, lowest, above);
  }

  void set_ready(Section s, std::uint32_t ready) {
    if (ready_[at(s)] == ready) return;
    trail_.push_back({Undo::What::kReady, static_cast<std::uint32_t>(s), ready_[at(s)]});
    ready_[at(s)] = ready;
  }

  // What cannot start below a height has to fit above it, for every height. Sharper than the load
  // where the objects that remain become possible at different heights.
  bool fits_in_steps(const Object* members, std::uint32_t count, std::int64_t lowest,
                     std::int64_t above) {
    heights_.clear();
    std::int64_t bytes = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::int64_t height = earliest_[members[i]];
      if (height == lowest || height + above <= capacity_) continue;
      heights_.emplace_back(height, instance_.size[members[i]]);
      bytes += instance_.size[members[i]];
    }
    while (!heights_.empty() && bytes < above)
      bytes = drop_harmless(above = bytes);
    std::sort(heights_.begin(), heights_.end());
    for (const auto& [height, size] : heights_) {
      if (height + above > capacity_) return false;
      above -= size;
    }
    return true;
  }

  // Keeps of `heights_` what could be too high if all of it, `above` bytes, came on top.
  std::int64_t drop_harmless(std::int64_t above) {
    std::int64_t bytes = 0;
    std::size_t kept = 0;
    for (const auto& [height, size] : heights_) {
      if (height + above <= capacity_) continue;
      heights_[kept++] = {height, size};
      bytes += size;
    }
    heights_.resize(kept);
    return bytes;
  }

  // ---- the search ----

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
    if ((nodes_ & 255) == 0 && std::chrono::steady_clock::now() > deadline_) stopped_ = true;
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
      const std::size_t mark = trail_.size();
      begin_change();
      const std::uint64_t before = state_key_;
      place(found[i]);
      if (settle() && solve_after(part, instance_.hull_of(found[i]), key ^ before ^ state_key_))
        return true;
      undo_to(mark);
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
    const std::size_t mark = trail_.size();
    const std::uint64_t before = state_key_;
    begin_change();
    const std::int64_t floor = floor_[at(section)];
    for (std::uint32_t i = 0; i < count_[at(section)]; ++i) {
      const Object b = members_[at(section)][i];
      if (earliest_[b] != floor) continue;
      const std::int64_t height = earliest_without(b, section);
      if (height + instance_.size[b] > capacity_) return undo_to(mark), false;
      raise_earliest(b, height);
    }
    if (settle() && solve(part, key ^ before ^ state_key_)) return true;
    undo_to(mark);
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

  const Instance& instance_;
  const std::int64_t capacity_;
  SearchOrder order_;
  std::uint64_t random_;

  std::vector<Object> by_first_;            // objects that take part, by their first section
  std::vector<std::uint32_t> first_index_;  // per section: where by_first_ reaches it
  std::vector<std::uint64_t> salt_;
  std::vector<std::vector<Object>> members_;       // per section; the unplaced ones come first
  std::vector<std::vector<std::size_t>> slot_of_;  // per section and member: its entry in slot_
  std::vector<std::uint32_t> slot_;                // per object and section: its place in members_
  std::vector<std::size_t> slot_begin_;
  std::vector<std::vector<Object>> neighbours_;  // objects that share a section

  std::vector<std::int64_t> earliest_;  // per object: the lowest offset it can still get
  std::uint64_t state_key_ = 0;         // changes with every key_ of an unplaced object
  std::vector<std::uint64_t> key_;      // per object: hash of itself and earliest_
  std::vector<std::int64_t> offset_;
  std::vector<std::uint8_t> placed_;
  std::vector<double> rank_;
  std::vector<std::int64_t> floor_;      // per section
  std::vector<std::uint32_t> count_;     // per section: unplaced members
  std::vector<std::int64_t> remaining_;  // per section: their bytes
  std::vector<std::uint32_t> ready_;     // per section: members that may start at its floor
  std::vector<std::int32_t> crossing_;   // per section: unplaced objects in it and the one before
  std::vector<Undo> trail_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t now_ = 0;
  std::vector<Section> dirty_;
  std::vector<std::pair<std::int64_t, std::int64_t>> heights_;
  FailedStates failed_states_;

  std::int64_t nodes_ = 0;
  std::int64_t node_limit_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  bool stopped_ = false;
};

ExactSearch::ExactSearch(const Instance& instance, std::int64_t capacity, std::uint64_t seed)
    : impl_(std::make_unique<Impl>(instance, capacity, seed)) {}
ExactSearch::~ExactSearch() = default;
SearchOutcome ExactSearch::run(const SearchOrder& order, std::int64_t max_nodes,
                               std::chrono::steady_clock::time_point deadline) {
  return impl_->run(order, max_nodes, deadline);
}
const std::vector<std::int64_t>& ExactSearch::offsets() const {
  return impl_->offsets();
}
std::int64_t ExactSearch::nodes() const {
  return impl_->nodes();
}

}  // namespace drgpum
