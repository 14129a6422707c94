// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texels of the lanes of a warp in device memory.

#include <vector>

#include "emulator/exec/memory_ops.h"
#include "emulator/exec/sampler.h"

namespace drgpum::emulator::exec {

// What tex, tld4, txq, suld, sust and suq have in common: rows of the handles and coordinates.
struct TextureAccess {
  RowOffset handle = 0;
  TextureShape shape = TextureShape::k1d;
  bool is_layered = false;
  bool by_index = false;
  RowOffset layer = 0;
  std::vector<RowOffset> coordinates;  // x, y, z: f32, or s32 with by_index
  std::vector<RowOffset> results;      // or what to store
};

// Takes the operands that they share: the handle and, where there are some, coordinates. False for
// texture references, separate samplers and shapes that are not served.
bool lower_texture_access(Builder& builder, const ptx::Instruction& in, TextureAccess& access);

// One lane's texels. Raises the fault of an access outside of allocated memory.
class LaneTexels final : public TexelSource {
 public:
  LaneTexels(WarpContext& warp, const Op* op, const char* what)
      : warp_(warp), op_(op), what_(what) {}
  void select(unsigned lane) { lane_ = lane; }
  const std::byte* texel(std::uint64_t address, std::uint32_t bytes) override;
  // The same to write to.
  std::byte* place(std::uint64_t address, std::uint32_t bytes);

 private:
  WarpContext& warp_;
  const Op* op_;
  const char* what_;
  unsigned lane_ = 0;
};

// The object of a lane's handle; raises a fault for handles of nothing.
class HandleCache {
 public:
  HandleCache(WarpContext& warp, const Op* op, bool surfaces)
      : warp_(warp), op_(op), surfaces_(surfaces) {}
  const TextureObject* find(unsigned lane, std::uint64_t handle);

 private:
  WarpContext& warp_;
  const Op* op_;
  bool surfaces_;
  std::uint64_t last_handle_ = 0;
  const TextureObject* last_ = nullptr;
};

}  // namespace drgpum::emulator::exec
