// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lines of device code that touch each object, with counts: access sites of all launches,
// summed by line.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "offline/source/access_line.h"
#include "offline/source/device_lines.h"
#include "proto/trace/record.h"

namespace drgpum {

class AccessLines {
 public:
  // In any order; records of other kinds are not looked at. Memory grows with the distinct sites,
  // not with the records.
  void add(const trace::Record& record);

  // Finds the lines. Frames of system headers are left out for the line that called them, unless
  // `full_stacks`.
  void resolve(DeviceLines& lines, const Trace& trace, bool full_stacks);

  // Most accesses first; of an object that is not known: none.
  [[nodiscard]] std::span<const AccessLine> of(ObjectId object) const;

 private:
  struct Count {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t launches = 0;
    std::uint64_t last_launch = ~std::uint64_t{0};
  };
  using Site = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // object, function, offset
  std::map<Site, Count> sites_;
  std::unordered_map<std::uint32_t, std::vector<AccessLine>> lines_;  // by object
};

}  // namespace drgpum
