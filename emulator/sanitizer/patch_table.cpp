// SPDX-License-Identifier: Apache-2.0
// Images, requests and launches.
#include "emulator/sanitizer/patch_table.h"

#include <cstring>

namespace drgpum::emulator::sanitizer {
namespace {

constexpr std::uint64_t kInstructionBytes = 16;  // of emulated code addresses

std::uint64_t number_of(const void* data) {
  return reinterpret_cast<std::uint64_t>(data);
}

// Instructions that never come to pass here are as good as patched; those that do, but are not
// told to patches, have to be refused.
bool is_served(Instruction id) {
  switch (id) {
    case Instruction::kBarrier:
    case Instruction::kSyncWarp:
    case Instruction::kShuffle:
    case Instruction::kCall:
    case Instruction::kReturn:
    case Instruction::kCudaBarrier:
    case Instruction::kPipelineCommit:
    case Instruction::kPipelineWait:
    case Instruction::kMatrixAccess:
    case Instruction::kBarrierRelease:
    case Instruction::kSyncWarpRelease:
    case Instruction::kCudaBarrierAttempt:
      return false;
    default:
      return true;
  }
}

template <typename T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

std::span<const std::byte> image_bytes(const void* image) {
  constexpr std::uint32_t kFatBinaryMagic = 0xBA55ED50;  // u16 version, u16 header, u64 payload
  constexpr std::uint32_t kElfMagic = 0x464C457F;
  constexpr std::size_t kSectionTable = 0x28;  // offset of e_shoff in an ELF64 header
  const auto* bytes = static_cast<const std::byte*>(image);
  if (image == nullptr) return {};
  const auto magic = read<std::uint32_t>(bytes);
  if (magic == kFatBinaryMagic)
    return {bytes, read<std::uint16_t>(bytes + 6) + read<std::uint64_t>(bytes + 8)};
  if (magic == kElfMagic)
    return {bytes,
            read<std::uint64_t>(bytes + kSectionTable) +
                std::size_t{read<std::uint16_t>(bytes + 0x3A)} * read<std::uint16_t>(bytes + 0x3C)};
  return {bytes, std::strlen(static_cast<const char*>(image))};
}

Code PatchTable::add_image(Machine& machine, Handle context, const void* image) {
  const auto bytes = image_bytes(image);
  if (bytes.empty()) return Code::kInvalidParameter;
  const auto loaded = machine.load_tool_image(context, bytes);
  if (!loaded) {
    std::fprintf(stderr, "drgpum: cannot load a tool's patches: %s\n",
                 loaded.error().message.c_str());
    return Code::kInvalidParameter;
  }
  const std::lock_guard lock(mutex_);
  images_.emplace(context, *loaded);
  return Code::kSuccess;
}

Patch PatchTable::find_patch(Handle context, const char* device_function) const {
  for (const auto& [owner, executable] : images_) {
    if (context != nullptr && owner != nullptr && owner != context) continue;
    if (const auto function = executable->find(device_function))
      return {executable, *function, twin_of(device_function)};
  }
  return {};
}

Code PatchTable::request(Instruction id, Handle module, const char* device_function) {
  const auto number = static_cast<std::size_t>(id);
  if (number == 0 || number >= PatchSet{}.size() || device_function == nullptr)
    return Code::kInvalidParameter;
  if (!is_served(id)) return Code::kNotSupported;
  const std::lock_guard lock(mutex_);
  const auto found = modules_.find(module);
  const Patch patch =
      find_patch(found == modules_.end() ? nullptr : found->second.context, device_function);
  if (patch.executable == nullptr) return Code::kInvalidParameter;
  modules_[module].requested[number] = patch;
  return Code::kSuccess;
}

Code PatchTable::activate(Handle module) {
  const std::lock_guard lock(mutex_);
  const auto found = modules_.find(module);
  if (found == modules_.end()) return Code::kInvalidParameter;
  found->second.active = found->second.requested;
  found->second.is_active = true;
  return Code::kSuccess;
}

Code PatchTable::deactivate(Handle module) {
  const std::lock_guard lock(mutex_);
  const auto found = modules_.find(module);
  if (found == modules_.end()) return Code::kInvalidParameter;
  found->second.requested = {};
  found->second.is_active = false;
  return Code::kSuccess;
}

Code PatchTable::set_function_data(Handle function, const void* data) {
  if (function == nullptr) return Code::kInvalidParameter;
  const std::lock_guard lock(mutex_);
  function_data_[function] = number_of(data);
  return Code::kSuccess;
}

Code PatchTable::set_launch_data(Handle launch, const void* data) {
  const std::lock_guard lock(mutex_);
  const auto found = launches_.find(launch);
  if (found == launches_.end()) return Code::kInvalidParameter;
  found->second.data = number_of(data);
  if (found->second.hook) found->second.hook->set_user_data(found->second.data);
  return Code::kSuccess;
}

Code PatchTable::find(Handle context, const char* device_function, std::uint64_t* pc,
                      std::uint64_t* size) const {
  const std::lock_guard lock(mutex_);
  const Patch patch = find_patch(context, device_function);
  if (patch.executable == nullptr) return Code::kInvalidParameter;
  *pc = patch.executable->pc_base(patch.function);
  *size =
      kInstructionBytes * patch.executable->program().functions[patch.function].instructions.size();
  return Code::kSuccess;
}

void PatchTable::module_loaded(Handle context, Handle module) {
  const std::lock_guard lock(mutex_);
  modules_[module].context = context;
}

void PatchTable::module_unloading(Handle module) {
  const std::lock_guard lock(mutex_);
  modules_.erase(module);
}

void PatchTable::context_destroyed(Handle context) {
  const std::lock_guard lock(mutex_);
  images_.erase(context);
}

void PatchTable::begin_launch(const LaunchEvent& launch) {
  const std::lock_guard lock(mutex_);
  const auto data = function_data_.find(launch.function);
  launches_[launch.launch].data = data == function_data_.end() ? 0 : data->second;
}

exec::AccessHook* PatchTable::arm_launch(const LaunchEvent& launch) {
  const std::lock_guard lock(mutex_);
  const auto module = modules_.find(launch.module);
  if (module == modules_.end() || !module->second.is_active) return nullptr;
  Launch& armed = launches_[launch.launch];
  // Data set by function from a callback counts too, unless the launch has its own.
  if (const auto data = function_data_.find(launch.function);
      armed.data == 0 && data != function_data_.end())
    armed.data = data->second;
  armed.hook =
      std::make_unique<PatchHook>(module->second.active, armed.data, native_, launch.workers);
  return armed.hook.get();
}

void PatchTable::end_launch(const LaunchEvent& launch) {
  const std::lock_guard lock(mutex_);
  launches_.erase(launch.launch);
}

}  // namespace drgpum::emulator::sanitizer
