// SPDX-License-Identifier: Apache-2.0
// Streams, and host functions in them.

#include <algorithm>
#include <cstring>

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {
namespace {

constexpr int kHighestPriority = -5;

void tell_stream(Section& section, Stream& stream, bool creation) {
  StreamEvent event;
  event.creation = creation;
  event.context = stream.context;
  event.stream = handle_of(stream);
  event.unique = &stream;
  section.tell_now([&](Observer& o) { o.on_stream(event); });
}

SynchronizeEvent synchronized(Stream& stream) {
  SynchronizeEvent event;
  event.context = stream.context;
  event.stream = handle_of(stream);
  event.unique_stream = &stream;
  return event;
}

}  // namespace

CUresult cuStreamCreateWithPriority(CUstream* result, unsigned flags, int priority) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (result == nullptr || (flags & ~1u) != 0) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = call.core().streams.make();
  stream->context = call.context;
  stream->flags = flags;
  stream->priority = std::clamp(priority, kHighestPriority, 0);
  stream->id = call.core().next_id();
  call.context->streams.insert(stream);
  *result = reinterpret_cast<CUstream>(stream);
  tell_stream(call, *stream, true);
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* result, unsigned flags) {
  return driver::cuStreamCreateWithPriority(result, flags, 0);
}

CUresult cuStreamDestroy(CUstream which) {
  ContextCall call;
  if (call.context == nullptr) return call.error;
  Stream* stream = call.core().streams.get(which);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  tell_stream(call, *stream, false);
  if (Capture* capture = stream->capture; capture != nullptr) {
    // What it recorded still has to be joined to the stream whose capture it is.
    auto& left = capture->abandoned;
    left.insert(left.end(), capture->tails[stream].begin(), capture->tails[stream].end());
    capture->tails.erase(stream);
    if (capture->origin == stream) {
      for (const auto& [other, tail] : capture->tails)
        other->capture = nullptr;
      if (capture->owns_graph) call.core().graphs.remove(capture->graph);
      call.core().captures.remove(capture);
    }
  }
  stream->context->streams.erase(stream);
  call.core().streams.remove(stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream which, int* priority) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *priority = call.on->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream which, unsigned* flags) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = call.on->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream which, unsigned long long* id) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *id = call.on->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream which, CUdevice* device) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = call.on->context->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream which, CUcontext* context) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = reinterpret_cast<CUcontext>(call.on->context);
  return CUDA_SUCCESS;
}

// Not ready while the host's virtual time is before the end of the stream's work: each query costs
// the host some, so that a program which polls gets there.
CUresult cuStreamQuery(CUstream which) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (call.on->capture != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  Context& context = *call.on->context;
  if (!call.core().host_queue.done(context.awaited_ticket(*call.on))) return CUDA_ERROR_NOT_READY;
  if (context.earliest(*call.on, 0) > call.core().clock.now()) return CUDA_ERROR_NOT_READY;
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream which) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (call.on->capture != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  synchronize_stream(call, *call.on);
  call.tell([event = synchronized(*call.on)](Observer& o) { o.on_synchronize(event); });
  return call.context->sticky;
}

CUresult cuStreamWaitEvent(CUstream which, CUevent what, unsigned) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  Event* event = call.core().events.get(what);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  // Waiting for an event of a capture draws the stream into it.
  if (event->capture != nullptr && call.on->capture == nullptr) {
    Capture* capture = call.core().captures.get(event->capture);
    if (capture == nullptr || capture->id != event->capture_id) return CUDA_ERROR_INVALID_VALUE;
    call.on->capture = capture;
  }
  EventEvent told{EventAction::kStreamWait, call.on->context, event, handle_of(*call.on), call.on};
  if (call.on->capture == nullptr) call.tell_now([&](Observer& o) { o.on_event(told); });
  return call.submit(EventWaitWork{event});
}

CUresult cuLaunchHostFunc(CUstream which, CUhostFn function, void* data) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return call.submit(HostWork{function, data});
}

namespace {

struct Callback {
  CUstream stream;
  CUstreamCallback function;
  void* data;
};

void run_callback(void* from) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(from));
  callback->function(callback->stream, CUDA_SUCCESS, callback->data);
}

}  // namespace

CUresult cuStreamAddCallback(CUstream which, CUstreamCallback function, void* data,
                             unsigned flags) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (function == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (call.on->capture != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  auto callback = std::make_unique<Callback>(Callback{which, function, data});
  return call.submit(HostWork{run_callback, callback.release()});
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Stream* target = call.stream(to);
  const Stream* source = call.stream(from);
  if (call.error != CUDA_SUCCESS) return call.error;
  target->attributes = source->attributes;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream which, CUstreamAttrID id, CUstreamAttrValue* value) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto it = call.on->attributes.find(id);
  std::memset(value, 0, sizeof *value);
  if (it != call.on->attributes.end()) *value = it->second;
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = call.on->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamSetAttribute(CUstream which, CUstreamAttrID id, const CUstreamAttrValue* value) {
  const StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  call.on->attributes[id] = *value;
  return CUDA_SUCCESS;
}

namespace {

CUresult write_value(CUstream which, CUdeviceptr address, std::uint64_t value,
                     std::uint32_t bytes) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  return call.submit(ValueWork{address, value, bytes});
}

// Work runs when it is issued: what a wait is for has either happened or never will.
CUresult wait_value(CUstream which, CUdeviceptr address, std::uint64_t value, std::uint32_t bytes,
                    unsigned flags) {
  StreamCall call(which);
  if (call.error != CUDA_SUCCESS) return call.error;
  const auto view = call.core().memory->host_view(address, bytes);
  if (view.size() != bytes) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t seen = 0;
  std::memcpy(&seen, view.data(), bytes);
  const auto distance = bytes == 4 ? static_cast<std::int32_t>(seen - value)
                                   : static_cast<std::int64_t>(seen - value);
  bool met = false;
  switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      met = distance >= 0;
      break;
    case CU_STREAM_WAIT_VALUE_EQ:
      met = seen == value;
      break;
    case CU_STREAM_WAIT_VALUE_AND:
      met = (seen & value) != 0;
      break;
    default:
      met = ~(seen | value) != 0;
      break;
  }
  return met ? CUDA_SUCCESS : unsupported("a stream's wait for a value that is written later");
}

}  // namespace

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  return write_value(stream, address, value, 4);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned) {
  return write_value(stream, address, value, 8);
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned flags) {
  return wait_value(stream, address, value, 4, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned flags) {
  return wait_value(stream, address, value, 8, flags);
}

}  // namespace drgpum::emulator::driver
