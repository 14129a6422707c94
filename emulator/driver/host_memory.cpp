// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory: allocated by the driver, or registered.

#include "emulator/driver/memory_event.h"

namespace drgpum::emulator::driver {
namespace {

void* to_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT: host memory
}

std::uint64_t to_address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

CUresult allocate(void** pointer, std::size_t size, unsigned flags) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (pointer == nullptr || size == 0 || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  call.charge();
  BlockRequest request;
  request.size = size;
  request.kind = BlockKind::kPinned;
  request.flags = flags;
  request.device = call.context->device->ordinal;
  request.context = call.context;
  const Block* block = call.core().memory->allocate(request);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = to_pointer(block->range.begin);
  call.tell(
      [event = event_of(MemoryKind::kHostAlloc, *block)](Observer& o) { o.on_memory(event); });
  return CUDA_SUCCESS;
}

Block* host_block(const DeviceMemory& memory, const void* pointer) {
  Block* block = memory.block_at(to_address(pointer));
  if (block == nullptr || (block->flags & kToolBlock) != 0) return nullptr;
  const bool host = block->kind == BlockKind::kPinned || block->kind == BlockKind::kRegistered;
  return host ? block : nullptr;
}

}  // namespace

CUresult cuMemAllocHost(void** pointer, std::size_t size) {
  return allocate(pointer, size, 0);
}

CUresult cuMemHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  return allocate(pointer, size, flags);
}

CUresult cuMemFreeHost(void* pointer) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Block* block = own_block(*call.core().memory, to_address(pointer), {BlockKind::kPinned});
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (Context* owner = call.core().contexts.get(block->context); owner != nullptr)
    synchronize_context(call, *owner);
  block = own_block(*call.core().memory, to_address(pointer), {BlockKind::kPinned});
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  call.tell([event = event_of(MemoryKind::kHostFree, *block)](Observer& o) { o.on_memory(event); });
  call.core().memory->free(block);
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void* pointer, std::size_t size, unsigned flags) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (pointer == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0) return unsupported("registering I/O memory");
  BlockRequest request;
  request.size = size;
  request.kind = BlockKind::kRegistered;
  request.flags = flags;
  request.device = call.context->device->ordinal;
  request.context = call.context;
  request.read_only = (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0;
  const Block* block = call.core().memory->register_host(pointer, request);
  if (block == nullptr) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  call.tell(
      [event = event_of(MemoryKind::kHostAlloc, *block)](Observer& o) { o.on_memory(event); });
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void* pointer) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Block* block = own_block(*call.core().memory, to_address(pointer), {BlockKind::kRegistered});
  if (block == nullptr) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  call.tell([event = event_of(MemoryKind::kHostFree, *block)](Observer& o) { o.on_memory(event); });
  call.core().memory->free(block);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* pointer, unsigned flags) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (host_block(*call.core().memory, pointer) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *address = to_address(pointer);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Block* block = host_block(*call.core().memory, pointer);
  if (flags == nullptr || block == nullptr || block->kind != BlockKind::kPinned)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = block->flags | CU_MEMHOSTALLOC_DEVICEMAP;  // all of it is mapped under unified addresses
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
