// SPDX-License-Identifier: Apache-2.0
// Lays out the regions and hands out blocks of them.

#include "emulator/memory/device_memory.h"

#include <algorithm>
#include <bit>

namespace drgpum::emulator {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
// Addresses are the same in every run, so the kernel must never put anything there: with 32 random bits
// (vm.mmap_rnd_bits) libraries lie from 0x6fff'0000'0000 up, programs from 0x5555'0000'0000 to
// 0x6556'0000'0000; sanitizers' shadows end below 0x1001'0000'0000.
#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer's shadow covers the ends of the address space only; programs and libraries lie at
// the other one.
constexpr std::uint64_t kPinnedBase = 0x0020'0000'0000;
constexpr std::uint64_t kManagedBase = 0x0040'0000'0000;
constexpr std::uint64_t kHostRegion = 64 * kGiB;
#else
constexpr std::uint64_t kManagedBase = 0x2a00'0000'0000;
constexpr std::uint64_t kPinnedBase = 0x2b00'0000'0000;
constexpr std::uint64_t kHostRegion = 1024 * kGiB;
#endif
constexpr std::uint64_t kDeviceBase = 0x2000'0000'0000;
constexpr std::uint64_t kVirtualBase = 0x2900'0000'0000;
constexpr std::uint64_t kVirtualEnd = 0x2a00'0000'0000;
// Blocks lie this far apart, so that an access just past the end of one hits none.
constexpr std::uint64_t kGap = kAllocationUnit;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool is_tools(BlockKind kind, std::uint32_t flags) {
  return kind == BlockKind::kTool || (flags & kToolBlock) != 0;
}

}  // namespace

Result<std::unique_ptr<DeviceMemory>> DeviceMemory::reserve(int devices, std::uint64_t bytes) {
  // Twice the size: fragmented addresses never use up a device before its bytes do.
  const std::uint64_t stride = std::max(256 * kGiB, std::bit_ceil(bytes * 2));
  std::vector<Region> regions;
  for (int device = 0; device < devices; ++device) {
    const std::uint64_t base = kDeviceBase + static_cast<std::uint64_t>(device) * stride;
    if (base + stride > kVirtualBase)
      return Error{ErrorCode::kInvalidArgument,
                   "emulated device memory: " + std::to_string(devices) + " devices of " +
                       std::to_string(bytes) +
                       " bytes do not fit into the address space; ask for fewer or smaller ones"};
    ASSIGN_OR_RETURN(const Arena arena, Arena::reserve(base, stride, HostView::kHidden));
    regions.push_back(make_region(arena, bytes));
  }
  ASSIGN_OR_RETURN(const Arena managed,
                   Arena::reserve(kManagedBase, kHostRegion, HostView::kShared));
  ASSIGN_OR_RETURN(const Arena pinned, Arena::reserve(kPinnedBase, kHostRegion, HostView::kShared));
  Region addresses{{}, RangeAllocator(kVirtualBase, kVirtualEnd), RangeAllocator(0, 0), 0, 0};
  return std::unique_ptr<DeviceMemory>(
      new DeviceMemory(std::move(regions), make_region(managed, kHostRegion),
                       make_region(pinned, kHostRegion), std::move(addresses)));
}

DeviceMemory::Region DeviceMemory::make_region(const Arena& arena, std::uint64_t total) {
  const std::uint64_t border = arena.end() - (arena.end() - arena.begin()) / 4;
  return {arena, RangeAllocator(arena.begin(), border), RangeAllocator(border, arena.end()), total,
          0};
}

DeviceMemory::DeviceMemory(std::vector<Region> regions, Region managed, Region pinned,
                           Region mapped)
    : regions_(std::move(regions)),
      managed_(std::move(managed)),
      pinned_(std::move(pinned)),
      virtual_(std::move(mapped)) {}

DeviceMemory::Region& DeviceMemory::region_for(BlockKind kind, int device) {
  if (kind == BlockKind::kManaged) return managed_;
  if (kind == BlockKind::kPinned) return pinned_;
  return regions_[static_cast<std::size_t>(device)];
}

Block* DeviceMemory::insert(const BlockRequest& request, std::uint64_t address,
                            std::uint64_t footprint, std::ptrdiff_t alias_offset) {
  Block block;
  block.range = {address, address + request.size, alias_offset, request.read_only, false};
  block.kind = request.kind;
  block.device = request.device;
  block.flags = request.flags;
  block.context = request.context;
  block.pool = request.pool;
  block.module = request.module;
  block.id = next_id_++;
  block.footprint = footprint;
  return AllocationTable::insert(block);
}

Block* DeviceMemory::allocate(const BlockRequest& request) {
  const std::lock_guard lock(mutex_);
  Region& region = region_for(request.kind, request.device);
  if (request.size > region.total) return nullptr;
  const std::uint64_t rounded = round_up(request.size, kAllocationUnit);
  if (region.total - region.used < rounded) return nullptr;
  RangeAllocator& ranges =
      is_tools(request.kind, request.flags) ? region.tool_ranges : region.ranges;
  const auto address = ranges.take(rounded + kGap, std::max(request.alignment, kAllocationUnit));
  if (!address) return nullptr;
  region.used += rounded;
  return insert(request, *address, rounded, region.arena.alias_offset());
}

Block* DeviceMemory::register_host(void* address, const BlockRequest& request) {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const std::lock_guard lock(mutex_);
  if (first_in(begin, begin + request.size) != nullptr) return nullptr;
  return insert(request, begin, 0, 0);
}

void DeviceMemory::free(Block* block) {
  const std::lock_guard lock(mutex_);
  if (block->footprint != 0) {
    Region& region = region_for(block->kind, block->device);
    region.arena.discard(block->range.begin, block->footprint);
    RangeAllocator& ranges =
        is_tools(block->kind, block->flags) ? region.tool_ranges : region.ranges;
    ranges.give_back(block->range.begin, block->footprint + kGap);
    region.used -= block->footprint;
  }
  remove(block);
}

void DeviceMemory::free_all_of(const void* context) {
  for (Block* block : blocks_of(context))
    if (block->kind != BlockKind::kMapped) free(block);
}

std::optional<PhysicalMemory> DeviceMemory::create_physical(int device, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  Region& region = regions_[static_cast<std::size_t>(device)];
  if (region.total - region.used < size) return std::nullopt;
  const auto backing = region.ranges.take(size, kVirtualPage);
  if (!backing) return std::nullopt;
  region.used += size;
  return PhysicalMemory{device, size, *backing};
}

void DeviceMemory::destroy_physical(const PhysicalMemory& memory) {
  const std::lock_guard lock(mutex_);
  Region& region = regions_[static_cast<std::size_t>(memory.device)];
  region.arena.discard(memory.backing, memory.size);
  region.ranges.give_back(memory.backing, memory.size);
  region.used -= memory.size;
}

std::optional<std::uint64_t> DeviceMemory::reserve_virtual(std::uint64_t size,
                                                           std::uint64_t alignment,
                                                           std::uint64_t wanted) {
  const std::lock_guard lock(mutex_);
  if (wanted != 0 && virtual_.ranges.take_at(wanted, size)) return wanted;
  return virtual_.ranges.take(size, std::max(alignment, kVirtualPage));
}

void DeviceMemory::release_virtual(std::uint64_t address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  virtual_.ranges.give_back(address, size);
}

Block* DeviceMemory::map(std::uint64_t address, std::uint64_t size, const PhysicalMemory& memory,
                         std::uint64_t offset, const BlockRequest& request) {
  const std::lock_guard lock(mutex_);
  const Region& region = regions_[static_cast<std::size_t>(memory.device)];
  const auto alias =
      static_cast<std::ptrdiff_t>(memory.backing + offset - address) + region.arena.alias_offset();
  BlockRequest mapped = request;
  mapped.size = size;
  return insert(mapped, address, 0, alias);
}

bool DeviceMemory::is_device_region(std::uint64_t address) const {
  if (address >= kVirtualBase && address < kVirtualEnd) return true;
  return address >= regions_.front().arena.begin() && address < regions_.back().arena.end();
}

std::span<std::byte> DeviceMemory::host_view(std::uint64_t address, std::uint64_t size) const {
  const Allocation* range = find(address);
  if (range == nullptr && is_device_region(address)) return {};
  const std::ptrdiff_t alias = range != nullptr ? range->alias_offset : 0;
  // Host memory may be registered in part: what follows is still the program's.
  const std::uint64_t together = alias != 0 ? std::min(size, range->end - address) : size;
  return {reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(alias)),  // NOLINT
          together};
}

std::uint64_t DeviceMemory::total(int device) const {
  return regions_[static_cast<std::size_t>(device)].total;
}

std::uint64_t DeviceMemory::used(int device) const {
  const std::lock_guard lock(mutex_);
  return regions_[static_cast<std::size_t>(device)].used;
}

}  // namespace drgpum::emulator
