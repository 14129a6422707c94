// SPDX-License-Identifier: Apache-2.0
// Recording streams into graphs.

#include <algorithm>

#include "emulator/driver/graph_call.h"

namespace drgpum::emulator::driver {
namespace {

CUresult begin(CUstream which, CUstreamCaptureMode mode, CUgraph existing,
               const CUgraphNode* dependencies, std::size_t count) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (call.on->kind == StreamKind::kLegacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (call.on->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  Capture* capture = call.core().captures.make();
  capture->id = call.core().next_id();
  capture->origin = call.on;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  if (existing != nullptr) {
    capture->graph = find_graph(call, existing);
    capture->owns_graph = false;
    std::vector<GraphNode*> tail;
    if (capture->graph == nullptr ||
        read_nodes(*capture->graph, dependencies, count, &tail) != CUDA_SUCCESS) {
      call.core().captures.remove(capture);
      return CUDA_ERROR_INVALID_VALUE;
    }
    capture->tails[call.on] = std::move(tail);
  } else {
    capture->graph = call.core().graphs.make();
    capture->tails[call.on] = {};
  }
  call.on->capture = capture;
  return CUDA_SUCCESS;
}

// Nodes of drawn-in streams that the origin's next node would not depend on.
bool has_loose_ends(const Capture& capture) {
  std::set<const GraphNode*> reached;
  std::vector<const GraphNode*> next;
  const auto origin = capture.tails.find(capture.origin);
  if (origin != capture.tails.end()) next.assign(origin->second.begin(), origin->second.end());
  while (!next.empty()) {
    const GraphNode* node = next.back();
    next.pop_back();
    if (!reached.insert(node).second) continue;
    next.insert(next.end(), node->before.begin(), node->before.end());
  }
  for (const GraphNode* node : capture.abandoned)
    if (reached.count(node) == 0) return true;
  for (const auto& [stream, tail] : capture.tails)
    for (const GraphNode* node : tail)
      if (stream != capture.origin && reached.count(node) == 0) return true;
  return false;
}

void leave(MachineCall& call, Capture& capture) {
  for (const auto& [stream, tail] : capture.tails)
    if (stream->capture == &capture) stream->capture = nullptr;
  capture.origin->capture = nullptr;
  call.core().events.for_each([&](Event& event) {
    if (event.capture == &capture) event.capture = nullptr;
  });
}

CUstreamCaptureStatus status_of(const Stream& stream) {
  if (stream.capture == nullptr) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

}  // namespace

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return begin(stream, mode, nullptr, nullptr, 0);
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData*,
                                     std::size_t count, CUstreamCaptureMode mode) {
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return begin(stream, mode, graph, dependencies, count);
}

CUresult cuStreamEndCapture(CUstream which, CUgraph* result) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  Capture* capture = call.on->capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (capture->origin != call.on) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  CUresult ended = CUDA_SUCCESS;
  if (capture->invalid)
    ended = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  else if (has_loose_ends(*capture))
    ended = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  leave(call, *capture);
  *result = ended == CUDA_SUCCESS ? handle_of_graph(capture->graph) : nullptr;
  if (ended != CUDA_SUCCESS && capture->owns_graph) call.core().graphs.remove(capture->graph);
  call.core().captures.remove(capture);
  return ended;
}

CUresult cuStreamIsCapturing(CUstream which, CUstreamCaptureStatus* status) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = status_of(*call.on);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream which, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   std::size_t* count) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = status_of(*call.on);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  Capture& capture = *call.on->capture;
  std::vector<GraphNode*>& tail = capture.tails[call.on];
  if (id != nullptr) *id = capture.id;
  if (graph != nullptr) *graph = handle_of_graph(capture.graph);
  // The array stays the driver's; it is good until the stream's next call.
  if (dependencies != nullptr) *dependencies = reinterpret_cast<const CUgraphNode*>(tail.data());
  if (count != nullptr) *count = tail.size();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                CUgraph* graph, const CUgraphNode** dependencies,
                                const CUgraphEdgeData** data, std::size_t* count) {
  if (data != nullptr) *data = nullptr;
  return cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

CUresult cuStreamUpdateCaptureDependencies_v1(CUstream which, CUgraphNode* handles,
                                              std::size_t count, unsigned flags) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (call.on->capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  Capture& capture = *call.on->capture;
  std::vector<GraphNode*> nodes;
  const CUresult read = read_nodes(*capture.graph, handles, count, &nodes);
  if (read != CUDA_SUCCESS) return read;
  std::vector<GraphNode*>& tail = capture.tails[call.on];
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) tail.clear();
  for (GraphNode* node : nodes)
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
  return CUDA_SUCCESS;
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* handles,
                                              const CUgraphEdgeData*, std::size_t count,
                                              unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v1(stream, handles, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, current);
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
