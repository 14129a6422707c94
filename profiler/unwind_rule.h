// SPDX-License-Identifier: Apache-2.0
#pragma once
// How to get from one x86-64 frame to its caller, read from the call frame information in .eh_frame
// (System V ABI supplement, DWARF 4 section 6.4) and kept per return address: most frames cost one
// look-up instead of an interpreted program.

#include <cstdint>

namespace drgpum::profiler {

// The caller's frame: its canonical frame address (CFA), where it keeps our rbp; its return address
// lies at CFA - 8.
struct UnwindRule {
  enum Kind : std::uint8_t {
    kFromRsp,       // CFA = rsp + cfa_offset
    kFromRbp,       // CFA = rbp + cfa_offset
    kFromStackRbp,  // CFA = the word at rbp + cfa_offset (realigned stacks)
    kEnd,           // the outermost frame, or nothing is known of this address
    kOther,         // known, but not of these forms
  };
  Kind kind = kEnd;
  std::int32_t cfa_offset = 0;
  std::int16_t rbp_offset = kRbpKept;  // rbp's saved value lies at CFA + rbp_offset
  static constexpr std::int16_t kRbpKept = 0x7fff;
  friend bool operator==(const UnwindRule&, const UnwindRule&) = default;
};

// For the frame that goes on at `return_address`. Reads call frame information; no lock.
UnwindRule read_unwind_rule(std::uint64_t return_address) noexcept;

// The same, remembered. Any number of threads may call it.
UnwindRule unwind_rule_at(std::uint64_t return_address) noexcept;

// After code was unmapped: what is remembered may be wrong.
void forget_unwind_rules() noexcept;

}  // namespace drgpum::profiler
