// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turns what the machine tells into callbacks of the Sanitizer interface.

#include <atomic>

#include "emulator/machine/observer.h"
#include "emulator/sanitizer/callback_gate.h"
#include "emulator/sanitizer/patch_table.h"

namespace drgpum::emulator::sanitizer {

class Reporter final : public Observer {
 public:
  // `machine` may be null: nothing is told then.
  Reporter(Machine* machine, CallbackGate& gate, PatchTable& patches)
      : machine_(machine), gate_(gate), patches_(patches) {}

  // CUDA calls in the Sanitizer library's callbacks may hang, says its reference manual.
  [[nodiscard]] bool forbids_calls() const override { return true; }
  void on_api(const ApiCall& call) override;
  void on_context(const ContextEvent& event) override;
  void on_stream(const StreamEvent& event) override;
  void on_module(const ModuleEvent& event) override;
  void on_memory(const MemoryEvent& event) override;
  void on_pool(const PoolEvent& event) override;
  void on_array(const ArrayEvent& event) override;
  void on_synchronize(const SynchronizeEvent& event) override;
  void on_launch(const LaunchEvent& event) override;
  void on_copy(const CopyEvent& event) override;
  void on_set(const SetEvent& event) override;
  void on_event(const EventEvent& event) override;
  void on_graph(const GraphEvent& event) override;
  void on_managed_attach(Handle context, Handle stream, std::uint64_t address,
                         std::uint64_t size) override;

 private:
  void fire_node(const GraphEvent& event);

  Machine* machine_;
  std::atomic<bool> initialized_{false};
  CallbackGate& gate_;
  PatchTable& patches_;
};

}  // namespace drgpum::emulator::sanitizer
