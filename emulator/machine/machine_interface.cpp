// SPDX-License-Identifier: Apache-2.0
// What the machine does for its observers. None of it is told to them or costs virtual time.

#include <cstring>

#include "emulator/machine/core.h"
#include "emulator/machine/module_loader.h"
#include "emulator/machine/submit.h"

namespace drgpum::emulator {
namespace {

Error not_there(const char* what) {
  return {ErrorCode::kNotFound, std::string("emulated device: no such ") + what};
}

// A copy between the host's bytes and device memory, block by block.
template <typename Move>
Status each_piece(const DeviceMemory& memory, std::uint64_t address, std::uint64_t size,
                  Move move) {
  for (std::uint64_t done = 0; done < size;) {
    const auto view = memory.host_view(address + done, size - done);
    if (view.empty())
      return Error{ErrorCode::kDevice, "emulated device: address " +
                                           std::to_string(address + done) + " is not allocated"};
    move(view, done);
    done += view.size();
  }
  return Ok{};
}

}  // namespace

std::uint64_t MachineCore::allocate_device(Handle context, std::uint64_t size) {
  const std::lock_guard guard(lock_);
  const auto* owner = contexts.get(context);
  if (owner == nullptr || size == 0) return 0;
  BlockRequest request;
  request.size = size;
  request.kind = BlockKind::kTool;
  request.device = owner->device->ordinal;
  request.context = context;
  const Block* block = memory->allocate(request);
  return block != nullptr ? block->range.begin : 0;
}

bool MachineCore::free_device(Handle, std::uint64_t address) {
  const std::lock_guard guard(lock_);
  Block* block = memory != nullptr ? memory->block_at(address) : nullptr;
  if (block == nullptr || block->kind != BlockKind::kTool || block->range.begin != address)
    return false;
  memory->free(block);
  return true;
}

void* MachineCore::allocate_host(Handle context, std::uint64_t size) {
  const std::lock_guard guard(lock_);
  if (memory == nullptr || size == 0) return nullptr;
  BlockRequest request;
  request.size = size;
  request.kind = BlockKind::kPinned;
  request.flags = kToolBlock;
  request.context = context;
  const Block* block = memory->allocate(request);
  if (block == nullptr) return nullptr;
  return reinterpret_cast<void*>(block->range.begin);  // NOLINT: host memory
}

bool MachineCore::free_host(Handle, void* pointer) {
  const std::lock_guard guard(lock_);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  Block* block = memory != nullptr ? memory->block_at(address) : nullptr;
  if (block == nullptr || block->kind != BlockKind::kPinned || block->range.begin != address)
    return false;
  memory->free(block);
  return true;
}

Status MachineCore::copy_to_device(std::uint64_t destination, const void* source,
                                   std::uint64_t size, Handle) {
  const std::lock_guard guard(lock_);
  const auto* from = static_cast<const std::byte*>(source);
  return each_piece(*memory, destination, size, [&](std::span<std::byte> view, std::uint64_t at) {
    std::memcpy(view.data(), from + at, view.size());
  });
}

Status MachineCore::copy_to_host(void* destination, std::uint64_t source, std::uint64_t size,
                                 Handle) {
  const std::lock_guard guard(lock_);
  auto* to = static_cast<std::byte*>(destination);
  return each_piece(*memory, source, size, [&](std::span<std::byte> view, std::uint64_t at) {
    std::memcpy(to + at, view.data(), view.size());
  });
}

Status MachineCore::set(std::uint64_t destination, int value, std::uint64_t size, Handle) {
  const std::lock_guard guard(lock_);
  return each_piece(*memory, destination, size, [&](std::span<std::byte> view, std::uint64_t) {
    std::memset(view.data(), value, view.size());
  });
}

Status MachineCore::synchronize(Handle unique_stream) {
  // Its work has run already; only host functions may be under way.
  Section section(*this);
  if (streams.get(unique_stream) != nullptr) {
    auto& stream = *static_cast<Stream*>(unique_stream);
    section.await(stream.context->awaited_ticket(stream));
  }
  return Ok{};
}

Handle MachineCore::current_context() {
  return context_of_thread();
}

Handle MachineCore::unique_stream(Handle context, Handle stream) {
  const std::lock_guard guard(lock_);
  Context* owner = contexts.get(context);
  return owner != nullptr ? resolve_stream(*owner, stream, false) : nullptr;
}

Handle MachineCore::stream_of(Handle unique_stream) {
  return unique_stream != nullptr ? handle_of(*static_cast<Stream*>(unique_stream)) : nullptr;
}

Result<FunctionCode> MachineCore::find_function(Handle module, const char* name) {
  const std::lock_guard guard(lock_);
  const Module* owner = modules.get(module);
  if (owner == nullptr) return not_there("module");
  const auto index = owner->executable->find(name);
  if (!index) return not_there(name);
  const std::size_t instructions = owner->image.program->functions[*index].instructions.size();
  return FunctionCode{owner->executable->pc_base(*index), 16 * instructions, *index};
}

const exec::Executable* MachineCore::executable_of(Handle module) {
  const std::lock_guard guard(lock_);
  const Module* owner = modules.get(module);
  return owner != nullptr ? owner->executable.get() : nullptr;
}

Result<const exec::Executable*> MachineCore::load_tool_image(Handle context,
                                                             std::span<const std::byte> image) {
  Section section(*this);
  Context* owner = contexts.get(context);
  if (owner == nullptr) return not_there("context");
  auto loaded = load_image(image, owner->device->preset);
  if (auto* error = std::get_if<ImageError>(&loaded)) return Error{ErrorCode::kDevice, error->text};
  auto module = make_module(section, *owner, std::get<Image>(std::move(loaded)), BlockKind::kTool);
  if (auto* error = std::get_if<ImageError>(&module)) return Error{ErrorCode::kDevice, error->text};
  tool_modules_.push_back(std::get<std::unique_ptr<Module>>(std::move(module)));
  return tool_modules_.back()->executable.get();
}

}  // namespace drgpum::emulator
