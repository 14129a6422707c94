// SPDX-License-Identifier: Apache-2.0
// proto/device/mark_access.h over the host's view of device memory, a warp at a time.
#include "emulator/sanitizer/native_twin.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "emulator/exec/executor.h"
#include "proto/device/mark_access.h"

namespace drgpum::emulator::sanitizer {
namespace {

using device::LaunchSlot;
using device::ObjectMap;
using device::ObjectRange;

// Set on entry of each call: the policy of mark_access.h has static members only.
thread_local std::ptrdiff_t alias __attribute__((tls_model("initial-exec"))) = 0;
thread_local std::uint32_t block __attribute__((tls_model("initial-exec"))) = 0;

struct AnyThread {
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
  static std::uint32_t claim(std::uint32_t* word, std::uint32_t value) {
    std::uint32_t found = 0;
    __atomic_compare_exchange_n(word, &found, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return found;
  }
  static std::uint32_t block_number() { return block; }
  static std::uint32_t keep(std::uint32_t value) { return value; }
  static std::uint64_t keep(std::uint64_t value) { return value; }
};

// Where one thread runs the launch: the same without locked instructions.
struct OneThread : AnyThread {
  static void bit_or(std::uint32_t* word, std::uint32_t bits) { *word |= bits; }
  static void add(std::uint32_t* word, std::uint32_t value) { *word += value; }
  static void add(std::uint64_t* word, std::uint64_t value) { *word += value; }
  static std::uint32_t claim(std::uint32_t* word, std::uint32_t value) {
    return *word == 0 ? *word = value, 0 : *word;
  }
};

template <typename Do>
void for_each_lane(std::uint32_t mask, Do with_lane) {
  for (; mask != 0; mask &= mask - 1)
    with_lane(std::countr_zero(mask));
}

// An instruction mostly touches one object: where it was last time, by code address. Only a hint:
// what it says is checked against the launch's own table.
constexpr std::size_t kHints = 256;
thread_local std::array<std::uint32_t, kHints> hints __attribute__((tls_model("initial-exec"))){};

std::uint32_t& hint_for(std::uint64_t pc) {
  return hints[pc / 16 % kHints];
}

// The questions below look at all 32 lanes at once, so that they compile to vector code.
bool all_inside(std::uint32_t mask, const std::uint64_t* addresses, const ObjectRange& object) {
  const std::uint64_t length = object.end - object.begin;
  std::uint64_t outside = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    outside |= (mask >> lane & 1U) & std::uint64_t{addresses[lane] - object.begin >= length};
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
        settled_(access.settled),
        pattern_(mask == ~std::uint32_t{0} ? access.pattern : exec::AccessPattern::kScattered) {}

  // Later accesses by the same instruction to the same object would leave the same marks.
  void mark() const {
    if (const std::uint32_t index = mark_common_object(); index != device::kNoObjectIndex) {
      if (settled_ != nullptr) *settled_ = {objects_[index].begin, objects_[index].end};
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
    if (slot_->sites != 0) {
      device::count_site<Memory>(slot_, site_of(index), static_cast<std::uint32_t>(lanes()));
    }
    if (slot_->maps == 0) return;
    switch (pattern_) {
      case exec::AccessPattern::kUniform:
        return map_one(index);
      case exec::AccessPattern::kContiguous:
        return map_row(index);
      case exec::AccessPattern::kScattered:
        return map_lanes(index);
    }
  }

 private:
  [[nodiscard]] int lanes() const { return std::popcount(mask_); }

  [[nodiscard]] std::uint32_t site_of(std::uint32_t index) const {
    return device::site_key(device::site_step(pc_) - slot_->code_base, index, kind_,
                            slot_->site_shift);
  }

  void map_each() const {
    for_each_lane(mask_, [&](int lane) {
      device::map_access<Memory>(slot_, pc_, addresses_[lane], size_, kind_);
    });
  }

  [[nodiscard]] std::uint64_t lowest() const {
    return pattern_ == exec::AccessPattern::kScattered ? lowest_of(mask_, addresses_)
                                                       : addresses_[0];
  }

  [[nodiscard]] bool all_lanes_inside(const ObjectRange& object) const {
    const auto inside = [&](std::uint64_t address) {
      return address >= object.begin && address < object.end;
    };
    switch (pattern_) {
      case exec::AccessPattern::kUniform:
        return inside(addresses_[0]);
      case exec::AccessPattern::kContiguous:
        return inside(addresses_[0]) && inside(addresses_[0] + std::uint64_t{31} * size_);
      case exec::AccessPattern::kScattered:
        return all_inside(mask_, addresses_, object);
    }
    return false;
  }

  // Marks the object that all lanes fall into and gives its number; kNoObjectIndex without one.
  [[nodiscard]] std::uint32_t mark_common_object() const {
    std::uint32_t& hint = hint_for(pc_);
    std::uint32_t index = hint;
    if (index >= slot_->object_count || !all_lanes_inside(objects_[index])) {
      index = device::find_object(objects_, slot_->object_count, lowest());
      if (index == device::kNoObjectIndex || !all_lanes_inside(objects_[index]))
        return device::kNoObjectIndex;
      hint = index;
    }
    device::mark_word<Memory>(Memory::template at<std::uint32_t>(slot_->marks) + index,
                              device::mark_bits(kind_, size_));
    return index;
  }

  // The bits of bytes [begin, end) of the object; what is left to do are the map's counts.
  std::uint32_t* mark_bytes(ObjectMap& map, std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t counts = std::exchange(map.counts, 0);
    device::mark_cells<Memory>(map, kind_, begin, static_cast<std::uint32_t>(end - begin));
    return counts == 0 ? nullptr : Memory::template at<std::uint32_t>(counts);
  }

  void map_lanes(std::uint32_t index) const {
    const ObjectRange& object = objects_[index];
    const auto& map = Memory::template at<const ObjectMap>(slot_->maps)[index];
    for_each_lane(mask_, [&](int lane) {
      const std::uint64_t room = object.end - addresses_[lane];
      device::mark_cells<Memory>(map, kind_, addresses_[lane] - object.begin,
                                 size_ < room ? size_ : static_cast<std::uint32_t>(room));
    });
  }

  // All lanes access the same bytes.
  void map_one(std::uint32_t index) const {
    const ObjectRange& object = objects_[index];
    ObjectMap map = Memory::template at<const ObjectMap>(slot_->maps)[index];
    const std::uint64_t begin = addresses_[0] - object.begin;
    const std::uint64_t end = std::min(begin + size_, object.end - object.begin);
    std::uint32_t* cells = mark_bytes(map, begin, end);
    if (cells == nullptr) return;
    for (std::uint64_t cell = begin >> map.cell_shift; cell <= (end - 1) >> map.cell_shift; ++cell)
      device::count_cell<Memory>(&cells[cell], 32U);
  }

  // The lanes' bytes follow each other: bits for all lanes at once, counts lane by lane.
  void map_row(std::uint32_t index) const {
    const ObjectRange& object = objects_[index];
    ObjectMap map = Memory::template at<const ObjectMap>(slot_->maps)[index];
    const std::uint64_t begin = addresses_[0] - object.begin;
    const std::uint64_t end =
        std::min(begin + std::uint64_t{32} * size_, object.end - object.begin);
    std::uint32_t* cells = mark_bytes(map, begin, end);
    if (cells == nullptr) return;
    if (std::uint64_t{1} << map.cell_shift == size_ && begin % size_ == 0) {
      cells += begin >> map.cell_shift;
      const std::uint64_t count = ((end - 1) >> map.cell_shift) - (begin >> map.cell_shift) + 1;
      for (std::uint64_t cell = 0; cell < count; ++cell)
        device::count_cell<Memory>(&cells[cell], 1U);
      return;
    }
    for (std::uint64_t at = begin; at < end; at += size_) {
      const std::uint64_t last = (std::min(at + size_, end) - 1) >> map.cell_shift;
      for (std::uint64_t cell = at >> map.cell_shift; cell <= last; ++cell)
        device::count_cell<Memory>(&cells[cell], 1U);
    }
  }

  LaunchSlot* slot_;
  const ObjectRange* objects_;
  std::uint64_t pc_;
  std::uint32_t mask_;
  const std::uint64_t* addresses_;
  std::uint32_t size_;
  std::uint32_t kind_;
  exec::AddressRange* settled_;
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
  alias = alias_offset;
  const auto* slot = AnyThread::at<const LaunchSlot>(user_data);
  if (!device::is_observed(slot) || !all_is_reachable(memory, *slot, alias_offset))
    return std::nullopt;
  return TwinData(user_data, alias_offset, alone);
}

void TwinData::on_access(Twin twin, const exec::WarpContext& warp,
                         const exec::WarpAccess& access) const {
  const bool copies = twin == Twin::kMarkAsyncCopy || twin == Twin::kMapAsyncCopy;
  const std::uint32_t kind =
      copies ? std::uint32_t{device::kReadAccess} : device::access_of_flags(access.flags);
  std::uint32_t mask = access.mask;
  if (copies)  // a copy without a source only fills with zeros
    for_each_lane(access.mask, [&](int lane) {
      if (access.addresses[lane] == 0) mask &= ~(std::uint32_t{1} << lane);
    });
  if (kind == 0 || access.size == 0 || mask == 0) return;
  alias = alias_offset_;
  auto* slot = AnyThread::at<LaunchSlot>(user_data_);
  const bool maps = twin == Twin::kMapAccess || twin == Twin::kMapAsyncCopy;
  if (maps && slot->block_every > 1) {
    const exec::Dim3 place = exec::place_of(warp).block;
    block = device::block_number(place.x, place.y, place.z);
  }
  const auto run = [&](const auto& marker) { maps ? marker.map() : marker.mark(); };
  if (alone_)
    run(WarpMarker<OneThread>(slot, access, mask, kind));
  else
    run(WarpMarker<AnyThread>(slot, access, mask, kind));
}

void TwinData::on_malloc(std::uint32_t mask, const std::uint64_t* pointers,
                         const std::uint64_t* sizes) const {
  alias = alias_offset_;
  auto* slot = AnyThread::at<LaunchSlot>(user_data_);
  for_each_lane(mask, [&](int lane) {
    device::note_heap_allocation<AnyThread>(slot, pointers[lane], sizes[lane]);
  });
}

void TwinData::on_free(std::uint32_t mask, const std::uint64_t* pointers) const {
  alias = alias_offset_;
  auto* slot = AnyThread::at<LaunchSlot>(user_data_);
  for_each_lane(mask, [&](int lane) { device::note_heap_free<AnyThread>(slot, pointers[lane]); });
}

}  // namespace drgpum::emulator::sanitizer
