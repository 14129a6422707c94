// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state word of an mbarrier in shared memory. Programs see it only as an opaque token. Source
// of what it does: PTX ISA 9.0, "Parallel Synchronization and Communication Instructions:
// mbarrier".

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "emulator/exec/builder.h"

namespace drgpum::emulator::exec {

// Bits 0 to 19: arrivals still missing in this phase; 20 to 39: arrivals of a phase; 40 to 60:
// bytes of transactions that are expected and have not come (negative: came first); 61 to 63: the
// phase.
struct Mbarrier {
  std::uint32_t missing = 0;
  std::uint32_t expected = 0;
  std::int32_t bytes = 0;
  std::uint32_t phase = 0;

  static Mbarrier read(const std::byte* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return of_word(word);
  }
  static Mbarrier of_word(std::uint64_t word) {
    const auto signed_bytes = static_cast<std::int64_t>(word << 3) >> 43;
    return {static_cast<std::uint32_t>(word & 0xfffff),
            static_cast<std::uint32_t>((word >> 20) & 0xfffff),
            static_cast<std::int32_t>(signed_bytes), static_cast<std::uint32_t>(word >> 61)};
  }
  void write(std::byte* at) const {
    const std::uint64_t word = (std::uint64_t{phase & 7} << 61) |
                               (std::uint64_t{static_cast<std::uint32_t>(bytes) & 0x1fffff} << 40) |
                               (std::uint64_t{expected & 0xfffff} << 20) | (missing & 0xfffff);
    std::memcpy(at, &word, sizeof word);
  }

  void arrive(std::uint32_t count) { missing -= std::min(count, missing); }
  // A phase ends when nothing is missing any more; the next one begins.
  void settle() {
    if (missing != 0 || bytes != 0) return;
    phase = (phase + 1) & 7;
    missing = expected;
  }
};

// Transaction bytes have come for the barrier at `at`.
inline void complete_transaction(std::byte* at, std::uint32_t bytes) {
  Mbarrier state = Mbarrier::read(at);
  state.bytes -= static_cast<std::int32_t>(bytes);
  state.settle();
  state.write(at);
}

// The part of lower_async that is about whole ranges (ops_bulk.cpp).
bool lower_bulk(Builder& builder, const ptx::Instruction& instruction);

}  // namespace drgpum::emulator::exec
