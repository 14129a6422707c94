// SPDX-License-Identifier: Apache-2.0
// proto/device/mark_access.h over the host's view of device memory, a warp at a time.
#include "emulator/sanitizer/native_twin.h"

#include <algorithm>
#include <array>
#include <bit>

#include "proto/device/mark_access.h"

namespace drgpum::emulator::sanitizer {
namespace {

using device::LaunchSlot;
using device::ObjectMap;
using device::ObjectRange;

// Set on entry of each call: the policy of mark_access.h has static members only.
thread_local std::ptrdiff_t alias __attribute__((tls_model("initial-exec"))) = 0;

struct HostMemory {
  template <typename T>
  static T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(address + static_cast<std::uint64_t>(alias));
  }
  static std::uint32_t load(const std::uint32_t* word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
  }
  static std::uint64_t load(const std::uint64_t* word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
  }
  static void store(std::uint64_t* word, std::uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
  }
  static void bit_or(std::uint32_t* word, std::uint32_t bits) {
    __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
  }
  static void add(std::uint32_t* word, std::uint32_t value) {
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
  }
  static void add(std::uint64_t* word, std::uint64_t value) {
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
  }
};

template <typename Do>
void for_each_lane(std::uint32_t mask, Do with_lane) {
  for (; mask != 0; mask &= mask - 1)
    with_lane(std::countr_zero(mask));
}

struct Extent {
  std::uint64_t lowest;
  std::uint64_t highest;
};

Extent extent_of(std::uint32_t mask, const std::uint64_t* addresses) {
  Extent extent{~std::uint64_t{0}, 0};
  for_each_lane(mask, [&](int lane) {
    extent.lowest = std::min(extent.lowest, addresses[lane]);
    extent.highest = std::max(extent.highest, addresses[lane]);
  });
  return extent;
}

// The object that all lanes fall into, or kNoObjectIndex.
std::uint32_t common_object(const LaunchSlot* slot, const Extent& extent) {
  const auto* objects = HostMemory::at<const ObjectRange>(slot->objects);
  const std::uint32_t index = device::find_object(objects, slot->object_count, extent.lowest);
  if (index == device::kNoObjectIndex || extent.highest >= objects[index].end)
    return device::kNoObjectIndex;
  return index;
}

void mark_warp(LaunchSlot* slot, std::uint32_t mask, const std::uint64_t* addresses,
               std::uint32_t size, std::uint32_t access) {
  const std::uint32_t index = common_object(slot, extent_of(mask, addresses));
  if (index != device::kNoObjectIndex) {
    device::mark_word<HostMemory>(HostMemory::at<std::uint32_t>(slot->marks) + index,
                                  device::mark_bits(access, size));
    return;
  }
  for_each_lane(mask, [&](int lane) {
    device::mark_access<HostMemory>(slot, addresses[lane], size, access);
  });
}

void map_warp(LaunchSlot* slot, std::uint32_t mask, const std::uint64_t* addresses,
              std::uint32_t size, std::uint32_t access) {
  for_each_lane(
      mask, [&](int lane) { device::map_access<HostMemory>(slot, addresses[lane], size, access); });
}

// Whether [address, address + size) lies in one allocation with this alias.
bool is_reachable(const AddressSpace& memory, std::uint64_t address, std::uint64_t size,
                  std::ptrdiff_t alias_offset) {
  if (size == 0) return true;
  const Allocation* allocation = memory.find(address);
  return allocation != nullptr && allocation->alias_offset == alias_offset &&
         size <= allocation->end - address;
}

bool map_is_reachable(const AddressSpace& memory, const ObjectMap& map, const ObjectRange& object,
                      std::ptrdiff_t alias_offset) {
  if (map.cell_shift >= 64) return false;
  const std::uint64_t cells = ((object.end - object.begin - 1) >> map.cell_shift) + 1;
  const std::uint64_t bit_bytes = (cells + 31) / 32 * sizeof(std::uint32_t);
  const auto ok = [&](std::uint64_t address, std::uint64_t size) {
    return address == 0 || is_reachable(memory, address, size, alias_offset);
  };
  return ok(map.read_bits, bit_bytes) && ok(map.write_bits, bit_bytes) &&
         ok(map.counts, cells * sizeof(std::uint32_t));
}

bool all_is_reachable(const AddressSpace& memory, const LaunchSlot& slot,
                      std::ptrdiff_t alias_offset) {
  const std::uint64_t count = slot.object_count;
  if (!is_reachable(memory, slot.objects, count * sizeof(ObjectRange), alias_offset) ||
      !is_reachable(memory, slot.marks, count * sizeof(std::uint32_t), alias_offset))
    return false;
  if (slot.maps == 0) return true;
  if (!is_reachable(memory, slot.maps, count * sizeof(ObjectMap), alias_offset)) return false;
  const auto* objects = HostMemory::at<const ObjectRange>(slot.objects);
  const auto* maps = HostMemory::at<const ObjectMap>(slot.maps);
  for (std::uint64_t i = 0; i < count; ++i)
    if (!map_is_reachable(memory, maps[i], objects[i], alias_offset)) return false;
  return true;
}

}  // namespace

Twin twin_of(std::string_view device_function) {
  struct Named {
    std::string_view name;
    Twin twin;
  };
  constexpr std::array<Named, 6> kTwins{{
      {"drgpum_mark_global", Twin::kMarkAccess},
      {"drgpum_map_global", Twin::kMapAccess},
      {"drgpum_mark_async_copy", Twin::kMarkAsyncCopy},
      {"drgpum_map_async_copy", Twin::kMapAsyncCopy},
      {"drgpum_device_malloc", Twin::kHeapAllocation},
      {"drgpum_device_free", Twin::kHeapFree},
  }};
  const auto* found = std::ranges::find(kTwins, device_function, &Named::name);
  return found == kTwins.end() ? Twin::kNone : found->twin;
}

std::optional<TwinData> TwinData::open(const AddressSpace& memory, std::uint64_t user_data) {
  const Allocation* allocation = memory.find(user_data);
  if (allocation == nullptr || allocation->end - user_data < sizeof(LaunchSlot))
    return std::nullopt;
  const std::ptrdiff_t alias_offset = allocation->alias_offset;
  alias = alias_offset;
  const auto* slot = HostMemory::at<const LaunchSlot>(user_data);
  if (!device::is_observed(slot) || !all_is_reachable(memory, *slot, alias_offset))
    return std::nullopt;
  return TwinData(user_data, alias_offset);
}

void TwinData::on_access(Twin twin, const exec::WarpAccess& access) const {
  const bool copies = twin == Twin::kMarkAsyncCopy || twin == Twin::kMapAsyncCopy;
  const std::uint32_t kind =
      copies ? std::uint32_t{device::kReadAccess} : device::access_of_flags(access.flags);
  if (kind == 0 || access.size == 0) return;
  alias = alias_offset_;
  auto* slot = HostMemory::at<LaunchSlot>(user_data_);
  std::uint32_t mask = access.mask;
  if (copies)  // a copy without a source only fills with zeros
    for_each_lane(mask, [&](int lane) {
      if (access.addresses[lane] == 0) mask &= ~(std::uint32_t{1} << lane);
    });
  if (twin == Twin::kMapAccess || twin == Twin::kMapAsyncCopy)
    map_warp(slot, mask, access.addresses, access.size, kind);
  else
    mark_warp(slot, mask, access.addresses, access.size, kind);
}

void TwinData::on_malloc(std::uint32_t mask, const std::uint64_t* pointers,
                         const std::uint64_t* sizes) const {
  alias = alias_offset_;
  auto* slot = HostMemory::at<LaunchSlot>(user_data_);
  for_each_lane(mask, [&](int lane) {
    device::note_heap_allocation<HostMemory>(slot, pointers[lane], sizes[lane]);
  });
}

void TwinData::on_free(std::uint32_t mask, const std::uint64_t* pointers) const {
  alias = alias_offset_;
  auto* slot = HostMemory::at<LaunchSlot>(user_data_);
  for_each_lane(mask, [&](int lane) { device::note_heap_free<HostMemory>(slot, pointers[lane]); });
}

}  // namespace drgpum::emulator::sanitizer
