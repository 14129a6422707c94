// SPDX-License-Identifier: Apache-2.0
#pragma once
// How driver functions begin: with the lock held, and most of them in the thread's context.

#include "emulator/driver/api_declarations.h"
#include "emulator/driver/call_api.h"
#include "emulator/machine/core.h"
#include "emulator/machine/submit.h"

namespace drgpum::emulator::driver {

// A call on the machine as a whole.
class MachineCall : public Section {
 public:
  MachineCall() : Section(MachineCore::instance()) {}

  // nullptr for ordinals that are not there.
  Device* device(CUdevice ordinal);
};

// A call on the thread's current context. `error` tells why it cannot be made: no context, one that
// is gone, or one that an earlier error has ended.
class ContextCall : public MachineCall {
 public:
  ContextCall();

  // Lets virtual time pass for the calling thread, as a call does that gives the device work or
  // asks about it. Calls that only look something up cost nothing.
  void charge();

  // The stream that a handle means here; `error` is set when there is none.
  Stream* stream(CUstream handle);

  Context* context = nullptr;
  CUresult error = CUDA_SUCCESS;
};

// The same, on a stream.
class StreamCall : public ContextCall {
 public:
  explicit StreamCall(CUstream handle) {
    if (error != CUDA_SUCCESS) return;
    charge();
    on = stream(handle);
  }
  CUresult submit(Work work, HostWaits waits = HostWaits::kNo) {
    return emulator::submit(*this, *on, std::move(work), waits);
  }

  Stream* on = nullptr;
};

}  // namespace drgpum::emulator::driver
