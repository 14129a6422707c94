// SPDX-License-Identifier: Apache-2.0
// Memory pools. The runtime's structs and numbers are the driver's.
#include "emulator/runtime/forward.h"

namespace drgpum::emulator::runtime {

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));
static_assert(sizeof(cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData));

RUNTIME_API(cudaDeviceGetDefaultMemPool, v11020, (cudaMemPool_t * pool, int device), pool, device) {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  return to_error(CU(cuDeviceGetDefaultMemPool)(pool, device));
}

RUNTIME_API(cudaDeviceGetMemPool, v11020, (cudaMemPool_t * pool, int device), pool, device) {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  return to_error(CU(cuDeviceGetMemPool)(pool, device));
}

RUNTIME_API(cudaDeviceSetMemPool, v11020, (int device, cudaMemPool_t pool), device, pool) {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  return to_error(CU(cuDeviceSetMemPool)(device, pool));
}

FORWARD_API(cudaMemPoolCreate, v11020, cuMemPoolCreate,
            (cudaMemPool_t * pool, const cudaMemPoolProps* properties), pool, properties)
FORWARD_API(cudaMemPoolDestroy, v11020, cuMemPoolDestroy, (cudaMemPool_t pool), pool)
FORWARD_API(cudaMemPoolTrimTo, v11020, cuMemPoolTrimTo, (cudaMemPool_t pool, std::size_t keep),
            pool, keep)
FORWARD_API(cudaMemPoolSetAttribute, v11020, cuMemPoolSetAttribute,
            (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value), pool, attribute, value)
FORWARD_API(cudaMemPoolGetAttribute, v11020, cuMemPoolGetAttribute,
            (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value), pool, attribute, value)
FORWARD_API(cudaMemPoolSetAccess, v11020, cuMemPoolSetAccess,
            (cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count), pool, list,
            count)
FORWARD_API(cudaMemPoolGetAccess, v11020, cuMemPoolGetAccess,
            (cudaMemAccessFlags * flags, cudaMemPool_t pool, cudaMemLocation* location), flags,
            pool, location)
FORWARD_API(cudaMemPoolExportToShareableHandle, v11020, cuMemPoolExportToShareableHandle,
            (void* handle, cudaMemPool_t pool, cudaMemAllocationHandleType type, unsigned flags),
            handle, pool, type, flags)
FORWARD_API(cudaMemPoolImportFromShareableHandle, v11020, cuMemPoolImportFromShareableHandle,
            (cudaMemPool_t * pool, void* handle, cudaMemAllocationHandleType type, unsigned flags),
            pool, handle, type, flags)
FORWARD_API(cudaMemPoolExportPointer, v11020, cuMemPoolExportPointer,
            (cudaMemPoolPtrExportData * data, void* pointer), data, pointer)
FORWARD_API(cudaMemPoolImportPointer, v11020, cuMemPoolImportPointer,
            (void** pointer, cudaMemPool_t pool, cudaMemPoolPtrExportData* data), pointer, pool,
            data)
FORWARD_API(cudaMemGetDefaultMemPool, v13000, cuMemGetDefaultMemPool,
            (cudaMemPool_t * pool, cudaMemLocation* location, cudaMemAllocationType type), pool,
            location, type)
FORWARD_API(cudaMemGetMemPool, v13000, cuMemGetMemPool,
            (cudaMemPool_t * pool, cudaMemLocation* location, cudaMemAllocationType type), pool,
            location, type)
FORWARD_API(cudaMemSetMemPool, v13000, cuMemSetMemPool,
            (cudaMemLocation * location, cudaMemAllocationType type, cudaMemPool_t pool), location,
            type, pool)

FORWARD_API(cudaDeviceGraphMemTrim, v11040, cuDeviceGraphMemTrim, (int device), device)
FORWARD_API(cudaDeviceGetGraphMemAttribute, v11040, cuDeviceGetGraphMemAttribute,
            (int device, cudaGraphMemAttributeType attribute, void* value), device, attribute,
            value)
FORWARD_API(cudaDeviceSetGraphMemAttribute, v11040, cuDeviceSetGraphMemAttribute,
            (int device, cudaGraphMemAttributeType attribute, void* value), device, attribute,
            value)

}  // namespace drgpum::emulator::runtime
