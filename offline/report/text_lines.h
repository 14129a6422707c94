// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines of a text for a terminal: wrapped, padded, and coloured where the terminal takes colours.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "offline/report/report_text.h"

namespace drgpum {

enum class Ink : std::uint8_t { kPlain, kBold, kDim, kRed, kYellow, kGreen };

// Code points, which is close enough to columns for names and paths; our own colours take none.
std::size_t columns(std::string_view text);
// Filled up with spaces behind, or before, to `width` columns; longer text stays as it is.
std::string padded(std::string text, std::size_t width);
std::string right(const std::string& text, std::size_t width);

class TextLines {
 public:
  TextLines(const TextStyle& style, std::ostream& out);

  std::size_t width() const { return width_; }  // columns; at least 40
  std::string ink(Ink ink, const std::string& text) const;
  // Wrapped at spaces; a word longer than the line stays whole. `first` is as wide as the indent.
  void wrapped(const std::string& first, std::size_t indent, const std::string& text,
               Ink of = Ink::kPlain);
  void paragraph(std::size_t indent, const std::string& text, Ink of = Ink::kPlain);
  // A label in its column, the text beside it.
  void labelled(const std::string& label, const std::string& text, Ink of = Ink::kDim);

 private:
  std::size_t width_;
  bool colour_;
  std::ostream& out_;
};

}  // namespace drgpum
