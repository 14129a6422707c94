// SPDX-License-Identifier: Apache-2.0
// Finds the context and the stream of a call.

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {

Device* MachineCall::device(CUdevice ordinal) {
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= core().devices.size()) return nullptr;
  return &core().devices[static_cast<std::size_t>(ordinal)];
}

ContextCall::ContextCall() {
  Context* current = core().context_of_thread();
  context = core().contexts.get(current);
  if (current == nullptr)
    error = CUDA_ERROR_INVALID_CONTEXT;
  else
    error = context == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED : context->sticky;
}

void ContextCall::charge() {
  const double cost = context->device->preset.cost.host_call_ns;
  core().clock.advance(static_cast<std::uint64_t>(cost));
}

Stream* ContextCall::stream(CUstream handle) {
  Stream* found = core().resolve_stream(*context, handle, per_thread_default());
  if (found == nullptr) error = CUDA_ERROR_INVALID_HANDLE;
  return found;
}

}  // namespace drgpum::emulator::driver
