// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rounding modes and flushing of subnormals, by the host's MXCSR around one handler.

#include <bit>
#include <cstdint>

#include <xmmintrin.h>

#include "emulator/exec/op.h"
#include "emulator/ptx/program.h"

namespace drgpum::emulator::exec {

inline constexpr std::uint32_t kDefaultMxcsr = 0x1f80;  // to nearest, all exceptions masked
inline constexpr std::uint32_t kFlushMxcsr = 0x8040;    // FTZ and DAZ

inline std::uint32_t mxcsr_of(ptx::Rounding rounding, bool ftz) {
  std::uint32_t value = kDefaultMxcsr | (ftz ? kFlushMxcsr : 0);
  if (rounding == ptx::Rounding::kRm || rounding == ptx::Rounding::kRmi) value |= 0x2000;
  if (rounding == ptx::Rounding::kRp || rounding == ptx::Rounding::kRpi) value |= 0x4000;
  if (rounding == ptx::Rounding::kRz || rounding == ptx::Rounding::kRzi) value |= 0x6000;
  return value;
}

// Runs the handler in `immediate` with MXCSR = `detail`. The indirect call keeps the compiler from
// moving arithmetic across the change of mode.
inline const Op* in_float_mode(const Op* op, WarpContext& warp) {
  _mm_setcsr(op->detail);
  const Op* next = std::bit_cast<Handler>(op->immediate)(op, warp);
  _mm_setcsr(kDefaultMxcsr);
  return next;
}

inline void set_float_mode(Op& op, std::uint32_t mxcsr) {
  if (mxcsr == kDefaultMxcsr) return;
  op.immediate = std::bit_cast<std::uint64_t>(op.run);
  op.detail = mxcsr;
  op.run = in_float_mode;
}

}  // namespace drgpum::emulator::exec
