// SPDX-License-Identifier: Apache-2.0
#pragma once
// Range lists of split units, which libdwarf's version 20210528 does not read. Source: DWARF 5
// Standard, 2.17.3, 7.25 and 7.28.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "offline/source/dwarf_die.h"

namespace drgpum {

// One unit's part of .debug_rnglists.dwo. The bytes have to stay.
class RangeLists {
 public:
  // By its place in .debug_addr; nullopt: there is no such.
  using AddressAt = std::function<std::optional<std::uint64_t>(std::uint64_t index)>;

  RangeLists() = default;
  explicit RangeLists(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  // List `index` of the table that begins the part. `base`: the unit's address. What lies beyond the
  // end, or has no address, is left out.
  [[nodiscard]] std::vector<AddressRange> list(std::uint64_t index, std::uint64_t base,
                                               const AddressAt& address_at) const;

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace drgpum
