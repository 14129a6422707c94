// SPDX-License-Identifier: Apache-2.0
// Events, in virtual time.

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {
namespace {

EventEvent about(EventAction action, Event& event, Stream* stream) {
  EventEvent told;
  told.action = action;
  told.context = event.context;
  told.event = &event;
  if (stream != nullptr) told.stream = handle_of(*stream);
  told.unique_stream = stream;
  return told;
}

bool is_finished(MachineCore& core, const Event& event) {
  return core.host_queue.done(event.host_ticket) && event.time_ns <= core.clock.now();
}

}  // namespace

CUresult cuEventCreate(CUevent* result, unsigned flags) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  constexpr unsigned kKnown =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (result == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_EVENT_INTERPROCESS) != 0) return unsupported("an event to share with processes");
  Event* event = call.core().events.make();
  event->context = call.context;
  event->flags = flags;
  *result = reinterpret_cast<CUevent>(event);
  call.tell(
      [told = about(EventAction::kCreated, *event, nullptr)](Observer& o) { o.on_event(told); });
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent which) {
  ContextCall call;
  if (call.context == nullptr) return call.error;
  Event* event = call.core().events.get(which);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  call.tell_now(
      [told = about(EventAction::kDestroyed, *event, nullptr)](Observer& o) { o.on_event(told); });
  call.core().events.remove(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent which, CUstream stream, unsigned flags) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  Event* event = call.core().events.get(which);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->context != call.on->context) return CUDA_ERROR_INVALID_HANDLE;
  if (call.on->capture != nullptr && (flags & CU_EVENT_RECORD_EXTERNAL) != 0) {
    Capture& capture = *call.on->capture;
    std::vector<GraphNode*>& tail = capture.tails[call.on];
    tail = {capture.graph->add(CU_GRAPH_NODE_TYPE_EVENT_RECORD, call.context,
                               EventRecordWork{event}, tail)};
    return CUDA_SUCCESS;
  }
  if (call.on->capture == nullptr)
    call.tell_now(
        [told = about(EventAction::kRecord, *event, call.on)](Observer& o) { o.on_event(told); });
  return call.submit(EventRecordWork{event});
}

CUresult cuEventRecord(CUevent which, CUstream stream) {
  return driver::cuEventRecordWithFlags(which, stream, 0);
}

CUresult cuEventQuery(CUevent which) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  call.charge();
  const Event* event = call.core().events.get(which);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
  return !event->recorded || is_finished(call.core(), *event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent which) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  call.charge();
  Event* event = call.core().events.get(which);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
  const EventEvent told = about(EventAction::kSynchronize, *event, nullptr);
  call.await(event->host_ticket);
  event = call.core().events.get(which);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->recorded) call.core().clock.wait_until(event->time_ns);
  flush_printed(*call.context);
  call.tell([told](Observer& o) { o.on_event(told); });
  return call.context->sticky;
}

CUresult cuEventElapsedTime_v1(float* milliseconds, CUevent from, CUevent to) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Event* begin = call.core().events.get(from);
  const Event* end = call.core().events.get(to);
  if (begin == nullptr || end == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!begin->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_finished(call.core(), *begin) || !is_finished(call.core(), *end))
    return CUDA_ERROR_NOT_READY;
  const auto ns = static_cast<double>(static_cast<std::int64_t>(end->time_ns - begin->time_ns));
  *milliseconds = static_cast<float>(ns / 1e6);
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent from, CUevent to) {
  return cuEventElapsedTime_v1(milliseconds, from, to);
}

}  // namespace drgpum::emulator::driver
