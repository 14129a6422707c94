// SPDX-License-Identifier: Apache-2.0
// The C interface. What is not here answers CUPTI_ERROR_NOT_SUPPORTED.
#include <array>
#include <cstdio>
#include <cstdlib>

#include <cupti.h>
#include <dlfcn.h>

#include "emulator/cupti/activity.h"

#define DRGPUM_EXPORT __attribute__((visibility("default")))

namespace drgpum::emulator::cupti {
namespace {

Machine* find_machine() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return nullptr;
  void* symbol = dlsym(driver, "drgpum_emulator_machine");
  return symbol == nullptr ? nullptr : reinterpret_cast<Machine* (*)()>(symbol)();
}

// Made at the first call; it watches the machine from then on.
Activity& activity() {
  static Activity* const instance = [] {
    Machine* machine = find_machine();
    auto* made = new Activity(machine);  // records come until the very end
    if (machine != nullptr) machine->add_observer(made);
    return made;
  }();
  return *instance;
}

thread_local CUptiResult last_error = CUPTI_SUCCESS;

CUptiResult note(CUptiResult result) {
  if (result != CUPTI_SUCCESS) last_error = result;
  return result;
}

// All handles of subscribers are this one.
int subscriber_tag;

bool is_subscriber(CUpti_SubscriberHandle subscriber) {
  return reinterpret_cast<int*>(subscriber) == &subscriber_tag && activity().has_subscriber();
}

// As on hardware, a process has a Sanitizer tool or a CUPTI tool.
bool sanitizer_is_subscribed() {
  void* library = dlopen("libsanitizer-public.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  void* symbol = dlsym(library, "drgpum_emulator_sanitizer_is_subscribed");
  const bool subscribed = symbol != nullptr && reinterpret_cast<bool (*)()>(symbol)();
  dlclose(library);
  return subscribed;
}

CUptiResult subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user) {
  if (subscriber == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (sanitizer_is_subscribed()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  const CUptiResult result = activity().subscribe(callback, user);
  if (result == CUPTI_SUCCESS)
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber_tag);
  return result;
}

constexpr std::array kDomains{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                              CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE};

const char* text_of(CUptiResult result) {
  switch (result) {
    case CUPTI_SUCCESS:
      return "success";
    case CUPTI_ERROR_INVALID_PARAMETER:
      return "a parameter is not valid";
    case CUPTI_ERROR_INVALID_KIND:
      return "no such kind of activity";
    case CUPTI_ERROR_INVALID_OPERATION:
      return "not possible now";
    case CUPTI_ERROR_OUT_OF_MEMORY:
      return "out of memory";
    case CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT:
      return "a buffer is too small for one record";
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
      return "no more records";
    case CUPTI_ERROR_NOT_COMPATIBLE:
      return "the emulated device has no such records";
    case CUPTI_ERROR_QUEUE_EMPTY:
      return "nothing to pop";
    case CUPTI_ERROR_NOT_SUPPORTED:
      return "not supported by the emulated device";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "there is a subscriber already";
    default:
      return "unknown error";
  }
}

}  // namespace

extern "C" {

DRGPUM_EXPORT CUptiResult cuptiGetVersion(std::uint32_t* version) {
  if (version == nullptr) return note(CUPTI_ERROR_INVALID_PARAMETER);
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  if (timestamp == nullptr) return note(CUPTI_ERROR_INVALID_PARAMETER);
  *timestamp = activity().now();
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiGetLastError() {
  return std::exchange(last_error, CUPTI_SUCCESS);
}

DRGPUM_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return note(CUPTI_ERROR_INVALID_PARAMETER);
  *text = text_of(result);
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  return cuptiGetResultString(result, text);
}

DRGPUM_EXPORT CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  if (context == nullptr || id == nullptr) return note(CUPTI_ERROR_INVALID_PARAMETER);
  *id = activity().numbering().context(context);
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* id) {
  if (id == nullptr) return note(CUPTI_ERROR_INVALID_PARAMETER);
  *id = activity().numbering().device_of(context);
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream,
                                             std::uint8_t per_thread, std::uint32_t* id) {
  Machine* machine = find_machine();
  if (machine == nullptr || id == nullptr) return note(CUPTI_ERROR_INVALID_PARAMETER);
  if (stream == nullptr && per_thread != 0) stream = CU_STREAM_PER_THREAD;
  *id = activity().numbering().stream(machine->unique_stream(context, stream));
  return *id == 0 ? note(CUPTI_ERROR_INVALID_STREAM) : CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, std::uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}

DRGPUM_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return note(activity().enable(kind, true));
}

DRGPUM_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return note(activity().enable(kind, false));
}

// Contexts are not told apart.
DRGPUM_EXPORT CUptiResult cuptiActivityEnableContext(CUcontext, CUpti_ActivityKind kind) {
  return note(activity().enable(kind, true));
}

DRGPUM_EXPORT CUptiResult cuptiActivityDisableContext(CUcontext, CUpti_ActivityKind kind) {
  return note(activity().enable(kind, false));
}

DRGPUM_EXPORT CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) return note(CUPTI_ERROR_INVALID_PARAMETER);
  activity().queue().set_callbacks(request, complete);
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  return note(activity().queue().flush());
}

DRGPUM_EXPORT CUptiResult cuptiActivityFlush(CUcontext, std::uint32_t, std::uint32_t) {
  return note(activity().queue().flush());
}

DRGPUM_EXPORT CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                                     CUpti_Activity** record) {
  return note(next_record(buffer, valid_bytes, record));
}

// Nothing is ever dropped.
DRGPUM_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t,
                                                            std::size_t* dropped) {
  if (dropped == nullptr) return note(CUPTI_ERROR_INVALID_PARAMETER);
  *dropped = 0;
  return CUPTI_SUCCESS;
}

// Records lie in memory of the library's own, so there is nothing to set up.
DRGPUM_EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t* size,
                                                    void* value) {
  return size == nullptr || value == nullptr ? note(CUPTI_ERROR_INVALID_PARAMETER) : CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiActivityFlushPeriod(std::uint32_t) {
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                                 std::uint64_t id) {
  activity().push_correlation(kind, id);
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                                std::uint64_t* id) {
  return note(activity().pop_correlation(kind, id));
}

DRGPUM_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                         CUpti_CallbackFunc callback, void* user) {
  return note(subscribe(subscriber, callback, user));
}

DRGPUM_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber,
                                            CUpti_CallbackFunc callback, void* user,
                                            CUpti_SubscriberParams* parameters) {
  const CUptiResult result = subscribe(subscriber, callback, user);
  if (result != CUPTI_SUCCESS && parameters != nullptr && parameters->oldSubscriberName != nullptr)
    std::snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "a tool");
  return note(result);
}

DRGPUM_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  return note(is_subscriber(subscriber) ? activity().unsubscribe() : CUPTI_ERROR_INVALID_PARAMETER);
}

DRGPUM_EXPORT CUptiResult cuptiEnableCallback(std::uint32_t enable,
                                              CUpti_SubscriberHandle subscriber,
                                              CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return note(is_subscriber(subscriber) ? activity().want(domain, id, enable != 0)
                                        : CUPTI_ERROR_INVALID_PARAMETER);
}

DRGPUM_EXPORT CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle subscriber,
                                            CUpti_CallbackDomain domain) {
  return note(is_subscriber(subscriber) ? activity().want(domain, enable != 0)
                                        : CUPTI_ERROR_INVALID_PARAMETER);
}

DRGPUM_EXPORT CUptiResult cuptiEnableAllDomains(std::uint32_t enable,
                                                CUpti_SubscriberHandle subscriber) {
  if (!is_subscriber(subscriber)) return note(CUPTI_ERROR_INVALID_PARAMETER);
  for (const CUpti_CallbackDomain domain : kDomains)
    activity().want(domain, enable != 0);
  return CUPTI_SUCCESS;
}

DRGPUM_EXPORT CUptiResult cuptiGetCallbackState(std::uint32_t* enabled,
                                                CUpti_SubscriberHandle subscriber,
                                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return note(is_subscriber(subscriber) ? activity().is_wanted(domain, id, enabled)
                                        : CUPTI_ERROR_INVALID_PARAMETER);
}

DRGPUM_EXPORT CUptiResult cuptiFinalize() {
  if (activity().has_subscriber()) activity().unsubscribe();
  return CUPTI_SUCCESS;
}

// For the exports that are not served.
int drgpum_cupti_unserved(const char* name) {
  if (std::getenv("DRGPUM_EMULATOR_LOG") != nullptr)
    std::fprintf(stderr, "drgpum: emulated CUPTI: not served: %s\n", name);
  return note(CUPTI_ERROR_NOT_SUPPORTED);
}

}  // extern "C"
}  // namespace drgpum::emulator::cupti
