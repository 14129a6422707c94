// SPDX-License-Identifier: Apache-2.0
// proto/device/mark_access.h over the host's view of device memory, a warp at a time.
#include "emulator/sanitizer/native_twin.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "proto/device/mark_access.h"

namespace drgpum::emulator::sanitizer {
namespace {

using device::LaunchSlot;
using device::ObjectMap;
using device::ObjectRange;

// Set on entry of each call: the policy of mark_access.h has static members only.
thread_local std::ptrdiff_t alias __attribute__((tls_model("initial-exec"))) = 0;

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
};

// Where one thread runs the launch: the same without locked instructions.
struct OneThread : AnyThread {
  static void bit_or(std::uint32_t* word, std::uint32_t bits) { *word |= bits; }
  static void add(std::uint32_t* word, std::uint32_t value) { *word += value; }
  static void add(std::uint64_t* word, std::uint64_t value) { *word += value; }
};

template <typename Do>
void for_each_lane(std::uint32_t mask, Do with_lane) {
  for (; mask != 0; mask &= mask - 1)
    with_lane(std::countr_zero(mask));
}

// The lanes' addresses as a whole.
struct Extent {
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t highest = 0;
  bool in_a_row = true;  // lane after lane, each one's bytes follow those of the one before
};

Extent extent_of(std::uint32_t mask, const std::uint64_t* addresses, std::uint32_t size) {
  Extent extent;
  std::uint64_t expected = addresses[std::countr_zero(mask)];
  for_each_lane(mask, [&](int lane) {
    extent.lowest = std::min(extent.lowest, addresses[lane]);
    extent.highest = std::max(extent.highest, addresses[lane]);
    extent.in_a_row = extent.in_a_row && addresses[lane] == expected;
    expected += size;
  });
  return extent;
}

// One warp's access to one launch's data.
template <typename Memory>
class WarpMarker {
 public:
  WarpMarker(LaunchSlot* slot, std::uint32_t mask, const std::uint64_t* addresses,
             std::uint32_t size, std::uint32_t access)
      : slot_(slot),
        mask_(mask),
        addresses_(addresses),
        size_(size),
        access_(access),
        extent_(extent_of(mask, addresses, size)) {}

  void mark() const {
    if (mark_common_object() != device::kNoObjectIndex) return;
    for_each_lane(mask_, [&](int lane) {
      device::mark_access<Memory>(slot_, addresses_[lane], size_, access_);
    });
  }

  void map() const {
    const std::uint32_t index =
        extent_.in_a_row && slot_->maps != 0 ? mark_common_object() : device::kNoObjectIndex;
    if (index != device::kNoObjectIndex) return map_row(index);
    for_each_lane(mask_, [&](int lane) {
      device::map_access<Memory>(slot_, addresses_[lane], size_, access_);
    });
  }

 private:
  // Marks the object that all lanes fall into and gives its number; kNoObjectIndex without one.
  [[nodiscard]] std::uint32_t mark_common_object() const {
    const auto* objects = Memory::template at<const ObjectRange>(slot_->objects);
    const std::uint32_t index = device::find_object(objects, slot_->object_count, extent_.lowest);
    if (index == device::kNoObjectIndex || extent_.highest >= objects[index].end)
      return device::kNoObjectIndex;
    device::mark_word<Memory>(Memory::template at<std::uint32_t>(slot_->marks) + index,
                              device::mark_bits(access_, size_));
    return index;
  }

  // Cells of bytes that follow each other: bits for all lanes at once, counts lane by lane.
  void map_row(std::uint32_t index) const {
    const ObjectRange& object = Memory::template at<const ObjectRange>(slot_->objects)[index];
    ObjectMap map = Memory::template at<const ObjectMap>(slot_->maps)[index];
    const std::uint64_t begin = extent_.lowest - object.begin;
    const std::uint64_t end = std::min(extent_.highest + size_, object.end) - object.begin;
    const std::uint64_t counts = std::exchange(map.counts, 0);
    device::mark_cells<Memory>(map, access_, begin, static_cast<std::uint32_t>(end - begin));
    if (counts == 0) return;
    auto* cells = Memory::template at<std::uint32_t>(counts);
    const std::uint64_t last_byte = end - 1;
    if (std::uint64_t{1} << map.cell_shift == size_ && begin % size_ == 0) {
      for (std::uint64_t cell = begin >> map.cell_shift; cell <= last_byte >> map.cell_shift;
           ++cell)
        Memory::add(&cells[cell], 1U);
      return;
    }
    for (std::uint64_t at = begin; at <= last_byte; at += size_) {
      const std::uint64_t last = std::min(at + size_ - 1, last_byte) >> map.cell_shift;
      for (std::uint64_t cell = at >> map.cell_shift; cell <= last; ++cell)
        Memory::add(&cells[cell], 1U);
    }
  }

  LaunchSlot* slot_;
  std::uint32_t mask_;
  const std::uint64_t* addresses_;
  std::uint32_t size_;
  std::uint32_t access_;
  Extent extent_;
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

void TwinData::on_access(Twin twin, const exec::WarpAccess& access) const {
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
  const auto run = [&](const auto& marker) { maps ? marker.map() : marker.mark(); };
  if (alone_)
    run(WarpMarker<OneThread>(slot, mask, access.addresses, access.size, kind));
  else
    run(WarpMarker<AnyThread>(slot, mask, access.addresses, access.size, kind));
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
