// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compact code that kernels are lowered to: one Op per instruction, run for 32 lanes at once.

#include <cstddef>
#include <cstdint>

namespace drgpum::emulator::exec {

inline constexpr unsigned kLanes = 32;
inline constexpr std::uint32_t kFullMask = 0xffffffffu;

__extension__ typedef unsigned __int128 Uint128;
__extension__ typedef __int128 Int128;

class WarpContext;
struct Op;

// Runs one op for the lanes of WarpContext::mask and returns the next one, or nullptr when the warp
// stops: it is blocked, yields, has finished or has faulted (WarpContext::stop says which).
using Handler = const Op* (*)(const Op*, WarpContext&);

// A row is the storage of one register for 32 lanes. A row offset >= 0 counts bytes from the
// frame's start; a negative one counts back from the end of the function's constant rows.
using RowOffset = std::int32_t;

struct alignas(64) Op {
  Handler run = nullptr;
  const Op* target = nullptr;   // branches: where to
  const void* extra = nullptr;  // MemoryAccess, CallSite, BranchSite ... by handler
  std::uint64_t immediate = 0;
  RowOffset dst = 0;
  RowOffset a = 0;
  RowOffset b = 0;
  RowOffset c = 0;
  std::uint32_t instruction = 0;  // number in ptx::Function::instructions
  std::uint32_t detail = 0;       // small per-handler parameter
  std::uint32_t write_all = 0;    // all ones: inactive lanes of dst may be overwritten
};

}  // namespace drgpum::emulator::exec
