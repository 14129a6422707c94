// SPDX-License-Identifier: Apache-2.0
#pragma once
// A partial layout: which objects are placed where, and where another one fits.

#include <cstdint>
#include <span>
#include <vector>

#include "offline/plan/instance.h"

namespace drgpum {

enum class Fit : std::uint8_t {
  kFirst,  // the lowest hole that is large enough
  kBest,   // the tightest hole that is large enough; the lowest of equals; else on top
};

struct Block {  // the bytes of a placed object
  std::int64_t offset;
  std::int64_t top;
  std::uint32_t object;
};

// Objects hang in a static binary tree over the sections, each at the topmost node whose middle it
// contains: placing and removing take O(1) after an O(log sections) walk, finding what is live
// together with an object takes O(log sections + found + those at the visited nodes).
class Layout {
 public:
  explicit Layout(const Instance& instance);

  void place(std::uint32_t object, std::int64_t offset);
  void remove(std::uint32_t object);
  bool is_placed(std::uint32_t object) const { return slot_[object] != kUnplaced; }
  std::int64_t offset(std::uint32_t object) const { return offset_[object]; }
  const std::vector<std::int64_t>& offsets() const { return offset_; }

  // The placed objects that share a section with `object`, by offset. Valid until the next call.
  std::span<const Block> beside(std::uint32_t object);

  // Where `object` fits among what is placed, not below `bottom`; always succeeds.
  std::int64_t find(std::uint32_t object, Fit fit, std::int64_t bottom = 0);

 private:
  static constexpr std::uint32_t kUnplaced = UINT32_MAX;
  struct Entry {
    std::int32_t first, last;  // the object's hull
    std::uint32_t object;
  };

  std::uint32_t node_of(SectionRange hull) const;
  void collect(std::uint32_t object, SectionRange hull);
  void visit(std::uint32_t node, std::int32_t from, std::int32_t to, std::uint32_t object,
             SectionRange hull);
  bool shares_section(std::uint32_t a, std::uint32_t b) const;

  const Instance& instance_;
  std::vector<std::vector<Entry>> nodes_;
  std::vector<std::uint32_t> node_;  // per object
  std::vector<std::uint32_t> slot_;  // per object: its place in its node's list
  std::vector<std::int64_t> offset_;
  std::vector<Block> found_;
};

// The lowest or tightest hole for `object` from `bottom` up among `blocks`, which are sorted by
// offset and may overlap each other.
std::int64_t find_hole(std::span<const Block> blocks, const Instance& instance,
                       std::uint32_t object, Fit fit, std::int64_t bottom = 0);

}  // namespace drgpum
