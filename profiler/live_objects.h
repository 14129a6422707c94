// SPDX-License-Identifier: Apache-2.0
#pragma once
// The objects alive now, by address. Host side of the tables that launches search.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "proto/base/strong_id.h"
#include "proto/device/layout.h"
#include "proto/trace/record.h"

namespace drgpum::profiler {

struct LiveObject {
  ObjectId id;
  trace::ObjectKind kind = trace::ObjectKind::kDevice;
  ContextId context;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// What a launch searches: the objects that were alive when it was issued. Shared by all launches
// until the next allocation or free.
struct ObjectTable {
  std::vector<device::ObjectRange> ranges;  // sorted by begin, disjoint
  std::vector<ObjectId> ids;                // of the ranges
  std::vector<trace::ObjectKind> kinds;
};

class LiveObjects {
 public:
  // Objects that `object` overlaps must be gone, whatever the calls said: they are removed and
  // returned. Empty ranges are not kept.
  std::vector<LiveObject> insert(const LiveObject& object);

  [[nodiscard]] const LiveObject* find(std::uint64_t address) const;            // holds the address
  [[nodiscard]] const LiveObject* find_beginning(std::uint64_t address) const;  // begins there
  [[nodiscard]] const LiveObject* first_in(std::uint64_t begin, std::uint64_t end) const;
  std::optional<LiveObject> remove(std::uint64_t begin);
  std::vector<LiveObject> remove_of_context(ContextId context);
  std::vector<LiveObject> remove_inside(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] std::size_t size() const { return by_begin_.size(); }
  [[nodiscard]] std::shared_ptr<const ObjectTable> table();

 private:
  std::map<std::uint64_t, LiveObject> by_begin_;
  std::shared_ptr<const ObjectTable> table_;  // null: to be made again
};

}  // namespace drgpum::profiler
