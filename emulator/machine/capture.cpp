// SPDX-License-Identifier: Apache-2.0
// Records streams into graphs.

#include <algorithm>

#include "emulator/machine/submit.h"

namespace drgpum::emulator {
namespace {

CUgraphNodeType type_of(const Work& work) {
  if (std::holds_alternative<KernelWork>(work)) return CU_GRAPH_NODE_TYPE_KERNEL;
  if (std::holds_alternative<CopyWork>(work)) return CU_GRAPH_NODE_TYPE_MEMCPY;
  if (std::holds_alternative<SetWork>(work)) return CU_GRAPH_NODE_TYPE_MEMSET;
  if (std::holds_alternative<HostWork>(work)) return CU_GRAPH_NODE_TYPE_HOST;
  if (std::holds_alternative<AllocWork>(work)) return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  if (std::holds_alternative<FreeWork>(work)) return CU_GRAPH_NODE_TYPE_MEM_FREE;
  if (std::holds_alternative<ValueWork>(work)) return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  if (std::holds_alternative<EventRecordWork>(work)) return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  if (std::holds_alternative<EventWaitWork>(work)) return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  if (std::holds_alternative<ChildWork>(work)) return CU_GRAPH_NODE_TYPE_GRAPH;
  return CU_GRAPH_NODE_TYPE_EMPTY;
}

void mark_event(Capture& capture, Stream& stream, Event& event) {
  event.capture = &capture;
  event.capture_id = capture.id;
  capture.events[&event] = capture.tails[&stream];
}

}  // namespace

CUresult capture_work(Section&, Stream& stream, Work work) {
  Capture& capture = *stream.capture;
  if (capture.invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  // Marks are not nodes: they turn into edges.
  if (const auto* record = std::get_if<EventRecordWork>(&work)) {
    mark_event(capture, stream, *record->event);
    return CUDA_SUCCESS;
  }
  if (const auto* wait = std::get_if<EventWaitWork>(&work)) {
    if (wait->event->capture != &capture) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    std::vector<GraphNode*>& tail = capture.tails[&stream];
    for (GraphNode* node : capture.events[wait->event])
      if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
    return CUDA_SUCCESS;
  }
  std::vector<GraphNode*>& tail = capture.tails[&stream];
  GraphNode* node = capture.graph->add(type_of(work), stream.context, std::move(work), tail);
  tail = {node};
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator
