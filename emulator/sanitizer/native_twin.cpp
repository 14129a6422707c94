// SPDX-License-Identifier: Apache-2.0
// proto/device/mark_access.h over the host's view of device memory, a warp at a time.
#include "emulator/sanitizer/native_twin.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <type_traits>

#include "emulator/exec/executor.h"
#include "emulator/sanitizer/map_path.h"
#include "emulator/sanitizer/twin_memory.h"
#include "proto/device/mark_access.h"

namespace drgpum::emulator::sanitizer {
namespace {

using device::LaunchSlot;
using device::ObjectMap;
using device::ObjectRange;

// An instruction mostly touches one object: where it was last time, by code address. Only a hint:
// what it says is checked against the launch's own table.
constexpr std::size_t kHints = 256;
thread_local std::array<std::uint32_t, kHints> hints __attribute__((tls_model("initial-exec"))){};

std::uint32_t& hint_for(std::uint64_t pc) {
  return hints[pc / 16 % kHints];
}

// The questions below look at all 32 lanes at once, so that they compile to vector code.
bool all_inside(std::uint32_t mask, const std::uint64_t* addresses, const ObjectRange& object,
                std::uint64_t bytes) {
  const std::uint64_t length = object.end - object.begin;
  if (length < bytes) return false;
  const std::uint64_t room = length - bytes;
  std::uint64_t outside = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    outside |= (mask >> lane & 1U) & std::uint64_t{addresses[lane] - object.begin > room};
  return outside == 0;
}

std::uint64_t lowest_of(std::uint32_t mask, const std::uint64_t* addresses) {
  const std::uint64_t first = addresses[std::countr_zero(mask)];
  std::uint64_t lowest = first;
  for (unsigned lane = 0; lane < 32; ++lane)
    lowest = std::min(lowest, (mask >> lane & 1U) != 0 ? addresses[lane] : first);
  return lowest;
}

// One warp's access to one launch's data.
template <typename Memory>
class WarpMarker {
 public:
  WarpMarker(LaunchSlot* slot, const exec::WarpAccess& access, std::uint32_t mask,
             std::uint32_t kind)
      : slot_(slot),
        objects_(Memory::template at<const ObjectRange>(slot->objects)),
        pc_(access.pc),
        mask_(mask),
        addresses_(access.addresses),
        size_(access.size),
        kind_(kind),
        short_path_(access.short_path),
        pattern_(mask == ~std::uint32_t{0} ? access.pattern : exec::AccessPattern::kScattered) {}

  // Later accesses by the same instruction to the same object would leave the same marks.
  void mark() const {
    if (const std::uint32_t index = mark_common_object(); index != device::kNoObjectIndex) {
      if (short_path_ != nullptr)
        short_path_->range = {objects_[index].begin, objects_[index].end};
      return;
    }
    for_each_lane(mask_, [&](int lane) {
      device::mark_access<Memory>(slot_, addresses_[lane], size_, kind_);
    });
  }

  void map() const {
    const std::uint32_t index = mark_common_object();
    if (index == device::kNoObjectIndex) return map_each();
    if (!device::takes_block<Memory>(slot_)) return;
    const auto path = path_to(index);
    if (!path || !reaches_no_further(objects_[index])) return map_each();
    follow(*path);
    // Of other blocks, only some are mapped.
    if (short_path_ != nullptr && slot_->block_every <= 1) *short_path_ = *path;
  }

 private:
  void map_each() const {
    for_each_lane(mask_, [&](int lane) {
      device::map_access<Memory>(slot_, pc_, addresses_[lane], size_, kind_);
    });
  }

  [[nodiscard]] std::optional<exec::ShortPath> path_to(std::uint32_t index) const {
    MapTarget target;
    target.object = objects_[index];
    target.size = size_;
    target.marks = reinterpret_cast<std::uint64_t>(marks_of(index));
    if (slot_->sites != 0) target.lanes = reinterpret_cast<std::uint64_t>(site_lanes(index));
    if (slot_->maps != 0) {
      const auto& map = Memory::template at<const ObjectMap>(slot_->maps)[index];
      const auto host = [](std::uint64_t address) {
        return address == 0 ? 0
                            : reinterpret_cast<std::uint64_t>(
                                  Memory::template at<const std::byte>(address));
      };
      target.map = map;
      target.map.read_bits = (kind_ & device::kMarkRead) != 0 ? host(map.read_bits) : 0;
      target.map.write_bits = (kind_ & device::kMarkWrite) != 0 ? host(map.write_bits) : 0;
      target.map.counts = host(map.counts);
    }
    return map_path(target, std::is_same_v<Memory, OneThread>);
  }

  // Where the lanes of this instruction and this object are counted.
  [[nodiscard]] std::uint64_t* site_lanes(std::uint32_t index) const {
    const std::uint32_t key = device::site_key(device::site_step(pc_) - slot_->code_base, index,
                                               kind_, slot_->site_shift);
    device::AccessSite* site = device::find_site<Memory>(slot_, key);
    return site == nullptr ? &slot_->lost_sites : &site->lanes;
  }

  void follow(const exec::ShortPath& path) const {
    switch (pattern_) {
      case exec::AccessPattern::kUniform:
        if (path.uniform != nullptr) path.uniform(path, addresses_[0]);
        return;
      case exec::AccessPattern::kContiguous:
        if (path.contiguous != nullptr) path.contiguous(path, addresses_[0]);
        return;
      case exec::AccessPattern::kScattered:
        if (path.scattered != nullptr) path.scattered(path, mask_, addresses_);
        return;
    }
  }

  [[nodiscard]] std::uint64_t lowest() const {
    return pattern_ == exec::AccessPattern::kScattered ? lowest_of(mask_, addresses_)
                                                       : addresses_[0];
  }

  // Whether all lanes' first `bytes` bytes lie in the object.
  [[nodiscard]] bool all_lanes_inside(const ObjectRange& object, std::uint64_t bytes) const {
    const exec::AddressRange range{object.begin, object.end};
    switch (pattern_) {
      case exec::AccessPattern::kUniform:
        return range.holds(addresses_[0], bytes);
      case exec::AccessPattern::kContiguous:
        return range.holds(addresses_[0], std::uint64_t{31} * size_ + bytes);
      case exec::AccessPattern::kScattered:
        return all_inside(mask_, addresses_, object, bytes);
    }
    return false;
  }

  [[nodiscard]] bool reaches_no_further(const ObjectRange& object) const {
    return all_lanes_inside(object, size_);
  }

  // Marks the object that all lanes fall into and gives its number; kNoObjectIndex without one.
  [[nodiscard]] std::uint32_t mark_common_object() const {
    std::uint32_t& hint = hint_for(pc_);
    std::uint32_t index = hint;
    if (index >= slot_->object_count || !all_lanes_inside(objects_[index], 1)) {
      index = device::find_object(objects_, slot_->object_count, lowest());
      if (index == device::kNoObjectIndex || !all_lanes_inside(objects_[index], 1))
        return device::kNoObjectIndex;
      hint = index;
    }
    device::mark_word<Memory>(marks_of(index), device::mark_bits(kind_, size_));
    return index;
  }

  [[nodiscard]] std::uint32_t* marks_of(std::uint32_t index) const {
    return Memory::template at<std::uint32_t>(slot_->marks) + index;
  }

  LaunchSlot* slot_;
  const ObjectRange* objects_;
  std::uint64_t pc_;
  std::uint32_t mask_;
  const std::uint64_t* addresses_;
  std::uint32_t size_;
  std::uint32_t kind_;
  exec::ShortPath* short_path_;
  exec::AccessPattern pattern_;
};

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
  const std::uint64_t sites = std::uint64_t{slot.site_mask} + 1;
  if (slot.sites != 0 &&
      (slot.site_shift < 2 || slot.site_shift > 31 ||
       !is_reachable(memory, slot.sites, sites * sizeof(device::AccessSite), alias_offset)))
    return false;
  if (slot.maps == 0) return true;
  if (!is_reachable(memory, slot.maps, count * sizeof(ObjectMap), alias_offset)) return false;
  const auto* objects = AnyThread::at<const ObjectRange>(slot.objects);
  const auto* maps = AnyThread::at<const ObjectMap>(slot.maps);
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

std::optional<TwinData> TwinData::open(const AddressSpace& memory, std::uint64_t user_data,
                                       bool alone) {
  const Allocation* allocation = memory.find(user_data);
  if (allocation == nullptr || allocation->end - user_data < sizeof(LaunchSlot))
    return std::nullopt;
  const std::ptrdiff_t alias_offset = allocation->alias_offset;
  memory_alias = alias_offset;
  const auto* slot = AnyThread::at<const LaunchSlot>(user_data);
  if (slot->version == 0) return TwinData(0, 0, alone);
  if (!device::is_observed(slot) || !all_is_reachable(memory, *slot, alias_offset))
    return std::nullopt;
  return TwinData(user_data, alias_offset, alone);
}

void TwinData::on_access(Twin twin, const exec::WarpContext& warp,
                         const exec::WarpAccess& access) const {
  if (user_data_ == 0) {
    if (access.short_path != nullptr) access.short_path->range = {0, UINT64_MAX};
    return;
  }
  const bool copies = twin == Twin::kMarkAsyncCopy || twin == Twin::kMapAsyncCopy;
  const std::uint32_t kind =
      copies ? std::uint32_t{device::kReadAccess} : device::access_of_flags(access.flags);
  std::uint32_t mask = access.mask;
  if (copies)  // a copy without a source only fills with zeros
    for_each_lane(access.mask, [&](int lane) {
      if (access.addresses[lane] == 0) mask &= ~(std::uint32_t{1} << lane);
    });
  if (kind == 0 || access.size == 0 || mask == 0) return;
  memory_alias = alias_offset_;
  auto* slot = AnyThread::at<LaunchSlot>(user_data_);
  const bool maps = twin == Twin::kMapAccess || twin == Twin::kMapAsyncCopy;
  if (maps && slot->block_every > 1) {
    const exec::Dim3 place = exec::place_of(warp).block;
    running_block = device::block_number(place.x, place.y, place.z);
  }
  const auto run = [&](const auto& marker) { maps ? marker.map() : marker.mark(); };
  if (alone_)
    run(WarpMarker<OneThread>(slot, access, mask, kind));
  else
    run(WarpMarker<AnyThread>(slot, access, mask, kind));
}

void TwinData::on_malloc(std::uint32_t mask, const std::uint64_t* pointers,
                         const std::uint64_t* sizes) const {
  if (user_data_ == 0) return;
  memory_alias = alias_offset_;
  auto* slot = AnyThread::at<LaunchSlot>(user_data_);
  for_each_lane(mask, [&](int lane) {
    device::note_heap_allocation<AnyThread>(slot, pointers[lane], sizes[lane]);
  });
}

void TwinData::on_free(std::uint32_t mask, const std::uint64_t* pointers) const {
  if (user_data_ == 0) return;
  memory_alias = alias_offset_;
  auto* slot = AnyThread::at<LaunchSlot>(user_data_);
  for_each_lane(mask, [&](int lane) { device::note_heap_free<AnyThread>(slot, pointers[lane]); });
}

}  // namespace drgpum::emulator::sanitizer
