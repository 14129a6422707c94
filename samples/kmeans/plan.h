// Written by drgpum plan: where each allocation goes in one pool.
#pragma once

#include <cstddef>

namespace drgpum_plan {

struct Slot {
  std::size_t size;    // bytes, as allocated
  std::size_t offset;  // bytes, in the pool; kOutside: allocate it elsewhere
};

inline constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
inline constexpr std::size_t kPoolBytes = 147968;
inline constexpr std::size_t kSlots = 4;

// The n-th allocation of an iteration is kSlot[n].
inline constexpr Slot kSlot[kSlots + 1] = {
    {131072, 16896},
    {16384, 512},
    {2560, 16896},
    {512, 0},
    {0, kOutside}};

}  // namespace drgpum_plan
