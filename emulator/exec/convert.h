// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two halves of cvt lowering.

#include "emulator/exec/builder.h"

namespace drgpum::emulator::exec {

inline bool is_half(ptx::Type type) {
  return type == ptx::Type::kF16 || type == ptx::Type::kBf16 || type == ptx::Type::kF16x2 ||
         type == ptx::Type::kBf16x2;
}

// cvt between rows of full width: integers, f32, f64. Rounding, .ftz and .sat as `in` says.
bool emit_conversion(Builder& builder, RowOffset dst, ptx::Type to, RowOffset source,
                     ptx::Type from, const ptx::Instruction& in);

// cvt that reads or writes f16, bf16, their pairs, or tf32.
bool lower_half_conversion(Builder& builder, const ptx::Instruction& in);
// cvt that reads or writes pairs of e4m3 or e5m2.
bool lower_fp8_conversion(Builder& builder, const ptx::Instruction& in);

}  // namespace drgpum::emulator::exec
