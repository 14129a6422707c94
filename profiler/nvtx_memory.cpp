// SPDX-License-Identifier: Apache-2.0
// The memory extension of NVTX. Heaps and regions are known by their addresses, which are their
// handles too. Permissions are not served: NVTX makes those functions do nothing.

#include <map>
#include <mutex>

#include "profiler/nvtx_hooks.h"
#include "profiler/told.h"

namespace drgpum::profiler::nvtx {
namespace {

// Regions that are registered; a resized one keeps its name.
struct Regions {
  std::mutex mutex;
  struct Region {
    std::uint64_t heap = 0;
    std::string name;
  };
  std::map<std::uint64_t, Region> by_address;
};

Regions& regions() {
  static Regions& regions = *new Regions();  // outlives exit handlers
  return regions;
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

template <typename T>
const T& element(const void* first, std::size_t distance, std::size_t i) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(first) + i * distance);
}

Told told_of(ToldKind kind, const char* call, std::uint64_t address, std::uint64_t size = 0) {
  Told told;
  told.kind = kind;
  told.call = call;
  told.address = address;
  told.size = size;
  return told;
}

void tell_region(const char* call, std::uint64_t address, std::uint64_t size,
                 const Regions::Region& region) {
  Told told = told_of(ToldKind::kBlock, call, address, size);
  told.may_be_whole = region.heap == 0;
  told.name = region.name;
  tell(std::move(told));
}

template <typename Body>
void guarded(Body body) noexcept {
  try {
    body();
  } catch (...) {
    return;  // out of memory: it is not recorded
  }
}

const void* heap_register(const void*, const HeapDescription* heap) {
  if (heap == nullptr || heap->type != kVirtualAddress || heap->range == nullptr) return nullptr;
  const auto& range = *static_cast<const MemoryRange*>(heap->range);
  guarded([&] {
    Told told =
        told_of(ToldKind::kPool, "nvtxMemHeapRegister", address_of(range.address), range.size);
    told.name = text_of(heap->message_type, heap->message);
    tell(std::move(told));
  });
  return range.address;
}

void forget_regions(std::uint64_t heap, bool and_tell) {
  std::vector<std::uint64_t> gone;
  {
    const std::lock_guard lock(regions().mutex);
    std::erase_if(regions().by_address, [&](const auto& entry) {
      if (entry.second.heap != heap) return false;
      gone.push_back(entry.first);
      return true;
    });
  }
  for (const std::uint64_t address : gone)
    if (and_tell) tell(told_of(ToldKind::kBlockEnd, "nvtxMemHeapReset", address));
}

void heap_unregister(const void*, const void* heap) {
  guarded([&] {
    forget_regions(address_of(heap), false);
    tell(told_of(ToldKind::kPoolEnd, "nvtxMemHeapUnregister", address_of(heap)));
  });
}

void heap_reset(const void*, const void* heap) {
  guarded([&] {
    forget_regions(address_of(heap), heap == nullptr);
    if (heap != nullptr) {
      tell(told_of(ToldKind::kPoolReset, "nvtxMemHeapReset", address_of(heap)));
    }
  });
}

void regions_register(const void*, const RegionsRegister* batch) {
  if (batch == nullptr || batch->type != kVirtualAddress || batch->ranges == nullptr) return;
  for (std::size_t i = 0; i < batch->count; ++i) {
    const auto& range = element<MemoryRange>(batch->ranges, batch->range_size, i);
    if (batch->handles != nullptr) batch->handles[i] = range.address;
    guarded([&] {
      const Regions::Region region{address_of(batch->heap), ""};
      {
        const std::lock_guard lock(regions().mutex);
        regions().by_address[address_of(range.address)] = region;
      }
      tell_region("nvtxMemRegionsRegister", address_of(range.address), range.size, region);
    });
  }
}

void regions_resize(const void*, const RegionsResize* batch) {
  if (batch == nullptr || batch->type != kVirtualAddress || batch->ranges == nullptr) return;
  for (std::size_t i = 0; i < batch->count; ++i) {
    const auto& range = element<MemoryRange>(batch->ranges, batch->range_size, i);
    guarded([&] {
      const std::uint64_t address = address_of(range.address);
      Regions::Region region;
      {
        const std::lock_guard lock(regions().mutex);
        region = regions().by_address[address];
      }
      tell(told_of(ToldKind::kBlockEnd, "nvtxMemRegionsResize", address));
      tell_region("nvtxMemRegionsResize", address, range.size, region);
    });
  }
}

void regions_unregister(const void*, const RegionsUnregister* batch) {
  if (batch == nullptr || batch->references == nullptr) return;
  for (std::size_t i = 0; i < batch->count; ++i) {
    const std::uint64_t address =
        address_of(element<const void*>(batch->references, batch->reference_size, i));
    guarded([&] {
      {
        const std::lock_guard lock(regions().mutex);
        regions().by_address.erase(address);
      }
      tell(told_of(ToldKind::kBlockEnd, "nvtxMemRegionsUnregister", address));
    });
  }
}

void regions_name(const void*, const RegionsName* batch) {
  if (batch == nullptr || batch->names == nullptr) return;
  for (std::size_t i = 0; i < batch->count; ++i) {
    const auto& named = element<RegionName>(batch->names, batch->element_size, i);
    guarded([&] {
      Told told = told_of(ToldKind::kName, "nvtxMemRegionsName", address_of(named.region));
      told.name = text_of(named.message_type, named.name);
      {
        const std::lock_guard lock(regions().mutex);
        const auto known = regions().by_address.find(told.address);
        if (known != regions().by_address.end()) known->second.name = told.name;
      }
      tell(std::move(told));
    });
  }
}

}  // namespace

int serve_extension(ExtensionModule* module) noexcept {
  if (module == nullptr || module->module != kMemoryExtension || module->segments == nullptr ||
      module->segment_count == 0) {
    return 1;
  }
  const std::pair<std::size_t, std::intptr_t> served[] = {
      {kMemHeapRegister, reinterpret_cast<std::intptr_t>(heap_register)},
      {kMemHeapUnregister, reinterpret_cast<std::intptr_t>(heap_unregister)},
      {kMemHeapReset, reinterpret_cast<std::intptr_t>(heap_reset)},
      {kMemRegionsRegister, reinterpret_cast<std::intptr_t>(regions_register)},
      {kMemRegionsResize, reinterpret_cast<std::intptr_t>(regions_resize)},
      {kMemRegionsUnregister, reinterpret_cast<std::intptr_t>(regions_unregister)},
      {kMemRegionsName, reinterpret_cast<std::intptr_t>(regions_name)},
  };
  ExtensionSegment& segment = module->segments[0];
  for (const auto& [function, ours] : served)
    if (segment.slots != nullptr && function < segment.slot_count) segment.slots[function] = ours;
  return 1;
}

}  // namespace drgpum::profiler::nvtx
