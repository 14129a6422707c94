// SPDX-License-Identifier: Apache-2.0
#pragma once
// Basic blocks, where diverged lanes meet again, and which registers matter where.

#include <cstdint>
#include <vector>

#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

inline constexpr std::uint32_t kNoBlock = 0xffffffffu;

// Fills Function::blocks, in order of the instructions, with edges and immediate post-dominators.
// The post-dominator is kNoBlock where paths only meet at the function's exit, and in loops that
// nothing leaves.
void analyze_control_flow(Function& function);

// The block that holds an instruction.
std::uint32_t block_of(const Function& function, std::uint32_t instruction);

// Sets of registers, one bit each, per block: bit r of word r / 64.
struct Liveness {
  std::vector<std::vector<std::uint64_t>> live_in;
  std::vector<std::vector<std::uint64_t>> live_out;

  static bool has(const std::vector<std::uint64_t>& set, std::uint32_t r) {
    return (set[r / 64] >> (r % 64) & 1) != 0;
  }
};

// Needs analyze_control_flow(). A guarded write leaves the old value live.
Liveness analyze_liveness(const Function& function);

// The registers that an instruction reads (guard and addresses too), and those that it writes; in
// order of the text, each as often as it stands there.
std::vector<std::uint32_t> registers_read(const Function& function, const Instruction& instruction);
std::vector<std::uint32_t> registers_written(const Function& function,
                                             const Instruction& instruction);

}  // namespace drgpum::emulator::ptx
