// SPDX-License-Identifier: Apache-2.0
#pragma once
// What programs carve out of their allocations: pools, and the tensors and blocks in them. Ranges
// nest or are apart, never overlap otherwise, so the innermost at an address is the last one that
// begins before it, or one that encloses that one.

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "profiler/live_object.h"

namespace drgpum::profiler {

class LiveParts {
 public:
  // Adds `part` and sets its parent: the innermost pool around it, or `part.root`. Returns what was
  // in its place: blocks that overlap it, pools that do not hold it whole, and all in those.
  std::vector<LiveObject> insert(LiveObject& part);

  [[nodiscard]] const LiveObject* find(std::uint64_t address) const;  // innermost
  // Innermost that holds all of [begin, end).
  [[nodiscard]] const LiveObject* find_around(std::uint64_t begin, std::uint64_t end) const;
  // The block, or the innermost pool, that begins there.
  [[nodiscard]] const LiveObject* find_beginning(std::uint64_t address, bool is_pool) const;

  // The part and all that lies in it, outermost first.
  std::vector<LiveObject> remove(const LiveObject& part);
  // Parts that begin in [begin, end) and that `goes` names.
  std::vector<LiveObject> remove_if(std::uint64_t begin, std::uint64_t end,
                                    const std::function<bool(const LiveObject&)>& goes);

  // Every part cut by the parts in it: disjoint pieces by address, each of its innermost part.
  struct Piece {
    std::uint64_t begin;
    std::uint64_t end;
    const LiveObject* part;
  };
  [[nodiscard]] std::vector<Piece> pieces() const;

  [[nodiscard]] bool empty() const { return parts_.empty(); }

 private:
  // Enclosing parts come before what they enclose; of two equal ranges the pool does.
  struct Place {
    std::uint64_t begin;
    std::uint64_t from_top;  // 2^64 - 1 less the end
    std::uint32_t id;
    auto operator<=>(const Place&) const = default;
  };
  static Place place_of(const LiveObject& part);
  const LiveObject* enclosing(const LiveObject& part) const;

  std::map<Place, LiveObject> parts_;
  std::unordered_map<std::uint32_t, Place> pools_;  // by id
};

}  // namespace drgpum::profiler
