// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frames of called functions: register rows in a stack of chunks, one stack per warp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace drgpum::emulator::exec {

struct LoweredFunction;
struct CallSite;
struct Reconvergence;

struct Frame {
  const LoweredFunction* function = nullptr;
  std::byte* rows = nullptr;
  Frame* caller = nullptr;
  const CallSite* site = nullptr;   // in the caller
  Reconvergence* record = nullptr;  // where the lanes of this call meet again
  std::uint32_t local_base = 0;     // of its variables in each lane's local memory
  std::uint32_t local_end = 0;
  bool ended = false;
};

// Frames end mostly in the order last in, first out; one that ends earlier is given back when those
// above it have ended. Rows are aligned to 64 bytes; memory is zero when first used.
class FrameStack {
 public:
  Frame* push(const LoweredFunction& function, std::uint32_t frame_bytes);
  void end(Frame* frame);
  void clear();
  [[nodiscard]] std::size_t depth() const { return used_; }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> storage;
    std::byte* begin = nullptr;
    std::size_t size = 0;
  };
  struct Slot {
    std::unique_ptr<Frame> frame;
    std::size_t chunk = 0;
    std::size_t begin = 0;  // in the chunk
  };
  std::vector<Chunk> chunks_;
  std::vector<Slot> slots_;
  std::size_t used_ = 0;   // slots in use
  std::size_t chunk_ = 0;  // chunk and position of the next frame
  std::size_t position_ = 0;
};

}  // namespace drgpum::emulator::exec
