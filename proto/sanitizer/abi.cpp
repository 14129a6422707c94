// SPDX-License-Identifier: Apache-2.0
// Fills the table of entry points.
#include "proto/sanitizer/abi.h"

#include <string>

#include <dlfcn.h>

namespace drgpum::sanitizer {
namespace {

class Resolver {
 public:
  explicit Resolver(void* library) : library_(library) {}

  template <typename F>
  Resolver& required(F*& entry, const char* name) {
    optional(entry, name);
    if (entry == nullptr && missing_ == nullptr) missing_ = name;
    return *this;
  }

  template <typename F>
  Resolver& optional(F*& entry, const char* name) {
    entry = reinterpret_cast<F*>(dlsym(library_, name));
    return *this;
  }

  [[nodiscard]] const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

void resolve_callbacks(Resolver& resolver, SanitizerApi& api) {
  resolver.required(api.subscribe, "sanitizerSubscribe")
      .required(api.unsubscribe, "sanitizerUnsubscribe")
      .required(api.get_callback_state, "sanitizerGetCallbackState")
      .required(api.enable_callback, "sanitizerEnableCallback")
      .required(api.enable_domain, "sanitizerEnableDomain")
      .required(api.get_result_string, "sanitizerGetResultString")
      .optional(api.is_inside_recursive_callback, "sanitizerIsInsideRecursiveCallback");
}

void resolve_patching(Resolver& resolver, SanitizerApi& api) {
  resolver.required(api.add_patches, "sanitizerAddPatches")
      .required(api.patch_instructions, "sanitizerPatchInstructions")
      .required(api.patch_module, "sanitizerPatchModule")
      .required(api.unpatch_module, "sanitizerUnpatchModule")
      .required(api.set_callback_data, "sanitizerSetCallbackData")
      .required(api.set_launch_callback_data, "sanitizerSetLaunchCallbackData")
      .optional(api.set_device_graph_data, "sanitizerSetDeviceGraphData")
      .required(api.get_function_pc_and_size, "sanitizerGetFunctionPcAndSize")
      .required(api.get_callback_pc_and_size, "sanitizerGetCallbackPcAndSize")
      .optional(api.get_function_loaded_status, "sanitizerGetFunctionLoadedStatus");
}

void resolve_memory(Resolver& resolver, SanitizerApi& api) {
  resolver.required(api.alloc, "sanitizerAlloc")
      .required(api.free, "sanitizerFree")
      .required(api.alloc_host, "sanitizerAllocHost")
      .required(api.free_host, "sanitizerFreeHost")
      .required(api.memcpy_host_to_device_async, "sanitizerMemcpyHostToDeviceAsync")
      .required(api.memcpy_device_to_host, "sanitizerMemcpyDeviceToHost")
      .required(api.memset, "sanitizerMemset")
      .required(api.stream_synchronize, "sanitizerStreamSynchronize")
      .required(api.get_stream, "sanitizerGetStream")
      .required(api.get_stream_handle, "sanitizerGetStreamHandle");
}

}  // namespace

Result<SanitizerApi> resolve_api(void* library) {
  SanitizerApi api{};
  Resolver resolver(library);
  resolve_callbacks(resolver, api);
  resolve_patching(resolver, api);
  resolve_memory(resolver, api);
  if (resolver.missing() == nullptr) return api;
  return Error{ErrorCode::kUnsupported, std::string("the Sanitizer library lacks ") +
                                            resolver.missing() +
                                            "; CUDA 11.8 or a later release is needed"};
}

}  // namespace drgpum::sanitizer
