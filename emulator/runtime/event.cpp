// SPDX-License-Identifier: Apache-2.0
// Events. Runtime and driver flags have the same values.
#include "emulator/runtime/api.h"

namespace drgpum::emulator::runtime {

RUNTIME_API(cudaEventCreate, v3020, (cudaEvent_t * event), event) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuEventCreate)(event, CU_EVENT_DEFAULT));
}

RUNTIME_API(cudaEventCreateWithFlags, v3020, (cudaEvent_t * event, unsigned flags), event, flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuEventCreate)(event, flags));
}

RUNTIME_API(cudaEventDestroy, v3020, (cudaEvent_t event), event) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuEventDestroy)(event));
}

STREAM_API(cudaEventRecord, v3020, v7000, (cudaEvent_t event, cudaStream_t stream), event, stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuEventRecord)(event, stream));
}

STREAM_API(cudaEventRecordWithFlags, v11010, v11010,
           (cudaEvent_t event, cudaStream_t stream, unsigned flags), event, stream, flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuEventRecordWithFlags)(event, stream, flags));
}

RUNTIME_API(cudaEventQuery, v3020, (cudaEvent_t event), event) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuEventQuery)(event));
}

RUNTIME_API(cudaEventSynchronize, v3020, (cudaEvent_t event), event) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuEventSynchronize)(event));
}

RUNTIME_API(cudaEventElapsedTime, v12080, (float* milliseconds, cudaEvent_t start, cudaEvent_t end),
            milliseconds, start, end) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuEventElapsedTime)(milliseconds, start, end));
}

}  // namespace drgpum::emulator::runtime
