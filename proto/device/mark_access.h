// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happens at one access: address -> object -> bits, map cells and the access site. Written
// once; nvcc makes the patches from it, the host's compiler the native twin of the emulated device,
// so both write the same bytes. Nothing here waits, allocates or loops without a bound.
//
// A Memory policy says how device memory is reached and how words are changed by many threads:
//   T* at<T>(u64 address)                 where the bytes of a device address are
//   u32 load(const u32*), u64 load(const u64*)   may be stale: all marks only grow
//   void bit_or(u32*, u32 bits)           atomic
//   void add(u32*, u32), add(u64*, u64)   atomic
//   void store(u64*, u64)                 any one of racing values may win
//   u32 claim(u32*, u32 value)            atomic: stores value where 0 is; gives what was there
//   u32 block_number()                    block_number() of the block that runs
//   u32 keep(u32), u64 keep(u64)          the same value, its origin hidden from the compiler

#include <cstdint>

#include "proto/device/layout.h"

#ifdef __CUDACC__
#define DRGPUM_BOTH __host__ __device__ __forceinline__
#define DRGPUM_ROLLED _Pragma("unroll 1")  // unrolled loops would cost registers
#else
#define DRGPUM_BOTH inline
#define DRGPUM_ROLLED
#endif

namespace drgpum::device {

inline constexpr std::uint32_t kNoObjectIndex = 0xffffffffu;

// The kinds of access, numbered as the marks are.
enum AccessKind : std::uint32_t {
  kReadAccess = kMarkRead,
  kWriteAccess = kMarkWrite,
  kAtomicAccess = kMarkRead | kMarkWrite | kMarkAtomic,
};

// Position of the highest bit that is set; `value` is not 0.
DRGPUM_BOTH std::uint32_t floor_log2(std::uint32_t value) {
#ifdef __CUDA_ARCH__
  return 31u - static_cast<std::uint32_t>(__clz(static_cast<int>(value)));
#else
  return 31u - static_cast<std::uint32_t>(__builtin_clz(value));
#endif
}

// The marks that an access of `size` bytes (1 or more) leaves.
DRGPUM_BOTH std::uint32_t mark_bits(std::uint32_t access, std::uint32_t size) {
  const std::uint32_t log2 = floor_log2(size);
  return access | 1u << (kMarkWidthShift + (log2 < 7 ? log2 : 7));
}

// Number of the object that holds `address`, or kNoObjectIndex. The loop halves the range, so it
// ends after 32 rounds at most.
DRGPUM_BOTH std::uint32_t find_object(const ObjectRange* objects, std::uint32_t count,
                                      std::uint64_t address) {
  std::uint32_t first = 0;
  DRGPUM_ROLLED
  while (count > 1) {
    const std::uint32_t half = count >> 1;
    if (objects[first + half].begin <= address) first += half;
    count -= half;
  }
  if (count == 0 || address < objects[first].begin || address >= objects[first].end) {
    return kNoObjectIndex;
  }
  return first;
}

// Sets the bits that are not there yet; the usual case is one load.
template <typename Memory>
DRGPUM_BOTH void mark_word(std::uint32_t* word, std::uint32_t bits) {
  if ((Memory::load(word) & bits) != bits) Memory::bit_or(word, bits);
}

// Sets the bits of cells [first, last] in a bit map, a word at a time.
template <typename Memory>
DRGPUM_BOTH void mark_cell_bits(std::uint64_t bits, std::uint32_t first, std::uint32_t last) {
  std::uint32_t* word = Memory::template at<std::uint32_t>(bits) + (first >> 5);
  std::uint32_t mask = ~0u << (first & 31);
  DRGPUM_ROLLED
  for (std::uint32_t rounds = (last >> 5) - (first >> 5); rounds != 0; --rounds) {
    mark_word<Memory>(word++, mask);
    mask = ~0u;
  }
  mark_word<Memory>(word, mask & (~0u >> (31 - (last & 31))));
}

// Counts accesses of one cell by some lanes.
template <typename Memory>
DRGPUM_BOTH void count_cell(std::uint32_t* cell, std::uint32_t lanes) {
  if (Memory::load(cell) < kFullCount) Memory::add(cell, lanes);
}

// Marks the cells that bytes [offset, offset + size) of the object fall into. One part of the map
// after the other, so that a patch needs few registers.
template <typename Memory>
DRGPUM_BOTH void mark_cells(const ObjectMap& map, std::uint32_t access, std::uint64_t offset,
                            std::uint32_t size) {
  const auto first = static_cast<std::uint32_t>(offset >> map.cell_shift);
  const auto last = static_cast<std::uint32_t>((offset + size - 1) >> map.cell_shift);
  if ((access & kMarkRead) != 0 && map.read_bits != 0) {
    mark_cell_bits<Memory>(map.read_bits, first, last);
  }
  if ((access & kMarkWrite) != 0 && map.write_bits != 0) {
    mark_cell_bits<Memory>(map.write_bits, first, last);
  }
  if (map.counts == 0) return;
  std::uint32_t* count = Memory::template at<std::uint32_t>(map.counts) + first;
  DRGPUM_ROLLED
  for (std::uint32_t rounds = last - first + 1; rounds != 0; --rounds)
    count_cell<Memory>(count++, 1u);
}

template <typename Memory>
DRGPUM_BOTH void note_unknown(LaunchSlot* slot, std::uint64_t address) {
  Memory::add(&slot->unknown_accesses, std::uint64_t{1});
  if (Memory::load(&slot->unknown_address) == 0) Memory::store(&slot->unknown_address, address);
}

// Marks the object that one lane accesses; returns its number, or kNoObjectIndex.
template <typename Memory>
DRGPUM_BOTH std::uint32_t mark_object(LaunchSlot* slot, std::uint64_t address, std::uint32_t size,
                                      std::uint32_t access) {
  const std::uint32_t index = find_object(Memory::template at<const ObjectRange>(slot->objects),
                                          slot->object_count, address);
  if (index == kNoObjectIndex) {
    note_unknown<Memory>(slot, address);
  } else {
    mark_word<Memory>(Memory::template at<std::uint32_t>(slot->marks) + index,
                      mark_bits(access, size));
  }
  return index;
}

DRGPUM_BOTH bool is_observed(const LaunchSlot* slot) {
  return slot != nullptr && slot->version == kLayoutVersion;
}

// Names a site in 32 bits, so that a patch can claim an entry with few registers: what the
// instruction does, the object, and from bit `shift` on the instruction, counted in steps of 16
// bytes. 0 where that has no room. `step` is site_step().
DRGPUM_BOTH std::uint32_t site_key(std::uint32_t step, std::uint32_t object, std::uint32_t access,
                                   std::uint32_t shift) {
  if (step >> (32 - shift) != 0) return 0;
  return step << shift | object << 2 | (access & 3u);
}
DRGPUM_BOTH std::uint32_t site_step(std::uint64_t pc) {
  return static_cast<std::uint32_t>(pc >> 4);
}
// And back: kMarkRead, kMarkWrite or both; the object; bytes from the code's base.
DRGPUM_BOTH std::uint32_t site_access(std::uint32_t key) {
  return key & 3u;
}
DRGPUM_BOTH std::uint32_t site_object(std::uint32_t key, std::uint32_t shift) {
  return (key & ((1u << shift) - 1u)) >> 2;
}
DRGPUM_BOTH std::uint64_t site_offset(std::uint32_t key, std::uint32_t shift) {
  return std::uint64_t{key >> shift} * 16;
}
// The shift for so many objects; more than 2^29 have no room beside an instruction.
DRGPUM_BOTH std::uint32_t site_shift(std::uint32_t objects) {
  return objects <= 1 ? 2 : 3 + floor_log2(objects - 1);
}

// Where the search for a site starts, before the table's mask.
DRGPUM_BOTH std::uint32_t site_hash(std::uint32_t key) {
  const std::uint32_t mixed = key * 0x9e3779b1u;
  return mixed ^ mixed >> 15;
}

// The entry of a site, claimed if it has none yet; null when there is no room for it. Entries are
// only ever added, so a table that is full loses accesses but never mixes them up.
template <typename Memory>
DRGPUM_BOTH AccessSite* find_site(LaunchSlot* slot, std::uint32_t key) {
  if (key == 0) return nullptr;
  // The table and its size are loaded anew at each step and the steps are counted in the upper bits
  // of the place: a patch has 24 registers.
  constexpr std::uint32_t kStep = 0x08000001u;  // 32 of them
  std::uint32_t place = site_hash(key) & 0x07ffffffu;
  DRGPUM_ROLLED
  do {
    const std::uint32_t entry = place & Memory::load(&slot->site_mask);
    AccessSite* site = Memory::template at<AccessSite>(
        Memory::keep(Memory::load(&slot->sites) + std::uint64_t{entry} * sizeof(AccessSite)));
    std::uint32_t found = Memory::load(&site->key);
    if (found == 0) found = Memory::claim(&site->key, key);
    if (found == 0 || found == key) return site;
    place += kStep;
  } while (place >= 0x08000000u);
  return nullptr;
}

// Counts `lanes` accesses of one instruction to one object.
template <typename Memory>
DRGPUM_BOTH void count_site(LaunchSlot* slot, std::uint32_t key, std::uint32_t lanes) {
  AccessSite* site = find_site<Memory>(slot, key);
  Memory::add(site == nullptr ? &slot->lost_sites : &site->lanes, std::uint64_t{lanes});
}

// One number for a block of a grid, for sampling: blocks of a row come one after the other, and
// rows and planes are shifted against each other.
DRGPUM_BOTH std::uint32_t block_number(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return x + y * 7u + z * 61u;
}

// Whether this block's cells and sites are taken.
template <typename Memory>
DRGPUM_BOTH bool takes_block(const LaunchSlot* slot) {
  return slot->block_every <= 1 || Memory::block_number() % slot->block_every == 0;
}

// Object level: one lane's access of `size` bytes (1 or more) at `address`.
template <typename Memory>
DRGPUM_BOTH void mark_access(LaunchSlot* slot, std::uint64_t address, std::uint32_t size,
                             std::uint32_t access) {
  if (is_observed(slot)) mark_object<Memory>(slot, address, size, access);
}

// Inside the objects: the same, the cells of the object's map, and the site. The part of an access
// that reaches beyond the object's end is not marked. Of a size, 29 bits count.
template <typename Memory>
DRGPUM_BOTH void map_access(LaunchSlot* slot, std::uint64_t pc, std::uint64_t address,
                            std::uint32_t size, std::uint32_t access) {
  if (!is_observed(slot)) return;
  // Two words instead of four for the search: a patch has 24 registers.
  const std::uint32_t what = Memory::keep(size << 3 | access);
  const std::uint32_t step = Memory::keep(site_step(pc) - slot->code_base);
  const std::uint32_t index = mark_object<Memory>(slot, address, what >> 3, what & 7u);
  if (index == kNoObjectIndex || !takes_block<Memory>(slot)) return;
  if (slot->sites != 0) {
    count_site<Memory>(slot, site_key(step, index, what, slot->site_shift), 1);
  }
  if (slot->maps == 0) return;
  const ObjectRange& object =
      Memory::template at<const ObjectRange>(Memory::load(&slot->objects))[index];
  const std::uint64_t room = object.end - address;
  size = what >> 3;
  mark_cells<Memory>(Memory::template at<const ObjectMap>(slot->maps)[index], what,
                     address - object.begin, size < room ? size : static_cast<std::uint32_t>(room));
}

// A device-side malloc that returned `pointer`.
template <typename Memory>
DRGPUM_BOTH void note_heap_allocation(LaunchSlot* slot, std::uint64_t pointer, std::uint64_t size) {
  if (!is_observed(slot) || pointer == 0) return;
  Memory::add(&slot->heap_allocations, std::uint64_t{1});
  Memory::add(&slot->heap_bytes, size);
}

template <typename Memory>
DRGPUM_BOTH void note_heap_free(LaunchSlot* slot, std::uint64_t pointer) {
  if (!is_observed(slot) || pointer == 0) return;
  Memory::add(&slot->heap_frees, std::uint64_t{1});
}

// What the Sanitizer API's access flags (read 1, write 2, atomics both) mean; a prefetch (8) is
// no access and gives 0.
DRGPUM_BOTH std::uint32_t access_of_flags(std::uint32_t flags) {
  if ((flags & 8u) != 0) return 0;
  return (flags & 3u) == 3u ? static_cast<std::uint32_t>(kAtomicAccess) : flags & 3u;
}

}  // namespace drgpum::device
