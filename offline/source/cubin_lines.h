// SPDX-License-Identifier: Apache-2.0
#pragma once
// Source lines of device code: offsets in the functions of a cubin built with -lineinfo.
//
// A cubin's line table is DWARF's (version 2 to 4 of the program's header), one sequence for each
// function, its begin given by a relocation. NVIDIA adds the extended opcode 0x90 for inlining: a
// row number in the same sequence, from 1, where the call stands (0: not inlined), and the called
// function's name as an offset in .debug_str. Established by comparing with nvdisasm -gi; there is
// no public description. Reads untrusted bytes: every access is checked, no memory is reserved by
// what a header claims.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "offline/source/dwarf_lines.h"
#include "proto/base/result.h"

namespace drgpum {

class CubinLines {
 public:
  // The bytes are not needed afterwards. kNotFound: compiled without -lineinfo; kCorrupt: damaged.
  static Result<CubinLines> parse(std::span<const std::uint8_t> cubin);

  struct Function {
    std::string name;  // mangled; "$kernel$callee" for a function kept inside a kernel's section
    std::uint32_t section = 0;
    std::uint64_t begin = 0;  // in the section
    std::uint64_t size = 0;
  };
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

  // Frames at an instruction, innermost first; empty when no row covers it. Functions are mangled.
  [[nodiscard]] std::vector<AddressFrame> at(const Function& function, std::uint64_t offset) const;
  // By name; of functions with equal names the first.
  [[nodiscard]] std::vector<AddressFrame> at(std::string_view function, std::uint64_t offset) const;

 private:
  friend class CubinParser;
  struct Row {
    std::uint64_t offset = 0;  // in the section
    std::uint32_t file = 0;    // in files_
    std::uint32_t line = 0;
    std::uint32_t context = 0;  // the row of the call site in its sequence, from 1; 0: not inlined
    std::uint32_t name = 0;     // in names_; 0: none
    bool end = false;
  };
  struct Sequence {
    std::uint32_t section = 0;
    std::uint32_t first = 0;  // in rows_
    std::uint32_t count = 0;
    bool rising = true;  // by offset
  };
  [[nodiscard]] const Function* function_at(std::uint32_t section, std::uint64_t offset) const;
  // The row of the sequence that holds at `place`; its count when none does.
  [[nodiscard]] std::uint32_t row_at(const Sequence& sequence, std::uint64_t place) const;
  [[nodiscard]] std::vector<AddressFrame> chain(const Sequence& sequence, std::uint32_t row) const;

  std::vector<Function> functions_;
  std::vector<Sequence> sequences_;
  std::vector<Row> rows_;
  std::vector<std::string> files_;
  std::vector<std::string> names_{""};
};

}  // namespace drgpum
