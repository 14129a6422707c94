// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library's one state: the machine under it, the subscriber and the patches.

#include "emulator/machine/observer.h"
#include "emulator/sanitizer/callback_gate.h"
#include "emulator/sanitizer/patch_table.h"
#include "emulator/sanitizer/reporter.h"

namespace drgpum::emulator::sanitizer {

class LibraryState {
 public:
  // The machine is looked for in libcuda.so.1. Without the emulated driver everything but
  // subscribing and enabling answers kNotInitialized.
  static LibraryState& get();

  explicit LibraryState(Machine* machine);

  Code subscribe(Callback callback, void* user);
  Code unsubscribe();

  [[nodiscard]] Machine* machine() const { return machine_; }
  CallbackGate& gate() { return gate_; }
  PatchTable& patches() { return patches_; }

 private:
  Machine* machine_;
  CallbackGate gate_;
  PatchTable patches_;
  Reporter reporter_;
};

}  // namespace drgpum::emulator::sanitizer
