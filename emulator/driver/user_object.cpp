// SPDX-License-Identifier: Apache-2.0
// Objects of the program's that graphs keep alive.

#include "emulator/driver/graph_call.h"

namespace drgpum::emulator::driver {
namespace {

CUresult drop(MachineCall& call, UserObject& object, unsigned count) {
  if (count == 0 || count > object.references) return CUDA_ERROR_INVALID_VALUE;
  object.references -= count;
  if (object.references != 0) return CUDA_SUCCESS;
  call.core().host_queue.post(
      [destroy = object.destroy, pointer = object.pointer] { destroy(pointer); });
  call.core().user_objects.remove(&object);
  return CUDA_SUCCESS;
}

}  // namespace

void release_held(MachineCall& call, Graph& graph) {
  for (const auto& [object, count] : graph.held)
    drop(call, *object, count);
  graph.held.clear();
  for (const auto& child : graph.children)
    release_held(call, *child);
}

CUresult cuUserObjectCreate(CUuserObject* result, void* pointer, CUhostFn destroy,
                            unsigned references, unsigned flags) {
  MachineCall call;
  if (result == nullptr || destroy == nullptr || references == 0 ||
      flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  UserObject* object = call.core().user_objects.make();
  *object = {pointer, destroy, references};
  *result = reinterpret_cast<CUuserObject>(object);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject which, unsigned count) {
  MachineCall call;
  UserObject* object = call.core().user_objects.get(which);
  if (object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  object->references += count;
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject which, unsigned count) {
  MachineCall call;
  UserObject* object = call.core().user_objects.get(which);
  return object != nullptr ? drop(call, *object, count) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphRetainUserObject(CUgraph which, CUuserObject what, unsigned count, unsigned flags) {
  MachineCall call;
  Graph* graph = find_graph(call, which);
  UserObject* object = call.core().user_objects.get(what);
  if (graph == nullptr || object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) object->references += count;
  graph->held[object] += count;
  return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph which, CUuserObject what, unsigned count) {
  MachineCall call;
  Graph* graph = find_graph(call, which);
  UserObject* object = call.core().user_objects.get(what);
  if (graph == nullptr || object == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto held = graph->held.find(object);
  if (held == graph->held.end() || held->second < count) return CUDA_ERROR_INVALID_VALUE;
  if ((held->second -= count) == 0) graph->held.erase(held);
  return drop(call, *object, count);
}

}  // namespace drgpum::emulator::driver
