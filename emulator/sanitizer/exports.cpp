// SPDX-License-Identifier: Apache-2.0
// The C interface. Types and numbers are those of proto/sanitizer/abi.h.
#include <cstring>

#include "emulator/sanitizer/library.h"

#define DRGPUM_EXPORT __attribute__((visibility("default")))

namespace drgpum::emulator::sanitizer {
namespace {

namespace abi = drgpum::sanitizer;

// All handles of subscribers are this one.
int subscriber_tag;

bool is_subscriber(abi::Subscriber subscriber) {
  return subscriber == &subscriber_tag && LibraryState::get().gate().has_subscriber();
}

Code code_of(const Status& status) {
  return status ? Code::kSuccess : Code::kInvalidParameter;
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// Calls `act` with the machine; kNotInitialized without one.
template <typename Act>
Code with_machine(Act act) {
  Machine* machine = LibraryState::get().machine();
  return machine == nullptr ? Code::kNotInitialized : act(*machine);
}

Handle context_or_current(Machine& machine, abi::Context context) {
  return context != nullptr ? context : machine.current_context();
}

const char* text_of(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "success";
    case Code::kInvalidParameter:
      return "a parameter is not valid";
    case Code::kInvalidDevice:
      return "no such device";
    case Code::kInvalidContext:
      return "no such context";
    case Code::kInvalidDomainId:
      return "no such callback domain";
    case Code::kInvalidCallbackId:
      return "no such callback";
    case Code::kInvalidOperation:
      return "not possible now";
    case Code::kOutOfMemory:
      return "out of memory";
    case Code::kParameterSizeNotSufficient:
      return "a buffer is too small";
    case Code::kApiNotImplemented:
      return "not implemented";
    case Code::kMaxLimitReached:
      return "there is a subscriber already";
    case Code::kNotReady:
      return "not ready";
    case Code::kNotCompatible:
      return "not compatible";
    case Code::kNotInitialized:
      return "there is no emulated driver in this process";
    case Code::kNotSupported:
      return "not supported by the emulated device";
    case Code::kAddressNotInDeviceMemory:
      return "the address is not in device memory";
    case Code::kUnknown:
      return "unknown error";
  }
  return nullptr;
}

}  // namespace

extern "C" {

DRGPUM_EXPORT Code sanitizerSubscribe(abi::Subscriber* subscriber, abi::Callback callback,
                                      void* user) {
  if (subscriber == nullptr) return Code::kInvalidParameter;
  const Code code = LibraryState::get().subscribe(callback, user);
  if (code == Code::kSuccess) *subscriber = &subscriber_tag;
  return code;
}

DRGPUM_EXPORT Code sanitizerUnsubscribe(abi::Subscriber subscriber) {
  return is_subscriber(subscriber) ? LibraryState::get().unsubscribe() : Code::kInvalidParameter;
}

DRGPUM_EXPORT Code sanitizerGetCallbackState(std::uint32_t* enabled, abi::Subscriber subscriber,
                                             Domain domain, std::uint32_t id) {
  if (!is_subscriber(subscriber)) return Code::kInvalidParameter;
  return LibraryState::get().gate().get(domain, id, enabled);
}

DRGPUM_EXPORT Code sanitizerEnableCallback(std::uint32_t enable, abi::Subscriber subscriber,
                                           Domain domain, std::uint32_t id) {
  if (!is_subscriber(subscriber)) return Code::kInvalidParameter;
  return LibraryState::get().gate().set(domain, id, enable != 0);
}

DRGPUM_EXPORT Code sanitizerEnableDomain(std::uint32_t enable, abi::Subscriber subscriber,
                                         Domain domain) {
  if (!is_subscriber(subscriber)) return Code::kInvalidParameter;
  return LibraryState::get().gate().set_domain(domain, enable != 0);
}

DRGPUM_EXPORT Code sanitizerEnableAllDomains(std::uint32_t enable, abi::Subscriber subscriber) {
  if (!is_subscriber(subscriber)) return Code::kInvalidParameter;
  LibraryState::get().gate().set_all(enable != 0);
  return Code::kSuccess;
}

DRGPUM_EXPORT Code sanitizerGetResultString(Code code, const char** text) {
  if (text == nullptr) return Code::kInvalidParameter;
  *text = text_of(code);
  return *text == nullptr ? Code::kInvalidParameter : Code::kSuccess;
}

DRGPUM_EXPORT Code sanitizerAddPatches(const void* image, abi::Context context) {
  return with_machine([&](Machine& machine) {
    return LibraryState::get().patches().add_image(machine, context_or_current(machine, context),
                                                   image);
  });
}

DRGPUM_EXPORT Code sanitizerPatchInstructions(abi::Instruction instruction, abi::Module module,
                                              const char* device_function) {
  return LibraryState::get().patches().request(instruction, module, device_function);
}

DRGPUM_EXPORT Code sanitizerPatchModule(abi::Module module) {
  return LibraryState::get().patches().activate(module);
}

DRGPUM_EXPORT Code sanitizerUnpatchModule(abi::Module module) {
  return LibraryState::get().patches().deactivate(module);
}

DRGPUM_EXPORT Code sanitizerSetCallbackData(abi::Function kernel, const void* user) {
  return LibraryState::get().patches().set_function_data(kernel, user);
}

DRGPUM_EXPORT Code sanitizerSetLaunchCallbackData(abi::LaunchHandle launch, abi::Function,
                                                  abi::StreamHandle, const void* user) {
  return LibraryState::get().patches().set_launch_data(launch, user);
}

// Kernels cannot launch graphs here, so the data would never be asked for.
DRGPUM_EXPORT Code sanitizerSetDeviceGraphData(abi::GraphExec, abi::StreamHandle, const void*) {
  return Code::kNotSupported;
}

DRGPUM_EXPORT Code sanitizerGetFunctionPcAndSize(abi::Module module, const char* function,
                                                 std::uint64_t* pc, std::uint64_t* size) {
  if (function == nullptr || pc == nullptr || size == nullptr) return Code::kInvalidParameter;
  return with_machine([&](Machine& machine) {
    const auto code = machine.find_function(module, function);
    if (!code) return Code::kInvalidParameter;
    *pc = code->pc;
    *size = code->size;
    return Code::kSuccess;
  });
}

DRGPUM_EXPORT Code sanitizerGetCallbackPcAndSize(abi::Context context, const char* device_function,
                                                 std::uint64_t* pc, std::uint64_t* size) {
  if (device_function == nullptr || pc == nullptr || size == nullptr)
    return Code::kInvalidParameter;
  return LibraryState::get().patches().find(context, device_function, pc, size);
}

// The emulated driver loads whole modules.
DRGPUM_EXPORT Code sanitizerGetFunctionLoadedStatus(abi::Function function,
                                                    abi::LoadedStatus* status) {
  if (function == nullptr || status == nullptr) return Code::kInvalidParameter;
  *status = abi::LoadedStatus::kLoaded;
  return Code::kSuccess;
}

DRGPUM_EXPORT Code sanitizerAlloc(abi::Context context, void** pointer, std::size_t size) {
  if (pointer == nullptr) return Code::kInvalidParameter;
  return with_machine([&](Machine& machine) {
    const std::uint64_t address =
        machine.allocate_device(context_or_current(machine, context), size);
    *pointer = reinterpret_cast<void*>(address);
    return address == 0 ? Code::kOutOfMemory : Code::kSuccess;
  });
}

DRGPUM_EXPORT Code sanitizerFree(abi::Context context, void* pointer) {
  return with_machine([&](Machine& machine) {
    return machine.free_device(context_or_current(machine, context), address_of(pointer))
               ? Code::kSuccess
               : Code::kInvalidParameter;
  });
}

DRGPUM_EXPORT Code sanitizerAllocHost(abi::Context context, void** pointer, std::size_t size) {
  if (pointer == nullptr) return Code::kInvalidParameter;
  return with_machine([&](Machine& machine) {
    *pointer = machine.allocate_host(context_or_current(machine, context), size);
    return *pointer == nullptr ? Code::kOutOfMemory : Code::kSuccess;
  });
}

DRGPUM_EXPORT Code sanitizerFreeHost(abi::Context context, void* pointer) {
  return with_machine([&](Machine& machine) {
    return machine.free_host(context_or_current(machine, context), pointer)
               ? Code::kSuccess
               : Code::kInvalidParameter;
  });
}

DRGPUM_EXPORT Code sanitizerMemcpyHostToDeviceAsync(void* destination, void* source,
                                                    std::size_t size, abi::StreamHandle stream) {
  return with_machine([&](Machine& machine) {
    return code_of(machine.copy_to_device(address_of(destination), source, size, stream));
  });
}

DRGPUM_EXPORT Code sanitizerMemcpyDeviceToHost(void* destination, void* source, std::size_t size,
                                               abi::StreamHandle stream) {
  return with_machine([&](Machine& machine) {
    return code_of(machine.copy_to_host(destination, address_of(source), size, stream));
  });
}

DRGPUM_EXPORT Code sanitizerMemset(void* pointer, int value, std::size_t size,
                                   abi::StreamHandle stream) {
  return with_machine([&](Machine& machine) {
    return code_of(machine.set(address_of(pointer), value, size, stream));
  });
}

DRGPUM_EXPORT Code sanitizerStreamSynchronize(abi::StreamHandle stream) {
  return with_machine([&](Machine& machine) { return code_of(machine.synchronize(stream)); });
}

DRGPUM_EXPORT Code sanitizerGetStream(abi::StreamHandle handle, abi::Stream* stream) {
  if (stream == nullptr) return Code::kInvalidParameter;
  return with_machine([&](Machine& machine) {
    *stream = machine.stream_of(handle);
    return Code::kSuccess;
  });
}

DRGPUM_EXPORT Code sanitizerGetStreamHandle(abi::Context context, abi::Stream stream,
                                            abi::StreamHandle* handle) {
  if (handle == nullptr) return Code::kInvalidParameter;
  return with_machine([&](Machine& machine) {
    *handle = machine.unique_stream(context_or_current(machine, context), stream);
    return *handle == nullptr ? Code::kInvalidParameter : Code::kSuccess;
  });
}

// Not NVIDIA's: asked by the CUPTI stand-in, which does not work beside a Sanitizer tool.
DRGPUM_EXPORT bool drgpum_emulator_sanitizer_is_subscribed() {
  return LibraryState::get().gate().has_subscriber();
}

}  // extern "C"
}  // namespace drgpum::emulator::sanitizer
