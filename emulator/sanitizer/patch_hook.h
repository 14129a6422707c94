// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one launch of a patched module does at its events: runs the tool's device functions, as the
// PTX they are, or drgpum's own as their native twins.

#include <array>
#include <atomic>
#include <mutex>
#include <optional>

#include "emulator/exec/access_hook.h"
#include "emulator/exec/executor.h"
#include "emulator/sanitizer/native_twin.h"
#include "proto/sanitizer/patching.h"

namespace drgpum::emulator::sanitizer {

using drgpum::sanitizer::Instruction;

// A device function of a tool's image.
struct Patch {
  const exec::Executable* executable = nullptr;  // null: none
  std::uint32_t function = 0;
  Twin twin = Twin::kNone;
};

using PatchSet = std::array<Patch, drgpum::sanitizer::kInstructionCount13_0>;

class PatchHook final : public exec::AccessHook {
 public:
  // `native`: twins may be used. `workers`: how many threads run the launch, 0 if not known.
  PatchHook(const PatchSet& patches, std::uint64_t user_data, bool native, std::uint32_t workers);

  // Before the kernel runs.
  void set_user_data(std::uint64_t user_data) { user_data_ = user_data; }

  void on_access(exec::WarpContext& warp, const exec::WarpAccess& access) override;
  void on_block_enter(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask) override;
  void on_block_exit(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask) override;
  void on_device_malloc(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                        const std::uint64_t* pointers, const std::uint64_t* sizes) override;
  void on_device_free(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                      const std::uint64_t* pointers) override;
  [[nodiscard]] std::uint32_t wanted_spaces() const override;
  [[nodiscard]] bool wants_blocks() const override;
  [[nodiscard]] bool wants_heap() const override;

 private:
  using Lanes = std::array<std::uint64_t, 32>;

  [[nodiscard]] const Patch& patch(Instruction id) const {
    return patches_[static_cast<std::size_t>(id)];
  }
  // Whether the launch has no data and all its patches are such as do nothing then.
  [[nodiscard]] bool is_idle() const;
  // The launch's data for twins; opened at the first event, when the tool's copies have run.
  const TwinData* twin_data(exec::WarpContext& warp, const Patch& patch);
  void open_twin_data(exec::WarpContext& warp);
  template <std::size_t N>
  void run(exec::WarpContext& warp, const Patch& patch, std::uint64_t pc, std::uint32_t mask,
           const std::array<Lanes, N>& rest) const;
  void run_access(exec::WarpContext& warp, const Patch& patch,
                  const exec::WarpAccess& access) const;

  PatchSet patches_;
  std::uint64_t user_data_;
  bool native_;
  bool alone_;  // one thread runs the launch
  std::mutex opening_;
  std::atomic<bool> opened_{false};
  std::optional<TwinData> twin_data_;  // read-only once opened
};

}  // namespace drgpum::emulator::sanitizer
