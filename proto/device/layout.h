// SPDX-License-Identifier: Apache-2.0
#pragma once
// What lies in device memory while a profiled kernel runs, read by the patches (gpu_analysis), by
// their native twin (emulated device) and by the profiler. Plain structs for the host's and the
// device's compiler; addresses are device addresses as u64, so a host that maps device memory
// elsewhere can follow them.
//
//   user data of a launch --> LaunchSlot --> ObjectRange[object_count]   sorted by begin, disjoint
//                                        --> marks u32[object_count]     see mark_bits()
//                                        --> ObjectMap[object_count]     or 0: no maps
//                                        --> AccessSite[site_mask + 1]   or 0: sites not counted
// A null user data pointer means: this launch is not observed.

#include <cstdint>

namespace drgpum::device {

// Rises with every change below; a patch that finds another number in its slot returns at once.
inline constexpr std::uint32_t kLayoutVersion = 2;

// One data object, as bytes [begin, end) of device address space.
struct ObjectRange {
  std::uint64_t begin;
  std::uint64_t end;
};

// What one object saw: a set of bits that only ever grows during a launch.
enum MarkBits : std::uint32_t {
  kMarkRead = 1u << 0,
  kMarkWrite = 1u << 1,
  kMarkAtomic = 1u << 2,
  kMarkWidthShift = 8,  // bit 8 + k: an access of [2^k, 2^(k+1)) bytes was seen, k in [0, 7]
};

// The access map of one object: one cell for 2^cell_shift bytes, at most 2^32 - 1 cells. Absent
// parts are 0.
struct ObjectMap {
  std::uint64_t read_bits;   // u32 words, cell k in bit k % 32 of word k / 32
  std::uint64_t write_bits;  // likewise
  std::uint64_t counts;      // u32 per cell: accesses, one per lane and cell
  std::uint32_t cell_shift;
  std::uint32_t reserved;
};

// A count stops here: as many threads as a device can hold may add to it at once without a wrap.
inline constexpr std::uint32_t kFullCount = 0xf0000000u;

// An instruction of the kernel, or of a function that it calls, and an object that it touched: one
// entry of a hash table with open addressing.
struct AccessSite {
  std::uint32_t key;  // site_key(); 0: a free entry
  std::uint32_t reserved;
  std::uint64_t lanes;  // that accessed the object there
};
inline constexpr std::uint32_t kSiteProbes = 32;  // entries looked at before an access is lost

// The user data of one launch.
struct LaunchSlot {
  std::uint32_t version;  // kLayoutVersion
  std::uint32_t object_count;
  std::uint64_t objects;      // const ObjectRange[object_count]
  std::uint64_t marks;        // u32[object_count]
  std::uint64_t maps;         // const ObjectMap[object_count], or 0
  std::uint64_t sites;        // AccessSite[site_mask + 1], or 0
  std::uint32_t code_base;    // site_step() of an address before which no code of the kernel lies
  std::uint32_t site_mask;    // a power of two, less one
  std::uint32_t site_shift;   // where the instruction starts in a key, 2 to 31
  std::uint32_t block_every;  // cells and sites are those of one block in so many; 0, 1: of all
  std::uint64_t lost_sites;  // lanes whose site found no entry, or has no key
  std::uint64_t unknown_accesses;  // lanes whose address hit no object
  std::uint64_t unknown_address;   // one such address, or 0
  std::uint64_t heap_allocations;  // device-side malloc calls that gave memory
  std::uint64_t heap_bytes;        // and the bytes they asked for
  std::uint64_t heap_frees;        // device-side free calls with a pointer
};

static_assert(sizeof(ObjectRange) == 16 && alignof(ObjectRange) == 8);
static_assert(sizeof(ObjectMap) == 32 && alignof(ObjectMap) == 8);
static_assert(sizeof(AccessSite) == 16 && alignof(AccessSite) == 8);
static_assert(sizeof(LaunchSlot) == 104 && alignof(LaunchSlot) == 8);

}  // namespace drgpum::device
