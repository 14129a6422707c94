// SPDX-License-Identifier: Apache-2.0
// The strings of a .debug_str section.

#include "emulator/ptx/debug_strings.h"

namespace drgpum::emulator::ptx {

void DebugStrings::read_section(Cursor& cursor, std::string_view name) {
  cursor.expect('{', "after the section's name");
  if (name == "debug_str") return read_strings(cursor);
  for (int depth = 1; depth > 0 && !cursor.at_end();) {
    if (cursor.at('{')) ++depth;
    if (cursor.at('}')) --depth;
    if (depth > 0) cursor.take();
  }
  cursor.expect('}', "at the end of the section");
}

void DebugStrings::read_strings(Cursor& cursor) {
  std::string_view label;
  while (!cursor.at('}') && !cursor.at_end()) {
    const Token token = cursor.take();
    if (token.kind == TokenKind::kIdentifier) label = token.text;
    if (token.kind == TokenKind::kInteger) bytes_ += static_cast<char>(token.bits);
    if (token.kind == TokenKind::kPunctuation && token.text == ":") {
      labels_[label] = bytes_.size();
    }
  }
  cursor.expect('}', "at the end of the section");
}

std::string DebugStrings::at(std::string_view label, std::uint64_t addend) const {
  const auto found = labels_.find(label);
  if (found == labels_.end() || addend > bytes_.size() - found->second) return {};
  const std::size_t begin = found->second + addend;
  return bytes_.substr(begin, bytes_.find('\0', begin) - begin);
}

}  // namespace drgpum::emulator::ptx
