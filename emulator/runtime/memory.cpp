// SPDX-License-Identifier: Apache-2.0
// Allocation and release of device, managed and pinned host memory.
#include <iterator>

#include "emulator/runtime/api.h"

namespace drgpum::emulator::runtime {
namespace {

CUdeviceptr device_pointer(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

// The driver refuses empty allocations; the runtime gives a null pointer.
template <typename Allocate>
cudaError_t allocate(void** pointer, std::size_t size, Allocate allocate_some) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_context());
  *pointer = nullptr;
  return size == 0 ? cudaSuccess : to_error(allocate_some());
}

cudaError_t allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width,
                             std::size_t height) {
  constexpr unsigned kElementBytes = 4;  // rows aligned for accesses up to this
  if (pitch == nullptr) return cudaErrorInvalidValue;
  *pitch = 0;
  return allocate(pointer, width * height, [&] {
    return CU(cuMemAllocPitch)(reinterpret_cast<CUdeviceptr*>(pointer), pitch, width, height,
                               kElementBytes);
  });
}

}  // namespace

RUNTIME_API(cudaMalloc, v3020, (void** pointer, std::size_t size), pointer, size) {
  return allocate(pointer, size,
                  [&] { return CU(cuMemAlloc)(reinterpret_cast<CUdeviceptr*>(pointer), size); });
}

RUNTIME_API(cudaMallocPitch, v3020,
            (void** pointer, std::size_t* pitch, std::size_t width, std::size_t height), pointer,
            pitch, width, height) {
  return allocate_pitched(pointer, pitch, width, height);
}

RUNTIME_API(cudaMalloc3D, v3020, (cudaPitchedPtr * pitched, cudaExtent extent), pitched, extent) {
  if (pitched == nullptr) return cudaErrorInvalidValue;
  *pitched = {nullptr, 0, extent.width, extent.height};
  return allocate_pitched(&pitched->ptr, &pitched->pitch, extent.width,
                          extent.height * extent.depth);
}

RUNTIME_API(cudaMallocManaged, v6000, (void** pointer, std::size_t size, unsigned flags), pointer,
            size, flags) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuMemAllocManaged)(reinterpret_cast<CUdeviceptr*>(pointer), size, flags));
}

RUNTIME_API(cudaFree, v3020, (void* pointer), pointer) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return pointer == nullptr ? cudaSuccess : to_error(CU(cuMemFree)(device_pointer(pointer)));
}

RUNTIME_API(cudaMallocHost, v3020, (void** pointer, std::size_t size), pointer, size) {
  return allocate(pointer, size, [&] { return CU(cuMemHostAlloc)(pointer, size, 0); });
}

// cudaHostAlloc* and CU_MEMHOSTALLOC_* flags have the same values.
RUNTIME_API(cudaHostAlloc, v3020, (void** pointer, std::size_t size, unsigned flags), pointer, size,
            flags) {
  return allocate(pointer, size, [&] { return CU(cuMemHostAlloc)(pointer, size, flags); });
}

RUNTIME_API(cudaFreeHost, v3020, (void* pointer), pointer) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return pointer == nullptr ? cudaSuccess : to_error(CU(cuMemFreeHost)(pointer));
}

RUNTIME_API(cudaHostRegister, v4000, (void* pointer, std::size_t size, unsigned flags), pointer,
            size, flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuMemHostRegister)(pointer, size, flags));
}

RUNTIME_API(cudaHostUnregister, v4000, (void* pointer), pointer) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuMemHostUnregister)(pointer));
}

RUNTIME_API(cudaHostGetDevicePointer, v3020, (void** device, void* host, unsigned flags), device,
            host, flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(
      CU(cuMemHostGetDevicePointer)(reinterpret_cast<CUdeviceptr*>(device), host, flags));
}

RUNTIME_API(cudaHostGetFlags, v3020, (unsigned* flags, void* host), flags, host) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuMemHostGetFlags)(flags, host));
}

RUNTIME_API(cudaMemGetInfo, v3020, (std::size_t * free, std::size_t* total), free, total) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuMemGetInfo)(free, total));
}

STREAM_API(cudaMallocAsync, v11020, v11020, (void** pointer, std::size_t size, cudaStream_t stream),
           pointer, size, stream) {
  return allocate(pointer, size, [&] {
    return CU(cuMemAllocAsync)(reinterpret_cast<CUdeviceptr*>(pointer), size, stream);
  });
}

STREAM_API(cudaMallocFromPoolAsync, v11020, v11020,
           (void** pointer, std::size_t size, cudaMemPool_t pool, cudaStream_t stream), pointer,
           size, pool, stream) {
  return allocate(pointer, size, [&] {
    return CU(cuMemAllocFromPoolAsync)(reinterpret_cast<CUdeviceptr*>(pointer), size, pool, stream);
  });
}

STREAM_API(cudaFreeAsync, v11020, v11020, (void* pointer, cudaStream_t stream), pointer, stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return pointer == nullptr ? cudaSuccess
                            : to_error(CU(cuMemFreeAsync)(device_pointer(pointer), stream));
}

namespace {

cudaMemoryType memory_type(unsigned driver_type, unsigned managed) {
  if (managed != 0) return cudaMemoryTypeManaged;
  if (driver_type == CU_MEMORYTYPE_HOST) return cudaMemoryTypeHost;
  return driver_type == 0 ? cudaMemoryTypeUnregistered : cudaMemoryTypeDevice;
}

}  // namespace

RUNTIME_API(cudaPointerGetAttributes, v4000,
            (cudaPointerAttributes * attributes, const void* pointer), attributes, pointer) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_context());
  unsigned type = 0;
  unsigned managed = 0;
  int device = -2;  // documented for memory that CUDA does not know
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER};
  *attributes = {};
  void* values[] = {&type, &managed, &device, &attributes->devicePointer, &attributes->hostPointer};
  RETURN_IF_CUDA_ERROR(
      CU(cuPointerGetAttributes)(std::size(names), names, values, device_pointer(pointer)));
  attributes->type = memory_type(type, managed);
  attributes->device = device;
  if (attributes->type == cudaMemoryTypeUnregistered)
    attributes->hostPointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

namespace {

CUmemLocation location_of(const cudaMemLocation& location) {
  CUmemLocation result{};
  result.type = static_cast<CUmemLocationType>(location.type);
  result.id = location.id;
  return result;
}

}  // namespace

STREAM_API(cudaMemPrefetchAsync, v12020, v12020,
           (const void* pointer, std::size_t size, cudaMemLocation location, unsigned flags,
            cudaStream_t stream),
           pointer, size, location, flags, stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(
      CU(cuMemPrefetchAsync)(device_pointer(pointer), size, location_of(location), flags, stream));
}

RUNTIME_API(cudaMemAdvise, v12020,
            (const void* pointer, std::size_t size, cudaMemoryAdvise advice,
             cudaMemLocation location),
            pointer, size, advice, location) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuMemAdvise)(device_pointer(pointer), size, static_cast<CUmem_advise>(advice),
                                  location_of(location)));
}

RUNTIME_API(cudaMemRangeGetAttribute, v8000,
            (void* data, std::size_t data_size, cudaMemRangeAttribute attribute,
             const void* pointer, std::size_t size),
            data, data_size, attribute, pointer, size) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuMemRangeGetAttribute)(data, data_size,
                                             static_cast<CUmem_range_attribute>(attribute),
                                             device_pointer(pointer), size));
}

STREAM_API(cudaStreamAttachMemAsync, v6000, v7000,
           (cudaStream_t stream, void* pointer, std::size_t length, unsigned flags), stream,
           pointer, length, flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamAttachMemAsync)(stream, device_pointer(pointer), length, flags));
}

}  // namespace drgpum::emulator::runtime
