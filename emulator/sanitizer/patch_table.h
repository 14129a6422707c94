// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tools' images, which modules are patched with what, and the data that their patches get.

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "emulator/machine/observer.h"
#include "emulator/sanitizer/patch_hook.h"
#include "proto/sanitizer/abi.h"

namespace drgpum::emulator::sanitizer {

using drgpum::sanitizer::Code;

// Thread-safe. Handles are the machine's.
class PatchTable {
 public:
  // `native`: drgpum's own patches may run as their twins.
  explicit PatchTable(bool native) : native_(native) {}

  Code add_image(Machine& machine, Handle context, const void* image);
  // The function is looked for among the images of the module's context.
  Code request(Instruction id, Handle module, const char* device_function);
  // What was requested for the module holds for its launches from now on, or no more.
  Code activate(Handle module);
  Code deactivate(Handle module);
  Code set_function_data(Handle function, const void* data);
  Code set_launch_data(Handle launch, const void* data);
  // Code of an image's function.
  Code find(Handle context, const char* device_function, std::uint64_t* pc,
            std::uint64_t* size) const;

  void module_loaded(Handle context, Handle module);
  void module_unloading(Handle module);
  void context_destroyed(Handle context);

  // Around the tool's callbacks about a launch: it may set the launch's data in between.
  void begin_launch(const LaunchEvent& launch);
  // The hook that the launch runs with; null when nothing of its module is patched.
  exec::AccessHook* arm_launch(const LaunchEvent& launch);
  void end_launch(const LaunchEvent& launch);

 private:
  struct ModulePatches {
    Handle context = nullptr;
    PatchSet requested{};
    PatchSet active{};
    bool is_active = false;
  };
  struct Launch {
    std::uint64_t data = 0;
    std::unique_ptr<PatchHook> hook;
  };

  [[nodiscard]] Patch find_patch(Handle context, const char* device_function) const;

  mutable std::mutex mutex_;
  bool native_;
  std::multimap<Handle, const exec::Executable*> images_;  // by context
  std::unordered_map<Handle, ModulePatches> modules_;
  std::unordered_map<Handle, std::uint64_t> function_data_;
  std::unordered_map<Handle, Launch> launches_;
};

// The bytes of a fat binary, an ELF file or PTX text that starts at `image`; empty for others.
std::span<const std::byte> image_bytes(const void* image);

}  // namespace drgpum::emulator::sanitizer
