// SPDX-License-Identifier: Apache-2.0
#pragma once
// The short path of an instruction that touches one object: the object's map and the instruction's
// counter are found once, and what is left of an access are its bits and counts.

#include <cstdint>
#include <optional>

#include "emulator/exec/access_hook.h"
#include "proto/device/layout.h"

namespace drgpum::emulator::sanitizer {

// What the accesses leave. Addresses are the host's.
struct MapTarget {
  device::ObjectRange object{};  // device addresses
  device::ObjectMap map{};       // parts that the accesses leave alone are 0
  std::uint64_t lanes = 0;       // u64 that counts the lanes; 0: none does
  std::uint64_t marks = 0;       // u32, the object's: what this launch's accesses were so far
  std::uint32_t size = 0;        // bytes of one lane's access, a power of two
};

// Nothing where the map's cells and the accesses do not line up. `alone`: no other thread changes
// the words meanwhile.
std::optional<exec::ShortPath> map_path(const MapTarget& target, bool alone);

}  // namespace drgpum::emulator::sanitizer
