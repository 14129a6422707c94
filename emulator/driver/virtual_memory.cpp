// SPDX-License-Identifier: Apache-2.0
// The virtual memory interface: address ranges, memory, and mappings between them.

#include <iterator>
#include <utility>

#include "emulator/driver/memory_event.h"

namespace drgpum::emulator::driver {
namespace {

Physical* find_physical(MachineCall& call, CUmemGenericAllocationHandle handle) {
  Physical* physical =
      call.core().physicals.get(reinterpret_cast<const void*>(handle));  // NOLINT: a handle
  return physical != nullptr && !physical->released ? physical : nullptr;
}

bool is_whole_pages(std::uint64_t value) {
  return value % kVirtualPage == 0;
}

void drop_reference(MachineCall& call, Physical* physical) {
  if (--physical->references != 0) return;
  call.core().memory->destroy_physical(physical->memory);
  call.core().physicals.remove(physical);
}

MemoryEvent range_event(MachineCall& call, MemoryKind kind, std::uint64_t address,
                        std::uint64_t size) {
  MemoryEvent event;
  event.kind = kind;
  event.context = call.core().context_of_thread();
  event.address = address;
  event.size = size;
  return event;
}

// Whether mappings fill [address, address + size) from its first byte to its last.
bool is_mapped(const MachineCore& core, std::uint64_t address, std::uint64_t size) {
  const std::uint64_t end = address + size;
  while (address < end) {
    const auto it = core.mappings.find(address);
    if (it == core.mappings.end() || it->second.size > end - address) return false;
    address += it->second.size;
  }
  return size != 0;
}

void grant(MachineCall& call, std::uint64_t address, Mapping& mapping, CUmemAccess_flags access) {
  MachineCore& core = call.core();
  if (mapping.block != nullptr && access == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
    call.tell([event = event_of(MemoryKind::kDeviceFree, *mapping.block)](Observer& o) {
      o.on_memory(event);
    });
    core.memory->free(std::exchange(mapping.block, nullptr));
  } else if (mapping.block == nullptr && access != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
    BlockRequest request;
    request.kind = BlockKind::kMapped;
    request.device = mapping.physical->memory.device;
    request.context = core.context_of_thread();
    request.read_only = access == CU_MEM_ACCESS_FLAGS_PROT_READ;
    mapping.block =
        core.memory->map(address, mapping.size, mapping.physical->memory, mapping.offset, request);
    call.tell([event = event_of(MemoryKind::kDeviceAlloc, *mapping.block)](Observer& o) {
      o.on_memory(event);
    });
  }
  mapping.access = access;
}

}  // namespace

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t size, std::size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags) {
  MachineCall call;
  if (address == nullptr || size == 0 || !is_whole_pages(size) || flags != 0 ||
      (alignment & (alignment - 1)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const auto reserved = call.core().memory->reserve_virtual(size, alignment, wanted);
  if (!reserved) return CUDA_ERROR_OUT_OF_MEMORY;
  call.core().reservations[*reserved] = size;
  *address = *reserved;
  call.tell([event = range_event(call, MemoryKind::kVirtualReserve, *reserved, size)](Observer& o) {
    o.on_memory(event);
  });
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t size) {
  MachineCall call;
  MachineCore& core = call.core();
  const auto it = core.reservations.find(address);
  if (it == core.reservations.end() || it->second != size) return CUDA_ERROR_INVALID_VALUE;
  const auto inside = core.mappings.lower_bound(address);
  if (inside != core.mappings.end() && inside->first < address + size)
    return CUDA_ERROR_INVALID_VALUE;
  core.reservations.erase(it);
  core.memory->release_virtual(address, size);
  call.tell([event = range_event(call, MemoryKind::kVirtualRelease, address, size)](Observer& o) {
    o.on_memory(event);
  });
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  MachineCall call;
  if (handle == nullptr || properties == nullptr || size == 0 || !is_whole_pages(size) ||
      flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return unsupported("cuMemCreate outside a device");
  if (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
      properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return unsupported("cuMemCreate of memory to share with other processes");
  if (call.device(properties->location.id) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  const auto memory = call.core().memory->create_physical(properties->location.id, size);
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  Physical* physical = call.core().physicals.make();
  physical->memory = *memory;
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(physical);
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  MachineCall call;
  Physical* physical = find_physical(call, handle);
  if (physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (--physical->handles == 0) physical->released = true;
  drop_reference(call, physical);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, std::size_t size, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  MachineCall call;
  MachineCore& core = call.core();
  Physical* physical = find_physical(call, handle);
  if (physical == nullptr || size == 0 || flags != 0 || !is_whole_pages(address) ||
      !is_whole_pages(size) || offset > physical->memory.size ||
      size > physical->memory.size - offset)
    return CUDA_ERROR_INVALID_VALUE;
  auto range = core.reservations.upper_bound(address);
  if (range == core.reservations.begin()) return CUDA_ERROR_INVALID_VALUE;
  --range;
  if (address + size > range->first + range->second) return CUDA_ERROR_INVALID_VALUE;
  auto next = core.mappings.lower_bound(address);
  if (next != core.mappings.end() && next->first < address + size) return CUDA_ERROR_INVALID_VALUE;
  if (next != core.mappings.begin() &&
      std::prev(next)->first + std::prev(next)->second.size > address)
    return CUDA_ERROR_INVALID_VALUE;
  ++physical->references;
  core.mappings[address] = {size, offset, physical, nullptr, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t size) {
  MachineCall call;
  MachineCore& core = call.core();
  if (!is_mapped(core, address, size)) return CUDA_ERROR_INVALID_VALUE;
  for (const std::uint64_t end = address + size; address < end;) {
    const auto it = core.mappings.find(address);
    grant(call, address, it->second, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    drop_reference(call, it->second.physical);
    address += it->second.size;
    core.mappings.erase(it);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t size, const CUmemAccessDesc* accesses,
                        std::size_t count) {
  MachineCall call;
  MachineCore& core = call.core();
  if (accesses == nullptr || count == 0 || !is_mapped(core, address, size))
    return CUDA_ERROR_INVALID_VALUE;
  for (const std::uint64_t end = address + size; address < end;) {
    const auto it = core.mappings.find(address);
    for (std::size_t i = 0; i < count; ++i)
      if (accesses[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        grant(call, address, it->second, accesses[i].flags);
    address += it->second.size;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  MachineCall call;
  if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto it = call.core().mappings.upper_bound(address);
  if (it == call.core().mappings.begin()) return CUDA_ERROR_INVALID_VALUE;
  --it;
  if (address >= it->first + it->second.size) return CUDA_ERROR_INVALID_VALUE;
  *flags = it->second.access;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  if (granularity == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *granularity = kVirtualPage;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  MachineCall call;
  const Physical* physical = find_physical(call, handle);
  if (properties == nullptr || physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *properties = {};
  properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties->location.id = physical->memory.device;
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  MachineCall call;
  const auto where = reinterpret_cast<std::uint64_t>(address);
  auto it = call.core().mappings.upper_bound(where);
  if (handle == nullptr || it == call.core().mappings.begin()) return CUDA_ERROR_INVALID_VALUE;
  --it;
  if (where >= it->first + it->second.size) return CUDA_ERROR_INVALID_VALUE;
  Physical* physical = it->second.physical;
  ++physical->references;
  ++physical->handles;
  physical->released = false;
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(physical);
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
