// SPDX-License-Identifier: Apache-2.0
// What is known of a pointer, and advice about managed memory.

#include <cstring>

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {
namespace {

bool is_host(const Block& block) {
  return block.kind == BlockKind::kPinned || block.kind == BlockKind::kRegistered;
}

template <typename T>
CUresult give(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult attribute(const Block& block, CUpointer_attribute which, std::uint64_t pointer,
                   void* data) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(data, block.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give<unsigned>(data, is_host(block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!is_host(block) && block.kind != BlockKind::kManaged) return CUDA_ERROR_INVALID_VALUE;
      return give(data, pointer);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return give<unsigned long long>(data, block.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give<unsigned>(data, block.kind == BlockKind::kManaged);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give<int>(data, block.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return give<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(data, block.range.begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return give<std::size_t>(data, block.size());
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give<unsigned>(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give<unsigned long long>(data, 0);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return give<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give<unsigned>(data, block.range.read_only
                                      ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
                                      : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(data, block.pool);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give<unsigned long long>(data, block.id);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// The bytes of an attribute's value.
std::size_t width_of(CUpointer_attribute which) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return 8;
    default:
      return 4;
  }
}

const Block* managed_block(MachineCall& call, CUdeviceptr address, std::size_t size) {
  const Block* block = call.core().memory->block_at(address);
  if (block == nullptr || block->kind != BlockKind::kManaged) return nullptr;
  return size <= block->range.end - address ? block : nullptr;
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr pointer) {
  MachineCall call;
  const Block* block = call.core().memory->block_at(pointer);
  if (data == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return attribute(*block, which, pointer, data);
}

// Unlike the single form it succeeds for pointers it does not know, with zeros.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** data,
                                CUdeviceptr pointer) {
  MachineCall call;
  if (which == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Block* block = call.core().memory->block_at(pointer);
  for (unsigned i = 0; i < count; ++i) {
    if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (block == nullptr || attribute(*block, which[i], pointer, data[i]) != CUDA_SUCCESS) {
      std::memset(data[i], 0, width_of(which[i]));
      if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) give<int>(data[i], -2);
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr pointer) {
  MachineCall call;
  if (value == nullptr || call.core().memory->block_at(pointer) == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  return which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Managed memory lies in one place that host and device share: advice changes nothing.
CUresult cuMemAdvise_v1(CUdeviceptr address, std::size_t size, CUmem_advise, CUdevice) {
  MachineCall call;
  return managed_block(call, address, size) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAdvise_v2(CUdeviceptr address, std::size_t size, CUmem_advise, CUmemLocation) {
  MachineCall call;
  return managed_block(call, address, size) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPrefetchAsync_v1(CUdeviceptr address, std::size_t size, CUdevice, CUstream stream) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (managed_block(call, address, size) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return call.submit(EmptyWork{});
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t size, CUmemLocation, unsigned,
                               CUstream stream) {
  return cuMemPrefetchAsync_v1(address, size, 0, stream);
}

CUresult cuMemRangeGetAttribute(void* data, std::size_t bytes, CUmem_range_attribute which,
                                CUdeviceptr address, std::size_t size) {
  MachineCall call;
  if (data == nullptr || bytes < sizeof(int) || managed_block(call, address, size) == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  const bool flag = which == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
  const int answer = flag ? 0 : CU_DEVICE_INVALID;
  for (std::size_t at = 0; at + sizeof answer <= bytes; at += sizeof answer)
    std::memcpy(static_cast<char*>(data) + at, &answer, sizeof answer);
  return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes(void** data, std::size_t* bytes, CUmem_range_attribute* which,
                                 std::size_t count, CUdeviceptr address, std::size_t size) {
  if (data == nullptr || bytes == nullptr || which == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const CUresult result =
        driver::cuMemRangeGetAttribute(data[i], bytes[i], which[i], address, size);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t size,
                                unsigned flags) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  Block* block = call.core().memory->block_at(address);
  if (block == nullptr || block->kind != BlockKind::kManaged) return CUDA_ERROR_INVALID_VALUE;
  block->flags = flags;
  const std::uint64_t bytes = size != 0 ? size : block->size();
  call.tell([context = call.context, on = call.on, address, bytes](Observer& o) {
    o.on_managed_attach(context, on, address, bytes);
  });
  return call.submit(EmptyWork{});
}

}  // namespace drgpum::emulator::driver
