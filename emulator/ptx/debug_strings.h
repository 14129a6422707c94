// SPDX-License-Identifier: Apache-2.0
#pragma once
// The strings of a .debug_str section, by which .loc names inlined functions.

#include <string>
#include <string_view>
#include <unordered_map>

#include "emulator/ptx/cursor.h"

namespace drgpum::emulator::ptx {

class DebugStrings {
 public:
  // The section's name has been read; skips its braces, keeping those of .debug_str.
  void read_section(Cursor& cursor, std::string_view name);

  // The zero-terminated string at label + addend; empty when there is none.
  [[nodiscard]] std::string at(std::string_view label, std::uint64_t addend) const;

 private:
  void read_strings(Cursor& cursor);

  std::string bytes_;
  std::unordered_map<std::string_view, std::size_t> labels_;
};

}  // namespace drgpum::emulator::ptx
