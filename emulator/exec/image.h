// SPDX-License-Identifier: Apache-2.0
#pragma once
// A kernel bound for launching: where its shared variables lie, and its functions, lowered when
// they are first called.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/exec/executor.h"
#include "emulator/exec/lowered.h"

namespace drgpum::emulator::exec {

class ExecutableImpl;

// Shared variables are laid out per kernel: those of all functions it can reach.
class KernelImage {
 public:
  KernelImage(const ExecutableImpl& executable, std::uint32_t entry);

  [[nodiscard]] const ExecutableImpl& executable() const { return executable_; }
  [[nodiscard]] std::uint32_t entry() const { return entry_; }
  [[nodiscard]] std::uint32_t static_shared_bytes() const { return static_shared_; }
  // Where extern shared arrays start.
  [[nodiscard]] std::uint32_t dynamic_shared_offset() const;
  [[nodiscard]] const LoweredFunction& function(std::uint32_t index) const;
  // Offset in the block's shared memory; extern arrays start after the static ones.
  [[nodiscard]] std::uint32_t shared_offset(const ptx::Variable& variable) const;

 private:
  void place_shared_variables(const ptx::Function& function);
  void place(const ptx::Variable& variable);
  void reach();

  const ExecutableImpl& executable_;
  std::uint32_t entry_;
  std::uint32_t static_shared_ = 0;
  std::uint32_t dynamic_alignment_ = 16;
  std::map<const ptx::Variable*, std::uint32_t> shared_;
  std::vector<std::uint32_t> reachable_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<LoweredFunction>> lowered_;
};

class ExecutableImpl final : public Executable {
 public:
  ExecutableImpl(std::shared_ptr<const ptx::Program> program,
                 std::vector<std::uint64_t> variable_addresses, std::uint64_t pc_base);

  [[nodiscard]] const ptx::Program& program() const override { return *program_; }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const override;
  [[nodiscard]] std::uint64_t pc_base(std::uint32_t function) const override;
  [[nodiscard]] std::uint32_t static_shared_bytes(std::uint32_t function) const override;
  [[nodiscard]] std::uint32_t local_bytes(std::uint32_t function) const override;
  [[nodiscard]] std::uint32_t registers(std::uint32_t function) const override;

  [[nodiscard]] std::uint64_t variable_address(std::uint32_t variable) const {
    return variable_addresses_[variable];
  }
  // The function whose code starts at `address`, if one does.
  [[nodiscard]] std::optional<std::uint32_t> function_at(std::uint64_t address) const;
  [[nodiscard]] const KernelImage& image(std::uint32_t function) const;

 private:
  std::shared_ptr<const ptx::Program> program_;
  std::vector<std::uint64_t> variable_addresses_;
  std::vector<std::uint64_t> pc_bases_;
  std::map<std::string, std::uint32_t, std::less<>> names_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<KernelImage>> images_;
  mutable std::vector<std::uint32_t> registers_;  // estimates; 0: not made yet
};

}  // namespace drgpum::emulator::exec
