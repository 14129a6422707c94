// SPDX-License-Identifier: Apache-2.0
#pragma once
// All memory that kernels may reach: each device's own, managed, page-locked and mapped memory.

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "emulator/memory/allocation_table.h"
#include "emulator/memory/arena.h"
#include "emulator/memory/range_allocator.h"
#include "proto/base/result.h"

namespace drgpum::emulator {

// Device addresses are multiples of this, as on hardware; sizes in flight are rounded up to it.
inline constexpr std::uint64_t kAllocationUnit = 512;
// Granularity of the virtual memory interface.
inline constexpr std::uint64_t kVirtualPage = std::uint64_t{2} << 20;

// What a new block is for; see Block.
struct BlockRequest {
  std::uint64_t size = 0;
  std::uint64_t alignment = kAllocationUnit;
  BlockKind kind = BlockKind::kDevice;
  int device = 0;
  std::uint32_t flags = 0;
  void* context = nullptr;
  void* pool = nullptr;
  void* module = nullptr;
  bool read_only = false;
};

// Memory without an address that kernels know, for the virtual memory interface.
struct PhysicalMemory {
  int device = 0;
  std::uint64_t size = 0;
  std::uint64_t backing = 0;  // where in the device's region it lies
};

// Thread safe. Every address is deterministic for a given sequence of calls.
class DeviceMemory : public AllocationTable {
 public:
  // Regions for `devices` devices of `bytes` each.
  static Result<std::unique_ptr<DeviceMemory>> reserve(int devices, std::uint64_t bytes);

  // Device memory counts against the device's size: nullptr when it is used up. Managed and pinned
  // memory comes from the host.
  Block* allocate(const BlockRequest& request);
  // Host memory of the program's own, at its own address; nullptr when part of it is known already.
  Block* register_host(void* address, const BlockRequest& request);
  void free(Block* block);
  // Everything that the context still holds, mappings apart: those outlive it.
  void free_all_of(const void* context);

  std::optional<PhysicalMemory> create_physical(int device, std::uint64_t size);
  void destroy_physical(const PhysicalMemory& memory);
  // Address ranges for mappings. `wanted` is tried first unless 0.
  std::optional<std::uint64_t> reserve_virtual(std::uint64_t size, std::uint64_t alignment,
                                               std::uint64_t wanted);
  void release_virtual(std::uint64_t address, std::uint64_t size);
  Block* map(std::uint64_t address, std::uint64_t size, const PhysicalMemory& memory,
             std::uint64_t offset, const BlockRequest& request);

  // Where the host finds the bytes at `address`, and how many of `size` lie together there: device
  // addresses through the alias and up to the end of their allocation, all others as they are.
  // Empty when the address lies in a device region outside any allocation.
  [[nodiscard]] std::span<std::byte> host_view(std::uint64_t address, std::uint64_t size) const;
  // Whether the address lies in a region that only device allocations use.
  [[nodiscard]] bool is_device_region(std::uint64_t address) const;

  [[nodiscard]] std::uint64_t total(int device) const;
  [[nodiscard]] std::uint64_t used(int device) const;
  [[nodiscard]] int devices() const { return static_cast<int>(regions_.size()); }

 private:
  struct Region {
    Arena arena;
    RangeAllocator ranges;
    RangeAllocator tool_ranges;  // apart, so that a tool does not move the program's addresses
    std::uint64_t total = 0;
    std::uint64_t used = 0;
  };
  DeviceMemory(std::vector<Region> regions, Region managed, Region pinned, Region mapped);

  Region& region_for(BlockKind kind, int device);
  static Region make_region(const Arena& arena, std::uint64_t total);
  Block* insert(const BlockRequest& request, std::uint64_t address, std::uint64_t footprint,
                std::ptrdiff_t alias_offset);

  mutable std::mutex mutex_;
  std::vector<Region> regions_;
  Region managed_;
  Region pinned_;
  Region virtual_;  // addresses only
  std::uint64_t next_id_ = 1;
};

}  // namespace drgpum::emulator
