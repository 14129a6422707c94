// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sections and symbols of a 64-bit little-endian ELF image in memory, every offset checked. For
// cubins; host files go through libelf.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "proto/base/result.h"

namespace drgpum {

class ElfImage {
 public:
  struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::span<const std::uint8_t> bytes;  // empty where the header lies beyond the file
  };
  struct Symbol {
    std::string_view name;
    std::uint8_t type = 0;  // STT_FUNC 2, STT_SECTION 3
    std::uint32_t section = 0;
    std::uint64_t value = 0;
    std::uint64_t size = 0;
  };

  // Views into `bytes`, which have to stay.
  static Result<ElfImage> parse(std::span<const std::uint8_t> bytes);

  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }
  [[nodiscard]] const Section* section(std::string_view name) const;  // the first of that name
  [[nodiscard]] std::vector<Symbol> symbols() const;                  // of .symtab

 private:
  std::vector<Section> sections_;
};

}  // namespace drgpum
