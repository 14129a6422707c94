// SPDX-License-Identifier: Apache-2.0
#pragma once
// Source lines of device code that is PTX text, as the emulated device executes it: what `.loc`
// says (PTX ISA, "Debugging Directives"). nvcc writes it with -lineinfo.
//
// An instruction is named by its line in the text, from 1. Several texts may stand one behind the
// other, as the emulated device links them; each begins with .version and has its own numbers of
// files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "offline/source/dwarf_lines.h"
#include "proto/base/result.h"

namespace drgpum {

class PtxLines {
 public:
  // The text is not needed afterwards. kNotFound: no .loc, so compiled without -lineinfo;
  // kCorrupt: not PTX.
  static Result<PtxLines> parse(std::string_view text);

  // Frames at the instruction that begins on this line of the text (the first of several),
  // innermost first; empty when none does or its place is not known. Functions are mangled.
  [[nodiscard]] std::vector<AddressFrame> at(std::uint64_t text_line) const;

 private:
  friend class PtxLineParser;
  static constexpr std::uint32_t kNoPlace = 0xffffffffu;
  struct Place {
    std::uint32_t file = 0;  // in files_; 0: not known
    std::uint32_t line = 0;
    std::uint32_t caller = kNoPlace;  // the place of the call that was inlined; kNoPlace: none
    std::uint32_t name = 0;           // in names_: the inlined function; 0: none
  };
  struct Instruction {
    std::uint64_t text_line = 0;
    std::uint32_t place = kNoPlace;
    std::uint32_t function = 0;  // in names_
  };
  std::vector<Instruction> instructions_;  // by rising line
  std::vector<Place> places_;
  std::vector<std::string> files_{""};
  std::vector<std::string> names_{""};
};

}  // namespace drgpum
