// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/skyline_state.h"

#include <algorithm>

namespace drgpum {

std::uint64_t mixed_bits(std::uint64_t x) {  // splitmix64's finaliser
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

SkylineState::SkylineState(const Instance& instance, std::int64_t capacity, std::uint64_t seed)
    : instance_(instance), capacity_(capacity), random_(mixed_bits(seed + 1)) {
  index_objects();
  index_members();
  index_neighbours();
}

void SkylineState::index_objects() {
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
    salt = random_ = mixed_bits(random_ + 0x9e3779b97f4a7c15ULL);
}

void SkylineState::index_members() {
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

void SkylineState::index_neighbours() {
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

void SkylineState::start_afresh() {
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
}

std::uint64_t SkylineState::key_of(Object b, std::int64_t earliest) const {
  return mixed_bits(salt_[b] + static_cast<std::uint64_t>(earliest) * 0x9e3779b97f4a7c15ULL);
}

void SkylineState::change_crossing(Object b, std::int32_t by) {
  const SectionRange hull = instance_.hull_of(b);
  for (Section s = hull.first + 1; s < hull.last; ++s)
    crossing_[at(s)] += by;
}

void SkylineState::raise_earliest(Object c, std::int64_t height) {
  trail_.push_back({Undo::What::kEarliest, c, earliest_[c]});
  set_earliest(c, instance_.aligned(c, height));
  for_sections(c, [&](Section s) {
    touch(s);
  });
}

void SkylineState::set_earliest(Object c, std::int64_t height) {
  earliest_[c] = height;
  state_key_ ^= key_[c];
  key_[c] = key_of(c, height);
  state_key_ ^= key_[c];
}

void SkylineState::raise_floor(Section s, std::int64_t height) {
  trail_.push_back({Undo::What::kFloor, static_cast<std::uint32_t>(s), floor_[at(s)]});
  floor_[at(s)] = height;
}

void SkylineState::touch(Section s) {
  if (stamp_[at(s)] == now_) return;
  stamp_[at(s)] = now_;
  dirty_.push_back(s);
}

void SkylineState::begin_change() {
  ++now_;
  dirty_.clear();
}

void SkylineState::place(Object b) {
  const std::int64_t top = earliest_[b] + instance_.size[b];
  offset_[b] = earliest_[b];
  placed_[b] = 1;
  state_key_ ^= key_[b];
  std::size_t k = slot_begin_[b];
  for_sections(b, [&](Section s) {
    remove_member(s, k++);
    remaining_[at(s)] -= instance_.size[b];
    raise_floor(s, top);
    touch(s);
  });
  change_crossing(b, -1);
  trail_.push_back({Undo::What::kPlaced, b, 0});
  for (const Object c : neighbours_[b])
    if (!placed_[c] && earliest_[c] < top) raise_earliest(c, top);
}

void SkylineState::remove_member(Section s, std::size_t k) {
  auto& members = members_[at(s)];
  auto& slots = slot_of_[at(s)];
  const std::uint32_t hole = slot_[k];
  const std::uint32_t last = --count_[at(s)];
  std::swap(members[hole], members[last]);
  std::swap(slots[hole], slots[last]);
  slot_[slots[hole]] = hole;
  slot_[slots[last]] = last;
}

void SkylineState::undo_to(std::size_t mark) {
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

void SkylineState::unplace(Object b) {
  placed_[b] = 0;
  state_key_ ^= key_[b];
  change_crossing(b, 1);
  for_sections(b, [&](Section s) {
    ++count_[at(s)];  // removals are undone last first, so b is just behind the end
    remaining_[at(s)] += instance_.size[b];
  });
}

bool SkylineState::settle() {
  for (const Section s : dirty_)
    if (count_[at(s)] > 0 && !settle_section(s)) return false;
  return true;
}

bool SkylineState::settle_section(Section s) {
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

void SkylineState::set_ready(Section s, std::uint32_t ready) {
  if (ready_[at(s)] == ready) return;
  trail_.push_back({Undo::What::kReady, static_cast<std::uint32_t>(s), ready_[at(s)]});
  ready_[at(s)] = ready;
}

// What cannot start below a height has to fit above it, for every height. Sharper than the load
// where the objects that remain become possible at different heights.
bool SkylineState::fits_in_steps(const Object* members, std::uint32_t count, std::int64_t lowest,
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
std::int64_t SkylineState::drop_harmless(std::int64_t above) {
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

}  // namespace drgpum
