// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation and its pools.

#include "emulator/driver/memory_event.h"

namespace drgpum::emulator::driver {
namespace {

Pool* find_pool(MachineCall& call, const void* handle) {
  for (Device& device : call.core().devices)
    if (device.default_pool.get() == handle) return device.default_pool.get();
  return call.core().pools.get(handle);
}

CUmemoryPool handle(Pool* pool) {
  return reinterpret_cast<CUmemoryPool>(pool);
}

void put_stream(MemoryEvent& event, Stream& stream) {
  event.stream = handle_of(stream);
  event.unique_stream = &stream;
}

// While the stream is captured the allocation becomes a node with an address of its own.
CUresult allocate_in_graph(StreamCall& call, CUdeviceptr* address, std::size_t size, int device) {
  const std::uint64_t rounded = (size + kVirtualPage - 1) & ~(kVirtualPage - 1);
  const auto reserved = call.core().memory->reserve_virtual(rounded, kVirtualPage, 0);
  if (!reserved) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = *reserved;
  return call.submit(AllocWork{device, *reserved, size});
}

CUresult allocate(StreamCall& call, CUdeviceptr* address, std::size_t size, Pool& pool) {
  if (address == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (call.on->capture != nullptr) return allocate_in_graph(call, address, size, pool.device);
  if (pool.max_bytes != 0 && pool.used + size > pool.max_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  BlockRequest request;
  request.size = size;
  request.device = pool.device;
  request.context = call.context;
  request.pool = &pool;
  const Block* block = call.core().memory->allocate(request);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  pool.took(size);
  *address = block->range.begin;
  MemoryEvent event = event_of(MemoryKind::kAsyncAlloc, *block);
  put_stream(event, *call.on);
  call.tell([event](Observer& o) { o.on_memory(event); });
  return CUDA_SUCCESS;
}

std::uint64_t reserved_of(const Pool& pool) {
  return pool.used;
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t size, CUstream stream) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  return allocate(call, address, size, *call.context->device->current_pool);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t size, CUmemoryPool which,
                                 CUstream stream) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  Pool* pool = find_pool(call, which);
  return pool != nullptr ? allocate(call, address, size, *pool) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (call.on->capture != nullptr) return call.submit(FreeWork{address});
  DeviceMemory& memory = *call.core().memory;
  if (is_graph_memory(call.core(), address))
    return call.submit(FreeWork{address});  // memory that a graph left allocated
  call.await(call.context->awaited_ticket(*call.on));
  Block* block = own_block(memory, address, {BlockKind::kDevice, BlockKind::kManaged});
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Pool* pool = find_pool(call, block->pool);
  if (pool != nullptr) pool->used -= block->size();
  MemoryEvent event = event_of(MemoryKind::kAsyncFree, *block);
  put_stream(event, *call.on);
  call.tell([event](Observer& o) { o.on_memory(event); });
  if (pool == nullptr) {
    event.kind = MemoryKind::kAsyncFreeDone;
    call.tell([event](Observer& o) { o.on_memory(event); });
  }
  memory.free(block);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* result, const CUmemPoolProps* properties) {
  MachineCall call;
  if (result == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return unsupported("a memory pool outside a device");
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return unsupported("a memory pool to share with other processes");
  if (call.device(properties->location.id) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  Pool* pool = call.core().pools.make();
  pool->device = properties->location.id;
  pool->max_bytes = properties->maxSize;
  *result = handle(pool);
  PoolEvent event{true, call.core().context_of_thread(), pool->device, pool};
  call.tell([event](Observer& o) { o.on_pool(event); });
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool which) {
  MachineCall call;
  Pool* pool = call.core().pools.get(which);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  PoolEvent event{false, call.core().context_of_thread(), pool->device, pool};
  call.tell_now([event](Observer& o) { o.on_pool(event); });
  Device& device = call.core().devices[static_cast<std::size_t>(pool->device)];
  if (device.current_pool == pool) device.current_pool = device.default_pool.get();
  call.core().pools.remove(pool);
  return CUDA_SUCCESS;
}

// Memory freed goes back to the device at once: there is nothing to trim.
CUresult cuMemPoolTrimTo(CUmemoryPool which, std::size_t) {
  MachineCall call;
  return find_pool(call, which) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool which, CUmemPool_attribute attribute, void* value) {
  MachineCall call;
  Pool* pool = find_pool(call, which);
  if (pool == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int number = *static_cast<int*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      pool->reuse_follow_event_dependencies = number;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      pool->reuse_allow_opportunistic = number;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      pool->reuse_allow_internal_dependencies = number;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pool->release_threshold = *static_cast<cuuint64_t*>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      pool->used_high = pool->used;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      pool->reserved_high = reserved_of(*pool);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPoolGetAttribute(CUmemoryPool which, CUmemPool_attribute attribute, void* value) {
  MachineCall call;
  const Pool* pool = find_pool(call, which);
  if (pool == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto number = [&](int known) {
    *static_cast<int*>(value) = known;
    return CUDA_SUCCESS;
  };
  const auto bytes = [&](std::uint64_t known) {
    *static_cast<cuuint64_t*>(value) = known;
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return number(pool->reuse_follow_event_dependencies);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return number(pool->reuse_allow_opportunistic);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return number(pool->reuse_allow_internal_dependencies);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return bytes(pool->release_threshold);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return bytes(reserved_of(*pool));
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return bytes(pool->reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return bytes(pool->used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return bytes(pool->used_high);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemPoolSetAccess(CUmemoryPool which, const CUmemAccessDesc* accesses,
                            std::size_t count) {
  MachineCall call;
  Pool* pool = find_pool(call, which);
  if (pool == nullptr || (accesses == nullptr && count != 0)) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const int device = accesses[i].location.id;
    if (accesses[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || call.device(device) == nullptr)
      return CUDA_ERROR_INVALID_DEVICE;
    const std::uint32_t bit = 1u << device;
    if (accesses[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
      pool->accessible_from &= ~bit;
    else
      pool->accessible_from |= bit;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool which, CUmemLocation* location) {
  MachineCall call;
  const Pool* pool = find_pool(call, which);
  if (pool == nullptr || flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool granted =
      location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
      (location->id == pool->device || (pool->accessible_from & (1u << (location->id & 31))) != 0);
  *flags = granted ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  MachineCall call;
  Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pool = handle(device->default_pool.get());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pool = handle(device->current_pool);
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool which) {
  MachineCall call;
  Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  Pool* pool = find_pool(call, which);
  if (pool == nullptr || pool->device != ordinal) return CUDA_ERROR_INVALID_VALUE;
  device->current_pool = pool;
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
