// SPDX-License-Identifier: Apache-2.0
#pragma once
// The C interface of libsanitizer-public.so, as drgpum calls it: result codes and a table of entry
// points, filled by dlsym. Valid for every release from CUDA 11.8 on; which numbers a library
// speaks is found by abi_probe.h. Calls may come from any thread; those that patch (add_patches,
// patch_instructions, patch_module, unpatch_module) must be serialised by the tool.
// Source: NVIDIA's Sanitizer API reference.

#include <cstddef>
#include <cstdint>

#include "proto/base/result.h"
#include "proto/sanitizer/callback_data.h"
#include "proto/sanitizer/callback_ids.h"
#include "proto/sanitizer/patching.h"

namespace drgpum::sanitizer {

enum class Code : std::uint32_t {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidDevice = 2,
  kInvalidContext = 3,
  kInvalidDomainId = 4,
  kInvalidCallbackId = 5,
  kInvalidOperation = 6,
  kOutOfMemory = 7,
  kParameterSizeNotSufficient = 8,
  kApiNotImplemented = 9,
  kMaxLimitReached = 10,  // a second subscriber
  kNotReady = 11,
  kNotCompatible = 12,
  kNotInitialized = 13,  // library and driver do not fit
  kNotSupported = 14,
  kAddressNotInDeviceMemory = 15,
  kUnknown = 999,
};

enum class LoadedStatus : std::uint32_t { kNotLoaded = 0, kPartiallyLoaded = 1, kLoaded = 2 };

using Subscriber = void*;
// `data` is the struct of callback_data.h that belongs to domain and id; it lives for the call.
using Callback = void (*)(void* user, Domain domain, std::uint32_t id, const void* data);

// Entry points of one loaded library; those marked optional may be null.
struct SanitizerApi {
  Code (*subscribe)(Subscriber* subscriber, Callback callback, void* user);
  Code (*unsubscribe)(Subscriber subscriber);
  Code (*get_callback_state)(std::uint32_t* enabled, Subscriber subscriber, Domain domain,
                             std::uint32_t id);
  Code (*enable_callback)(std::uint32_t enable, Subscriber subscriber, Domain domain,
                          std::uint32_t id);
  Code (*enable_domain)(std::uint32_t enable, Subscriber subscriber, Domain domain);
  Code (*get_result_string)(Code code, const char** text);

  Code (*add_patches)(const void* image, Context context);
  Code (*patch_instructions)(Instruction instruction, Module module, const char* device_function);
  Code (*patch_module)(Module module);
  Code (*unpatch_module)(Module module);
  Code (*set_callback_data)(Function kernel, const void* user);
  Code (*set_launch_callback_data)(LaunchHandle launch, Function kernel, StreamHandle stream,
                                   const void* user);
  Code (*set_device_graph_data)(GraphExec exec, StreamHandle stream, const void* user);  // optional
  Code (*get_function_pc_and_size)(Module module, const char* function, std::uint64_t* pc,
                                   std::uint64_t* size);
  Code (*get_callback_pc_and_size)(Context context, const char* device_function, std::uint64_t* pc,
                                   std::uint64_t* size);
  Code (*get_function_loaded_status)(Function function, LoadedStatus* status);  // optional

  Code (*alloc)(Context context, void** pointer, std::size_t size);
  Code (*free)(Context context, void* pointer);
  Code (*alloc_host)(Context context, void** pointer, std::size_t size);
  Code (*free_host)(Context context, void* pointer);
  Code (*memcpy_host_to_device_async)(void* destination, void* source, std::size_t size,
                                      StreamHandle stream);
  // Blocks until the bytes are there.
  Code (*memcpy_device_to_host)(void* destination, void* source, std::size_t size,
                                StreamHandle stream);
  Code (*memset)(void* pointer, int value, std::size_t size, StreamHandle stream);
  Code (*stream_synchronize)(StreamHandle stream);
  Code (*get_stream)(StreamHandle handle, Stream* stream);
  Code (*get_stream_handle)(Context context, Stream stream, StreamHandle* handle);

  Code (*is_inside_recursive_callback)(std::uint32_t* inside);  // optional, after 13.0
};

// Looks every entry point up in a library that dlopen gave. kUnsupported names the first one that
// is missing.
Result<SanitizerApi> resolve_api(void* library);

}  // namespace drgpum::sanitizer
