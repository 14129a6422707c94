// SPDX-License-Identifier: Apache-2.0
// Streams, their callbacks and their capture.
#include "emulator/runtime/api.h"

namespace drgpum::emulator::runtime {

RUNTIME_API(cudaStreamCreate, v3020, (cudaStream_t * stream), stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamCreate)(stream, CU_STREAM_DEFAULT));
}

RUNTIME_API(cudaStreamCreateWithFlags, v5000, (cudaStream_t * stream, unsigned flags), stream,
            flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamCreate)(stream, flags));
}

RUNTIME_API(cudaStreamCreateWithPriority, v5050,
            (cudaStream_t * stream, unsigned flags, int priority), stream, flags, priority) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamCreateWithPriority)(stream, flags, priority));
}

RUNTIME_API(cudaStreamDestroy, v5050, (cudaStream_t stream), stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamDestroy)(stream));
}

STREAM_API(cudaStreamSynchronize, v3020, v7000, (cudaStream_t stream), stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamSynchronize)(stream));
}

STREAM_API(cudaStreamQuery, v3020, v7000, (cudaStream_t stream), stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamQuery)(stream));
}

STREAM_API(cudaStreamWaitEvent, v3020, v7000,
           (cudaStream_t stream, cudaEvent_t event, unsigned flags), stream, event, flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamWaitEvent)(stream, event, flags));
}

STREAM_API(cudaStreamGetPriority, v5050, v7000, (cudaStream_t stream, int* priority), stream,
           priority) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamGetPriority)(stream, priority));
}

STREAM_API(cudaStreamGetFlags, v5050, v7000, (cudaStream_t stream, unsigned* flags), stream,
           flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamGetFlags)(stream, flags));
}

STREAM_API(cudaStreamGetId, v12000, v12000, (cudaStream_t stream, unsigned long long* id), stream,
           id) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamGetId)(stream, id));
}

STREAM_API(cudaStreamGetDevice, v12080, v12080, (cudaStream_t stream, int* device), stream,
           device) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamGetDevice)(stream, device));
}

STREAM_API(cudaStreamCopyAttributes, v11000, v11000, (cudaStream_t stream, cudaStream_t source),
           stream, source) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamCopyAttributes)(stream, source));
}

// Runtime and driver name stream attributes alike and share the value's layout.
STREAM_API(cudaStreamGetAttribute, v11000, v11000,
           (cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value), stream,
           attribute, value) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamGetAttribute)(stream, static_cast<CUstreamAttrID>(attribute),
                                           reinterpret_cast<CUstreamAttrValue*>(value)));
}

STREAM_API(cudaStreamSetAttribute, v11000, v11000,
           (cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value),
           stream, attribute, value) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamSetAttribute)(stream, static_cast<CUstreamAttrID>(attribute),
                                           reinterpret_cast<const CUstreamAttrValue*>(value)));
}

// The callback's status is an error number, which runtime and driver share.
STREAM_API(cudaStreamAddCallback, v5000, v7000,
           (cudaStream_t stream, cudaStreamCallback_t callback, void* user, unsigned flags), stream,
           callback, user, flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamAddCallback)(
      stream, reinterpret_cast<CUstreamCallback>(reinterpret_cast<void*>(callback)), user, flags));
}

STREAM_API(cudaStreamBeginCapture, v10000, v10000,
           (cudaStream_t stream, cudaStreamCaptureMode mode), stream, mode) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamBeginCapture)(stream, static_cast<CUstreamCaptureMode>(mode)));
}

STREAM_API(cudaStreamEndCapture, v10000, v10000, (cudaStream_t stream, cudaGraph_t* graph), stream,
           graph) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamEndCapture)(stream, graph));
}

STREAM_API(cudaStreamIsCapturing, v10000, v10000,
           (cudaStream_t stream, cudaStreamCaptureStatus* status), stream, status) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(
      CU(cuStreamIsCapturing)(stream, reinterpret_cast<CUstreamCaptureStatus*>(status)));
}

STREAM_API(cudaStreamGetCaptureInfo, v12030, v12030,
           (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
            cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
            const cudaGraphEdgeData** edges, std::size_t* count),
           stream, status, id, graph, dependencies, edges, count) {
  static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamGetCaptureInfo)(
      stream, reinterpret_cast<CUstreamCaptureStatus*>(status), reinterpret_cast<cuuint64_t*>(id),
      graph, dependencies, reinterpret_cast<const CUgraphEdgeData**>(edges), count));
}

STREAM_API(cudaStreamUpdateCaptureDependencies, v12030, v12030,
           (cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
            std::size_t count, unsigned flags),
           stream, dependencies, edges, count, flags) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuStreamUpdateCaptureDependencies)(
      stream, dependencies, reinterpret_cast<const CUgraphEdgeData*>(edges), count, flags));
}

RUNTIME_API(cudaThreadExchangeStreamCaptureMode, v10010, (cudaStreamCaptureMode * mode), mode) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(
      CU(cuThreadExchangeStreamCaptureMode)(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

}  // namespace drgpum::emulator::runtime
