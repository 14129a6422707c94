// SPDX-License-Identifier: Apache-2.0
// The stack of frames: bump allocation in chunks that are kept for the next block.

#include "emulator/exec/frames.h"

#include <algorithm>
#include <bit>

namespace drgpum::emulator::exec {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;
constexpr std::size_t kRowAlignment = 64;

}  // namespace

Frame* FrameStack::push(const LoweredFunction& function, std::uint32_t frame_bytes) {
  const std::size_t bytes = (frame_bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  while (chunk_ < chunks_.size() && position_ + bytes > chunks_[chunk_].size) {
    ++chunk_;
    position_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    // Rows of different warps would otherwise fall on the same cache sets.
    const std::size_t stagger = chunks_.size() % 7 * kRowAlignment;
    const std::size_t size = std::max(bytes, chunk_ == 0 ? bytes : kChunkBytes);
    Chunk chunk{std::make_unique<std::byte[]>(size + kRowAlignment + stagger), nullptr, size};
    const auto address = std::bit_cast<std::uintptr_t>(chunk.storage.get());
    chunk.begin = chunk.storage.get() + (kRowAlignment - address % kRowAlignment) % kRowAlignment;
    chunks_.push_back(std::move(chunk));
    position_ = 0;
  }
  if (used_ == slots_.size()) slots_.push_back({std::make_unique<Frame>(), 0, 0});
  Slot& slot = slots_[used_++];
  slot.chunk = chunk_;
  slot.begin = position_;
  *slot.frame = Frame{&function, chunks_[chunk_].begin + position_};
  position_ += bytes;
  return slot.frame.get();
}

void FrameStack::end(Frame* frame) {
  frame->ended = true;
  while (used_ > 0 && slots_[used_ - 1].frame->ended) {
    --used_;
    chunk_ = slots_[used_].chunk;
    position_ = slots_[used_].begin;
  }
}

void FrameStack::clear() {
  used_ = 0;
  chunk_ = 0;
  position_ = 0;
}

}  // namespace drgpum::emulator::exec
