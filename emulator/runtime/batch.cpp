// SPDX-License-Identifier: Apache-2.0
// Many copies or prefetches in one call.
#include "emulator/runtime/forward.h"

namespace drgpum::emulator::runtime {
namespace {

static_assert(sizeof(cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes));
static_assert(sizeof(cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP));

// A driver that takes no batches gets the copies one by one.
cudaError_t copy_each(void* const* to, const void* const* from, const std::size_t* sizes,
                      std::size_t count, CUstream stream) {
  for (std::size_t i = 0; i < count; ++i)
    RETURN_IF_CUDA_ERROR(CU(cuMemcpyAsync)(reinterpret_cast<CUdeviceptr>(to[i]),
                                           reinterpret_cast<CUdeviceptr>(from[i]), sizes[i],
                                           stream));
  return cudaSuccess;
}

}  // namespace

STREAM_API(cudaMemcpyBatchAsync, v13000, v13000,
           (void* const* to, const void* const* from, const std::size_t* sizes, std::size_t count,
            cudaMemcpyAttributes* attributes, std::size_t* indices, std::size_t attribute_count,
            cudaStream_t stream),
           to, from, sizes, count, attributes, indices, attribute_count, stream) {
  const cudaError_t error =
      forward(CU(cuMemcpyBatchAsync), const_cast<void**>(to),
              const_cast<void**>(const_cast<const void**>(from)), const_cast<std::size_t*>(sizes),
              count, attributes, indices, attribute_count, stream);
  return error == cudaErrorNotSupported ? copy_each(to, from, sizes, count, stream) : error;
}

FORWARD_STREAM_API(cudaMemcpy3DBatchAsync, v13000, v13000, cuMemcpy3DBatchAsync,
                   (std::size_t count, cudaMemcpy3DBatchOp* list, unsigned long long flags,
                    cudaStream_t stream),
                   count, list, flags, stream)
FORWARD_STREAM_API(cudaMemPrefetchBatchAsync, v13000, v13000, cuMemPrefetchBatchAsync,
                   (void** pointers, std::size_t* sizes, std::size_t count,
                    cudaMemLocation* locations, std::size_t* indices, std::size_t location_count,
                    unsigned long long flags, cudaStream_t stream),
                   pointers, sizes, count, locations, indices, location_count, flags, stream)
FORWARD_STREAM_API(cudaMemDiscardBatchAsync, v13000, v13000, cuMemDiscardBatchAsync,
                   (void** pointers, std::size_t* sizes, std::size_t count,
                    unsigned long long flags, cudaStream_t stream),
                   pointers, sizes, count, flags, stream)
FORWARD_STREAM_API(cudaMemDiscardAndPrefetchBatchAsync, v13000, v13000,
                   cuMemDiscardAndPrefetchBatchAsync,
                   (void** pointers, std::size_t* sizes, std::size_t count,
                    cudaMemLocation* locations, std::size_t* indices, std::size_t location_count,
                    unsigned long long flags, cudaStream_t stream),
                   pointers, sizes, count, locations, indices, location_count, flags, stream)

FORWARD_API(cudaMemRangeGetAttributes, v8000, cuMemRangeGetAttributes,
            (void** data, std::size_t* sizes, cudaMemRangeAttribute* attributes, std::size_t count,
             const void* pointer, std::size_t size),
            data, sizes, attributes, count, pointer, size)

}  // namespace drgpum::emulator::runtime
