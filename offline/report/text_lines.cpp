// SPDX-License-Identifier: Apache-2.0
#include "offline/report/text_lines.h"

#include <algorithm>
#include <ostream>

namespace drgpum {
namespace {

constexpr std::size_t kMinWidth = 40;
constexpr std::size_t kLabel = 10;

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kDim:
      return "\x1b[2m";
    case Ink::kRed:
      return "\x1b[31m";
    case Ink::kYellow:
      return "\x1b[33m";
    case Ink::kGreen:
      return "\x1b[32m";
    case Ink::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  bool in_colour = false;
  for (const char c : text) {
    if (c == '\x1b') in_colour = true;
    if (!in_colour && (static_cast<unsigned char>(c) & 0xc0) != 0x80) ++count;
    if (c == 'm') in_colour = false;
  }
  return count;
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t have = columns(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t have = columns(text);
  return have < width ? std::string(width - have, ' ') + text : text;
}

TextLines::TextLines(const TextStyle& style, std::ostream& out)
    : width_(std::max(style.width, kMinWidth)), colour_(style.colour), out_(out) {}

std::string TextLines::ink(Ink ink, const std::string& text) const {
  return colour_ && ink != Ink::kPlain ? std::string(code_of(ink)) + text + "\x1b[0m" : text;
}

void TextLines::wrapped(const std::string& first, std::size_t indent, const std::string& text,
                         Ink of) {
  const std::size_t width = width_ - indent;
  std::string line;
  std::string before = first;
  const auto flush = [&] {
    out_ << before << ink(of, line) << '\n';
    before = std::string(indent, ' ');
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string one = text.substr(at, space - at);
    if (!line.empty() && columns(line) + 1 + columns(one) > width) flush();
    line += (line.empty() ? "" : " ") + one;
    at = space + 1;
  }
  flush();
}

void TextLines::paragraph(std::size_t indent, const std::string& text, Ink of) {
  wrapped(std::string(indent, ' '), indent, text, of);
}

void TextLines::labelled(const std::string& label, const std::string& text, Ink of) {
  wrapped(ink(of, padded(label, kLabel)) + " ", kLabel + 1, text);
}

}  // namespace drgpum
