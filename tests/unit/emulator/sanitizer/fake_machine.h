// SPDX-License-Identifier: Apache-2.0
#pragma once
// A machine that keeps its observer and does nothing else, for tests that tell it events.

#include <vector>

#include "emulator/machine/observer.h"

namespace drgpum::emulator::testing {

inline Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

class FakeMachine : public Machine {
 public:
  Observer* observer = nullptr;
  const exec::Executable* tool_image = nullptr;
  std::size_t tool_image_bytes = 0;

  void add_observer(Observer* added) override { observer = added; }
  void remove_observer(Observer*) override { observer = nullptr; }
  void report_api(const ApiCall&) override {}
  std::uint64_t allocate_device(Handle, std::uint64_t) override { return 0; }
  bool free_device(Handle, std::uint64_t) override { return false; }
  void* allocate_host(Handle, std::uint64_t) override { return nullptr; }
  bool free_host(Handle, void*) override { return false; }
  Status copy_to_device(std::uint64_t, const void*, std::uint64_t, Handle) override { return Ok{}; }
  Status copy_to_host(void*, std::uint64_t, std::uint64_t, Handle) override { return Ok{}; }
  Status set(std::uint64_t, int, std::uint64_t, Handle) override { return Ok{}; }
  Status synchronize(Handle) override { return Ok{}; }
  Handle current_context() override { return handle(0xC0); }
  Handle unique_stream(Handle, Handle stream) override {
    return handle(reinterpret_cast<std::uintptr_t>(stream) + 0x100);
  }
  Handle stream_of(Handle) override { return nullptr; }
  Result<FunctionCode> find_function(Handle, const char*) override { return FunctionCode{}; }
  const exec::Executable* executable_of(Handle) override { return nullptr; }
  Result<const exec::Executable*> load_tool_image(Handle,
                                                  std::span<const std::byte> image) override {
    tool_image_bytes = image.size();
    return tool_image;
  }
};

}  // namespace drgpum::emulator::testing
