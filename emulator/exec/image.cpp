// SPDX-License-Identifier: Apache-2.0
// Executables and their kernels' images: names, code addresses, shared memory, lazy lowering.

#include "emulator/exec/image.h"

#include <algorithm>

#include "emulator/exec/builder.h"
#include "emulator/ptx/control_flow.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

constexpr std::uint64_t kInstructionBytes = 16;

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
  alignment = std::max(alignment, 1u);
  return (value + alignment - 1) / alignment * alignment;
}

// Programs come from the linker with or without blocks.
std::shared_ptr<const ptx::Program> with_blocks(std::shared_ptr<const ptx::Program> program) {
  const bool complete =
      std::all_of(program->functions.begin(), program->functions.end(), [](const auto& function) {
        return !function.blocks.empty() || function.instructions.empty();
      });
  if (complete) return program;
  auto analyzed = std::make_shared<ptx::Program>(*program);
  for (ptx::Function& function : analyzed->functions)
    if (function.blocks.empty() && !function.instructions.empty())
      ptx::analyze_control_flow(function);
  return analyzed;
}

// 32-bit registers that a type takes; predicates have a file of their own.
std::uint32_t words_of(ptx::Type type) {
  return type == ptx::Type::kPred ? 0 : std::max(ptx::bytes_of(type) / 4, 1u);
}

// The most words that are live at once, going through a block from its end.
std::uint32_t most_live(const ptx::Function& function, const ptx::BasicBlock& block,
                        const std::vector<std::uint64_t>& live_out) {
  std::vector<bool> live(function.registers.size());
  std::uint32_t words = 0;
  const auto set = [&](std::uint32_t r, bool value) {
    if (live[r] == value) return;
    live[r] = value;
    const std::uint32_t size = words_of(function.registers[r].type);
    words += value ? size : 0 - size;
  };
  for (std::uint32_t r = 0; r < live.size(); ++r)
    set(r, ptx::Liveness::has(live_out, r));
  std::uint32_t most = words;
  for (std::uint32_t n = block.end; n-- > block.begin;) {
    const ptx::Instruction& instruction = function.instructions[n];
    if (instruction.guard == ptx::kNoRegister)
      for (const std::uint32_t r : ptx::registers_written(function, instruction))
        set(r, false);
    for (const std::uint32_t r : ptx::registers_read(function, instruction))
      set(r, true);
    most = std::max(most, words);
  }
  return most;
}

// Words live at once plus a few for addresses, within what the function's declared block size lets
// a thread have.
std::uint32_t estimate_registers(const ptx::Function& function) {
  constexpr std::uint32_t kSpare = 6, kFile = 65536;
  std::uint32_t most = 0;
  if (!function.blocks.empty()) {
    const ptx::Liveness liveness = ptx::analyze_liveness(function);
    for (std::size_t b = 0; b < function.blocks.size(); ++b)
      most = std::max(most, most_live(function, function.blocks[b], liveness.live_out[b]));
  }
  const auto& declared =
      function.max_threads[0] != 0 ? function.max_threads : function.required_threads;
  const std::uint32_t threads =
      std::max(declared[0], 1u) * std::max(declared[1], 1u) * std::max(declared[2], 1u);
  // Without a declaration 1024 threads have to fit.
  const std::uint32_t limit = kFile / (declared[0] == 0 ? 1024 : std::max(threads, 256u)) / 8 * 8;
  return std::clamp(most + kSpare, 16u, std::min(limit, 255u));
}

}  // namespace

KernelImage::KernelImage(const ExecutableImpl& executable, std::uint32_t entry)
    : executable_(executable), entry_(entry), lowered_(executable.program().functions.size()) {
  reach();
  for (const std::uint32_t function : reachable_)
    place_shared_variables(executable_.program().functions[function]);
}

void KernelImage::reach() {
  const ptx::Program& program = executable_.program();
  std::vector<bool> seen(program.functions.size(), false);
  reachable_ = {entry_};
  seen[entry_] = true;
  for (std::size_t i = 0; i < reachable_.size(); ++i) {
    const ptx::Function& function = program.functions[reachable_[i]];
    for (const ptx::Symbol& symbol : function.symbols) {
      if (symbol.kind != ptx::SymbolKind::kFunction || seen[symbol.index]) continue;
      seen[symbol.index] = true;
      reachable_.push_back(symbol.index);
    }
  }
}

void KernelImage::place(const ptx::Variable& variable) {
  if (variable.space != ptx::Space::kShared || shared_.contains(&variable)) return;
  if (variable.size == 0) {  // dynamic: after all others
    dynamic_alignment_ = std::max(dynamic_alignment_, variable.alignment);
    return;
  }
  const std::uint32_t offset = align_up(static_shared_, variable.alignment);
  shared_[&variable] = offset;
  static_shared_ = offset + static_cast<std::uint32_t>(variable.size);
}

void KernelImage::place_shared_variables(const ptx::Function& function) {
  for (const ptx::Variable& variable : function.variables)
    place(variable);
  for (const ptx::Symbol& symbol : function.symbols)
    if (symbol.kind == ptx::SymbolKind::kGlobalVariable)
      place(executable_.program().variables[symbol.index]);
}

std::uint32_t KernelImage::shared_offset(const ptx::Variable& variable) const {
  const auto found = shared_.find(&variable);
  return found != shared_.end() ? found->second : dynamic_shared_offset();
}

std::uint32_t KernelImage::dynamic_shared_offset() const {
  return align_up(static_shared_, dynamic_alignment_);
}

const LoweredFunction& KernelImage::function(std::uint32_t index) const {
  const std::scoped_lock lock(mutex_);
  auto& lowered = lowered_[index];
  if (lowered == nullptr) {
    lowered = std::make_unique<LoweredFunction>();
    lowered->image = this;
    Builder(*this, index, *lowered).lower();
  }
  return *lowered;
}

ExecutableImpl::ExecutableImpl(std::shared_ptr<const ptx::Program> program,
                               std::vector<std::uint64_t> variable_addresses, std::uint64_t pc_base)
    : program_(with_blocks(std::move(program))),
      variable_addresses_(std::move(variable_addresses)),
      images_(program_->functions.size()),
      registers_(program_->functions.size(), 0) {
  for (std::uint32_t i = 0; i < program_->functions.size(); ++i) {
    const ptx::Function& function = program_->functions[i];
    pc_bases_.push_back(pc_base);
    // One more than its instructions: every function has an address of its own.
    pc_base += kInstructionBytes * (function.instructions.size() + 1);
    if (function.has_body) names_.try_emplace(function.name, i);
  }
}

std::optional<std::uint32_t> ExecutableImpl::find(std::string_view name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

std::uint64_t ExecutableImpl::pc_base(std::uint32_t function) const {
  return pc_bases_[function];
}

std::optional<std::uint32_t> ExecutableImpl::function_at(std::uint64_t address) const {
  const auto found = std::lower_bound(pc_bases_.begin(), pc_bases_.end(), address);
  if (found == pc_bases_.end() || *found != address) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(found - pc_bases_.begin());
  if (!program_->functions[index].has_body) return std::nullopt;
  return index;
}

const KernelImage& ExecutableImpl::image(std::uint32_t function) const {
  const std::scoped_lock lock(mutex_);
  auto& image = images_[function];
  if (image == nullptr) image = std::make_unique<KernelImage>(*this, function);
  return *image;
}

std::uint32_t ExecutableImpl::static_shared_bytes(std::uint32_t function) const {
  return image(function).static_shared_bytes();
}

std::uint32_t ExecutableImpl::local_bytes(std::uint32_t function) const {
  std::uint64_t bytes = 0;
  for (const ptx::Variable& variable : program_->functions[function].variables)
    if (variable.space == ptx::Space::kLocal) bytes += variable.size;
  return static_cast<std::uint32_t>(bytes);
}

std::uint32_t ExecutableImpl::registers(std::uint32_t function) const {
  const std::scoped_lock lock(mutex_);
  std::uint32_t& known = registers_[function];
  if (known == 0) known = estimate_registers(program_->functions[function]);
  return known;
}

Result<std::unique_ptr<Executable>> make_executable(std::shared_ptr<const ptx::Program> program,
                                                    std::vector<std::uint64_t> variable_addresses,
                                                    std::uint64_t pc_base) {
#ifdef DRGPUM_EXEC_NEEDS_AVX2
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2"))
    return Error{ErrorCode::kUnsupported,
                 "the emulated device was built for processors with AVX2, FMA and BMI2 "
                 "(x86-64-v3), which this one lacks: configure with "
                 "-DDRGPUM_EXEC_ARCHITECTURE=x86-64-v2 and build again"};
#endif
  if (program == nullptr || variable_addresses.size() != program->variables.size())
    return Error{ErrorCode::kInvalidArgument,
                 "make_executable: one address per variable of the program is needed"};
  if (pc_base % kInstructionBytes != 0)
    return Error{ErrorCode::kInvalidArgument, "make_executable: pc_base is no multiple of 16"};
  return std::unique_ptr<Executable>(
      std::make_unique<ExecutableImpl>(std::move(program), std::move(variable_addresses), pc_base));
}

}  // namespace drgpum::emulator::exec
