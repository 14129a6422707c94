// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of the exact search: what is placed, how low everything else can still go, and how to
// take back the last changes.

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "offline/plan/instance.h"

namespace drgpum {

std::uint64_t mixed_bits(std::uint64_t x);

// A skyline: per section, the height below which it is settled. Members are those of ExactSearch,
// which derives from it: this is no interface of its own.
class SkylineState {
 protected:
  using Object = std::uint32_t;
  using Section = std::int32_t;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;
  static std::size_t at(Section s) { return static_cast<std::size_t>(s); }

  SkylineState(const Instance& instance, std::int64_t capacity, std::uint64_t seed);
  ~SkylineState() = default;

  void start_afresh();

  // Changes are collected between begin_change() and settle(), and taken back by undo_to().
  void begin_change();
  void place(Object b);  // at the lowest offset it can get
  void raise_earliest(Object c, std::int64_t height);
  void undo_to(std::size_t mark);
  std::size_t mark() const { return trail_.size(); }
  // Raises the floors of all changed sections to the lowest height at which anything can still
  // start there. False when what remains does not fit above.
  bool settle();

  template <typename Do>
  void for_sections(Object b, Do&& act) const {
    for (const SectionRange& range : instance_.ranges_of(b))
      for (Section s = range.first; s < range.last; ++s)
        act(s);
  }

  const Instance& instance_;
  const std::int64_t capacity_;
  std::uint64_t random_;

  std::vector<Object> by_first_;            // objects that take part, by their first section
  std::vector<std::uint32_t> first_index_;  // per section: where by_first_ reaches it
  std::vector<std::vector<Object>> members_;     // per section; the unplaced ones come first
  std::vector<std::vector<Object>> neighbours_;  // objects that share a section

  std::vector<std::int64_t> earliest_;  // per object: the lowest offset it can still get
  std::uint64_t state_key_ = 0;         // changes with every key_ of an unplaced object
  std::vector<std::uint64_t> key_;      // per object: hash of itself and earliest_
  std::vector<std::int64_t> offset_;
  std::vector<std::uint8_t> placed_;
  std::vector<std::int64_t> floor_;      // per section
  std::vector<std::uint32_t> count_;     // per section: unplaced members
  std::vector<std::int64_t> remaining_;  // per section: their bytes
  std::vector<std::uint32_t> ready_;     // per section: members that may start at its floor
  std::vector<std::int32_t> crossing_;   // per section: unplaced objects in it and the one before

 private:
  // One change that has to be taken back: what, where, and the value before.
  struct Undo {
    enum class What : std::uint8_t { kEarliest, kFloor, kReady, kPlaced };
    What what;
    std::uint32_t where;
    std::int64_t before;
  };

  void index_objects();
  void index_members();
  void index_neighbours();
  std::uint64_t key_of(Object b, std::int64_t earliest) const;
  void change_crossing(Object b, std::int32_t by);
  void touch(Section s);
  void set_earliest(Object c, std::int64_t height);
  void raise_floor(Section s, std::int64_t height);
  void remove_member(Section s, std::size_t k);
  void unplace(Object b);
  bool settle_section(Section s);
  void set_ready(Section s, std::uint32_t ready);
  bool fits_in_steps(const Object* members, std::uint32_t count, std::int64_t lowest,
                     std::int64_t above);
  std::int64_t drop_harmless(std::int64_t above);

  std::vector<std::uint64_t> salt_;
  std::vector<std::vector<std::size_t>> slot_of_;  // per section and member: its entry in slot_
  std::vector<std::uint32_t> slot_;                // per object and section: its place in members_
  std::vector<std::size_t> slot_begin_;
  std::vector<Undo> trail_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t now_ = 0;
  std::vector<Section> dirty_;
  std::vector<std::pair<std::int64_t, std::int64_t>> heights_;
};

}  // namespace drgpum
