// SPDX-License-Identifier: Apache-2.0
// Device and managed memory.

#include <algorithm>
#include <iterator>

#include "emulator/driver/memory_event.h"

namespace drgpum::emulator::driver {
namespace {

// Rows start at multiples of this, as on hardware.
constexpr std::uint64_t kPitchUnit = 512;

CUresult allocate(ContextCall& call, BlockRequest request, CUdeviceptr* address) {
  call.charge();
  request.device = call.context->device->ordinal;
  request.context = call.context;
  const Block* block = call.core().memory->allocate(request);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = block->range.begin;
  call.tell(
      [event = event_of(MemoryKind::kDeviceAlloc, *block)](Observer& o) { o.on_memory(event); });
  return CUDA_SUCCESS;
}

}  // namespace

MemoryEvent event_of(MemoryKind kind, const Block& block) {
  MemoryEvent event;
  event.kind = kind;
  event.context = block.context;
  event.device = block.device;
  event.address = block.range.begin;
  event.size = block.size();
  event.pool = block.pool;
  event.module = block.module;
  if (block.kind == BlockKind::kManaged) event.flags |= kMemoryManaged;
  if (block.kind == BlockKind::kPinned || block.kind == BlockKind::kRegistered)
    event.flags |= kMemoryHostPinned | kMemoryHostMapped;
  return event;
}

Block* own_block(const DeviceMemory& memory, std::uint64_t address,
                 std::initializer_list<BlockKind> kinds) {
  Block* block = memory.block_at(address);
  if (block == nullptr || block->range.begin != address) return nullptr;
  if (std::find(kinds.begin(), kinds.end(), block->kind) == kinds.end()) return nullptr;
  return (block->flags & kToolBlock) == 0 ? block : nullptr;
}

bool is_graph_memory(const MachineCore& core, std::uint64_t address) {
  const auto mapping = core.mappings.find(address);
  if (mapping == core.mappings.end() || mapping->second.block == nullptr) return false;
  // All other mappings lie in ranges that the program has reserved.
  const auto range = core.reservations.upper_bound(address);
  if (range == core.reservations.begin()) return true;
  const auto& [begin, size] = *std::prev(range);
  return address - begin >= size;
}

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const int device = call.context->device->ordinal;
  const DeviceMemory& memory = *call.core().memory;
  if (free != nullptr) *free = memory.total(device) - memory.used(device);
  if (total != nullptr) *total = memory.total(device);
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t size) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (address == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  BlockRequest request;
  request.size = size;
  return allocate(call, request, address);
}

CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned element_size) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (address == nullptr || pitch == nullptr || width == 0 || height == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (element_size != 4 && element_size != 8 && element_size != 16) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t row = (width + kPitchUnit - 1) / kPitchUnit * kPitchUnit;
  std::size_t size = 0;
  if (row < width || __builtin_mul_overflow(row, height, &size)) return CUDA_ERROR_INVALID_VALUE;
  BlockRequest request;
  request.size = size;
  const CUresult result = allocate(call, request, address);
  if (result == CUDA_SUCCESS) *pitch = row;
  return result;
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t size, unsigned flags) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (address == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  BlockRequest request;
  request.size = size;
  request.kind = BlockKind::kManaged;
  request.flags = flags;
  return allocate(call, request, address);
}

CUresult cuMemFree(CUdeviceptr address) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (address == 0) return CUDA_SUCCESS;
  call.charge();
  if (is_graph_memory(call.core(), address)) {
    synchronize_context(call, *call.context);
    return submit(call, call.context->legacy, FreeWork{address}, HostWaits::kYes);
  }
  const auto find = [&] {
    return own_block(*call.core().memory, address, {BlockKind::kDevice, BlockKind::kManaged});
  };
  Block* block = find();
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // Work that may still use the memory comes to its end first.
  if (Context* owner = call.core().contexts.get(block->context); owner != nullptr)
    synchronize_context(call, *owner);
  block = find();
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  call.tell(
      [event = event_of(MemoryKind::kDeviceFree, *block)](Observer& o) { o.on_memory(event); });
  if (auto* pool = call.core().pools.get(block->pool); pool != nullptr) pool->used -= block->size();
  call.core().memory->free(block);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Block* block = call.core().memory->block_at(address);
  if (block == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = block->range.begin;
  if (size != nullptr) *size = block->size();
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
