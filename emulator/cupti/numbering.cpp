// SPDX-License-Identifier: Apache-2.0
// Numbers in order of first mention.
#include "emulator/cupti/numbering.h"

namespace drgpum::emulator::cupti {

std::uint32_t Numbering::context(Handle context) {
  if (context == nullptr) return 0;
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = contexts_.try_emplace(context, Context{next_context_, 0});
  next_context_ += is_new ? 1 : 0;
  return found->second.number;
}

void Numbering::set_device(Handle handle, std::int32_t device) {
  context(handle);
  const std::lock_guard lock(mutex_);
  contexts_[handle].device = static_cast<std::uint32_t>(device);
}

std::uint32_t Numbering::device_of(Handle context) {
  const std::lock_guard lock(mutex_);
  const auto found = contexts_.find(context);
  return found == contexts_.end() ? 0 : found->second.device;
}

std::uint32_t Numbering::stream(Handle unique_stream) {
  if (unique_stream == nullptr) return 0;
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = streams_.try_emplace(unique_stream, next_stream_);
  next_stream_ += is_new ? 1 : 0;
  return found->second;
}

void Numbering::forget_stream(Handle unique_stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(unique_stream);
}

void Numbering::forget_context(Handle context) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(context);
}

const char* Numbering::keep(const char* name) {
  if (name == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  return names_.emplace(name).first->c_str();
}

}  // namespace drgpum::emulator::cupti
