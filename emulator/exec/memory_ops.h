// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the addresses of a warp access to host pointers: windows, bounds, alignment, hook.

#include <string>

#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {

// Fills warp.pointers for the active lanes; tells the hook. False: the warp has faulted.
bool resolve_access(WarpContext& warp, const Op* op, const MemoryAccess& access);
// As resolve_access, with the addresses given: used where an op makes two accesses.
bool resolve_addresses(WarpContext& warp, const Op* op, const MemoryAccess& access,
                       const std::uint64_t* addresses, std::byte** pointers);
// Writes the addresses of the access (window offsets outside the generic space) for all lanes.
void fill_addresses(const WarpContext& warp, const MemoryAccess& access, std::uint64_t* addresses);
// Host pointer of `bytes` bytes at a generic address, or nullptr when they are not all valid.
std::byte* resolve_generic(WarpContext& warp, unsigned lane, std::uint64_t address,
                           std::uint64_t bytes);
// Null-terminated string of the device; what cannot be read ends it.
std::string read_string(WarpContext& warp, unsigned lane, std::uint64_t address);
// Tells the hook of an access whose addresses stand in `addresses` (generic ones by their space).
void notify_hook(WarpContext& warp, const Op* op, const MemoryAccess& access,
                 const std::uint64_t* addresses);
// The same for one space, and lanes `mask`.
void call_hook(WarpContext& warp, const Op* op, const MemoryAccess& access, ptx::Space space,
               std::uint32_t mask, const std::uint64_t* addresses, AccessPattern pattern);
// Refills the op's cached allocation for `address`; false: nothing is allocated there.
bool look_up(Worker& worker, CachedAllocation& cached, std::uint64_t address);
// Counts the 32-byte sectors of a global access, and the bytes asked for.
void count_sectors(WarpContext& warp, const std::uint64_t* addresses, std::uint32_t bytes);
// Counts the passes over the 32 banks that a shared access takes.
void count_wavefronts(WarpContext& warp, const std::uint64_t* addresses, std::uint32_t bytes);

inline bool hooked(const WarpContext& warp, ptx::Space space) {
  return ((warp.hooked_spaces >> static_cast<unsigned>(space)) & 1) != 0;
}

}  // namespace drgpum::emulator::exec
