// Written by drgpum plan: where each allocation goes in one pool.
#pragma once

#include <cstddef>

namespace drgpum_plan {

struct Slot {
  std::size_t size;    // bytes, as allocated
  std::size_t offset;  // bytes, in the pool; kOutside: allocate it elsewhere
};

inline constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
inline constexpr std::size_t kPoolBytes = 1668096;
inline constexpr std::size_t kSlots = 25;

// The n-th allocation of an iteration is kSlot[n].
inline constexpr Slot kSlot[kSlots + 1] = {
    {16384, 0},
    {65536, 352768},
    {65536, 287232},
    {65536, 483840},
    {65536, 549376},
    {16384, 41472},
    {16384, 25088},
    {2048, 17408},
    {512, 16384},
    {512, 16896},
    {2048, 57856},
    {8192, 16896},
    {512, 16384},
    {16384, 59904},
    {16384, 614912},
    {262144, 25088},
    {512, 1600000},
    {65536, 631296},
    {65536, 418304},
    {1048576, 551424},
    {2048, 549376},
    {65536, 483840},
    {65536, 1600512},
    {262144, 287232},
    {2048, 1666048},
    {0, kOutside}};

}  // namespace drgpum_plan
