// SPDX-License-Identifier: Apache-2.0
// Arguments of patches, lane by lane.
#include "emulator/sanitizer/patch_hook.h"

#include <algorithm>
#include <cstdio>

namespace drgpum::emulator::sanitizer {
namespace {

using Lanes = std::array<std::uint64_t, 32>;

Lanes same(std::uint64_t value) {
  Lanes lanes;
  lanes.fill(value);
  return lanes;
}

Lanes copy_of(const std::uint64_t* values) {
  Lanes lanes;
  std::copy_n(values, lanes.size(), lanes.begin());
  return lanes;
}

// The interface knows no bit for atomics: they read and write.
std::uint32_t flags_of(const exec::WarpAccess& access) {
  return access.flags & (exec::kRead | exec::kWrite | exec::kPrefetch);
}

Instruction id_of(const exec::WarpAccess& access) {
  if (access.kind == exec::AccessKind::kAsyncCopy) return Instruction::kAsyncCopy;
  if (access.space == ptx::Space::kShared) return Instruction::kSharedAccess;
  if (access.space == ptx::Space::kLocal) return Instruction::kLocalAccess;
  return Instruction::kGlobalAccess;
}

std::uint32_t bit(ptx::Space space) {
  return 1u << static_cast<unsigned>(space);
}

// The executor has no way to end a warp from here, so a patch's wish to do so is only told, once.
void note_exit_request() {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    std::fputs("drgpum: a patch asked to end its warp; the emulated device goes on\n", stderr);
}

}  // namespace

PatchHook::PatchHook(const PatchSet& patches, std::uint64_t user_data, bool native,
                     std::uint32_t workers)
    : patches_(patches), user_data_(user_data), native_(native), alone_(workers == 1) {}

const TwinData* PatchHook::twin_data(exec::WarpContext& warp, const Patch& patch) {
  if (!native_ || patch.twin == Twin::kNone || user_data_ == 0) return nullptr;
  if (!opened_.load(std::memory_order_acquire)) open_twin_data(warp);
  return twin_data_ ? &*twin_data_ : nullptr;
}

void PatchHook::open_twin_data(exec::WarpContext& warp) {
  const std::lock_guard lock(opening_);
  if (opened_.load(std::memory_order_relaxed)) return;
  twin_data_ = TwinData::open(exec::memory_of(warp), user_data_, alone_);
  opened_.store(true, std::memory_order_release);
}

template <std::size_t N>
void PatchHook::run(exec::WarpContext& warp, const Patch& patch, std::uint64_t pc,
                    std::uint32_t mask, const std::array<Lanes, N>& rest) const {
  std::array<Lanes, N + 2> arguments;
  arguments[0] = same(user_data_);
  arguments[1] = same(pc);
  std::ranges::copy(rest, arguments.begin() + 2);
  // Tools may leave trailing parameters out.
  const auto& function = patch.executable->program().functions[patch.function];
  const std::size_t count = std::min(arguments.size(), function.parameters.size());
  const auto results = exec::call_device_function(warp, *patch.executable, patch.function, mask,
                                                  std::span(arguments).first(count));
  for (unsigned lane = 0; lane < results.size(); ++lane)
    if ((mask >> lane & 1) != 0 && results[lane] != 0) note_exit_request();
}

void PatchHook::run_access(exec::WarpContext& warp, const Patch& patch,
                           const exec::WarpAccess& access) const {
  if (access.kind == exec::AccessKind::kAsyncCopy)
    return run<3>(
        warp, patch, access.pc, access.mask,
        {copy_of(access.addresses), copy_of(access.shared_destinations), same(access.size)});
  constexpr std::uint64_t kNoValue = 0;  // the value written is not told
  run<4>(warp, patch, access.pc, access.mask,
         {copy_of(access.addresses), same(access.size), same(flags_of(access)), same(kNoValue)});
}

void PatchHook::on_access(exec::WarpContext& warp, const exec::WarpAccess& access) {
  const Patch& chosen = patch(id_of(access));
  if (chosen.executable == nullptr) return;
  if (const TwinData* data = twin_data(warp, chosen))
    return data->on_access(chosen.twin, warp, access);
  run_access(warp, chosen, access);
}

void PatchHook::on_block_enter(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask) {
  const Patch& chosen = patch(Instruction::kBlockEnter);
  if (chosen.executable != nullptr) run<0>(warp, chosen, pc, mask, {});
}

void PatchHook::on_block_exit(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask) {
  const Patch& chosen = patch(Instruction::kBlockExit);
  if (chosen.executable != nullptr) run<0>(warp, chosen, pc, mask, {});
}

void PatchHook::on_device_malloc(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                                 const std::uint64_t* pointers, const std::uint64_t* sizes) {
  const Patch& chosen = patch(Instruction::kDeviceMalloc);
  if (chosen.executable == nullptr) return;
  if (const TwinData* data = twin_data(warp, chosen)) return data->on_malloc(mask, pointers, sizes);
  run<2>(warp, chosen, pc, mask, {copy_of(pointers), copy_of(sizes)});
}

void PatchHook::on_device_free(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                               const std::uint64_t* pointers) {
  const Patch& chosen = patch(Instruction::kDeviceFree);
  if (chosen.executable == nullptr) return;
  if (const TwinData* data = twin_data(warp, chosen)) return data->on_free(mask, pointers);
  run<1>(warp, chosen, pc, mask, {copy_of(pointers)});
}

bool PatchHook::is_idle() const {
  constexpr Instruction kServed[] = {Instruction::kGlobalAccess, Instruction::kAsyncCopy,
                                     Instruction::kSharedAccess, Instruction::kLocalAccess,
                                     Instruction::kBlockEnter,   Instruction::kBlockExit,
                                     Instruction::kDeviceMalloc, Instruction::kDeviceFree};
  return native_ && user_data_ == 0 && std::ranges::all_of(kServed, [&](Instruction id) {
           return patch(id).executable == nullptr || patch(id).twin != Twin::kNone;
         });
}

std::uint32_t PatchHook::wanted_spaces() const {
  if (is_idle()) return 0;
  const auto has = [&](Instruction id) { return patch(id).executable != nullptr; };
  std::uint32_t spaces = 0;
  if (has(Instruction::kGlobalAccess) || has(Instruction::kAsyncCopy))
    spaces |= bit(ptx::Space::kGlobal);
  if (has(Instruction::kSharedAccess)) spaces |= bit(ptx::Space::kShared);
  if (has(Instruction::kLocalAccess)) spaces |= bit(ptx::Space::kLocal);
  return spaces;
}

bool PatchHook::wants_heap() const {
  return !is_idle() && (patch(Instruction::kDeviceMalloc).executable != nullptr ||
                        patch(Instruction::kDeviceFree).executable != nullptr);
}

bool PatchHook::wants_blocks() const {
  return patch(Instruction::kBlockEnter).executable != nullptr ||
         patch(Instruction::kBlockExit).executable != nullptr;
}

}  // namespace drgpum::emulator::sanitizer
