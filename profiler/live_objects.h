// SPDX-License-Identifier: Apache-2.0
#pragma once
// The objects alive now, by address. Host side of the tables that launches search.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "profiler/live_object.h"
#include "profiler/live_parts.h"
#include "proto/device/layout.h"

namespace drgpum::profiler {

// What a launch searches: the objects that were alive when it was issued, innermost first: of an
// allocation that parts were carved out of, what is left between them. Shared by all launches until
// the next allocation or free.
struct ObjectTable {
  std::vector<device::ObjectRange> ranges;  // sorted by begin, disjoint
  std::vector<ObjectId> ids;                // of the ranges; one object may have several
  std::vector<trace::ObjectKind> kinds;
  // Where the ranges lie in their objects; empty when every range is a whole object.
  struct Piece {
    std::uint64_t offset = 0;
    std::uint64_t object_bytes = 0;
  };
  std::vector<Piece> pieces;
  // Whether the range is less than its object: what parts left of it.
  [[nodiscard]] bool is_rest(std::size_t i) const {
    return !pieces.empty() && pieces[i].object_bytes != ranges[i].end - ranges[i].begin;
  }
};

class LiveObjects {
 public:
  // Objects that `object` overlaps must be gone, whatever the calls said: they are removed and
  // returned, their parts with them. Empty ranges are not kept.
  std::vector<LiveObject> insert(const LiveObject& object);

  // The allocation or, where there is one, the innermost part that holds the address.
  [[nodiscard]] const LiveObject* find(std::uint64_t address) const;
  // Innermost that holds all of [begin, end); the allocation at `begin` when none does.
  [[nodiscard]] const LiveObject* find_around(std::uint64_t begin, std::uint64_t end) const;

  // Of allocations alone.
  [[nodiscard]] const LiveObject* find_allocation(std::uint64_t address) const;
  [[nodiscard]] const LiveObject* find_beginning(std::uint64_t address) const;
  [[nodiscard]] const LiveObject* first_in(std::uint64_t begin, std::uint64_t end) const;
  std::optional<LiveObject> remove(std::uint64_t begin);
  std::vector<LiveObject> remove_of_context(ContextId context);
  std::vector<LiveObject> remove_inside(std::uint64_t begin, std::uint64_t end);

  // Parts. The allocation that holds the first byte is `part.root`.
  std::vector<LiveObject> insert_part(LiveObject& part);
  [[nodiscard]] const LiveObject* find_part(std::uint64_t begin, bool is_pool) const;
  std::vector<LiveObject> remove_part(const LiveObject& part);
  // All parts of the object, which may be a pool.
  std::vector<LiveObject> remove_parts_of(const LiveObject& object);
  // Parts that begin in [begin, end) and whose allocation is not there any more.
  std::vector<LiveObject> remove_orphans(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] std::size_t size() const { return by_begin_.size(); }
  // Of allocations that take the device's memory for as long as they live. Memory pools are taken to
  // keep the most that they ever gave out.
  [[nodiscard]] std::uint64_t device_bytes(ContextId context) const;
  [[nodiscard]] std::shared_ptr<const ObjectTable> table();

 private:
  void add_range(ObjectTable* table, std::uint64_t begin, std::uint64_t end,
                 const LiveObject& object) const;

  void count(const LiveObject& object, bool added);

  std::map<std::uint64_t, LiveObject> by_begin_;
  struct DeviceBytes {
    std::uint64_t lasting = 0;
    std::uint64_t pooled = 0;  // given out by memory pools
    std::uint64_t most_pooled = 0;
  };
  std::unordered_map<std::uint32_t, DeviceBytes> device_bytes_;  // by context
  LiveParts parts_;
  std::shared_ptr<const ObjectTable> table_;  // null: to be made again
};

}  // namespace drgpum::profiler
