// SPDX-License-Identifier: Apache-2.0
// Source: System V ABI, ELF-64 object file format.
#include "offline/source/elf_image.h"

#include <algorithm>

#include "offline/source/byte_cursor.h"

namespace drgpum {
namespace {

constexpr std::size_t kSectionHeaderOffset = 40;  // e_shoff
constexpr std::size_t kSectionHeaderSize = 58;    // e_shentsize, e_shnum, e_shstrndx
constexpr std::uint16_t kHeaderBytes = 64;
constexpr std::uint32_t kNoBits = 8;
constexpr std::size_t kSymbolBytes = 24;

std::string_view text_at(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  return ByteCursor(bytes, static_cast<std::size_t>(offset)).take_text();
}

}  // namespace

Result<ElfImage> ElfImage::parse(std::span<const std::uint8_t> bytes) {
  constexpr std::uint8_t kIdentity[] = {0x7f, 'E', 'L', 'F', 2, 1};  // 64 bits, little-endian
  if (bytes.size() < 64 || !std::equal(std::begin(kIdentity), std::end(kIdentity), bytes.begin()))
    return Error{ErrorCode::kCorrupt, "is not a 64-bit ELF image"};
  const auto table = ByteCursor(bytes, kSectionHeaderOffset).take<std::uint64_t>();
  ByteCursor sizes(bytes, kSectionHeaderSize);
  const auto entry_bytes = sizes.take<std::uint16_t>();
  std::uint64_t count = sizes.take<std::uint16_t>();
  std::uint64_t names = sizes.take<std::uint16_t>();
  if (entry_bytes != kHeaderBytes || table > bytes.size())
    return Error{ErrorCode::kCorrupt, "its section headers lie beyond its end"};
  const auto at = static_cast<std::size_t>(table);
  if (count == 0) {  // more than 65,279 sections: the first header holds the numbers
    count = ByteCursor(bytes, std::min(at + 32, bytes.size())).take<std::uint64_t>();
    names = ByteCursor(bytes, std::min(at + 40, bytes.size())).take<std::uint32_t>();
  }
  count = std::min<std::uint64_t>(count, (bytes.size() - at) / kHeaderBytes);
  ElfImage image;
  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t k = 0; k < count; ++k) {
    ByteCursor header(bytes, at + static_cast<std::size_t>(k) * kHeaderBytes);
    Section section;
    name_offsets.push_back(header.take<std::uint32_t>());
    section.type = header.take<std::uint32_t>();
    header.skip(16);  // flags, address
    const auto offset = header.take<std::uint64_t>();
    const auto size = header.take<std::uint64_t>();
    section.link = header.take<std::uint32_t>();
    section.info = header.take<std::uint32_t>();
    const bool inside = offset <= bytes.size() && size <= bytes.size() - offset;
    if (inside && section.type != kNoBits)
      section.bytes =
          bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
    image.sections_.push_back(section);
  }
  if (names >= image.sections_.size()) return image;
  const auto text = image.sections_[names].bytes;
  for (std::size_t k = 0; k < image.sections_.size(); ++k)
    image.sections_[k].name = text_at(text, name_offsets[k]);
  return image;
}

const ElfImage::Section* ElfImage::section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<ElfImage::Symbol> ElfImage::symbols() const {
  std::vector<Symbol> symbols;
  const Section* table = section(".symtab");
  if (table == nullptr || table->link >= sections_.size()) return symbols;
  const auto text = sections_[table->link].bytes;
  for (std::size_t at = 0; at + kSymbolBytes <= table->bytes.size(); at += kSymbolBytes) {
    ByteCursor entry(table->bytes, at);
    Symbol symbol;
    symbol.name = text_at(text, entry.take<std::uint32_t>());
    symbol.type = entry.take<std::uint8_t>() & 15;
    entry.skip(1);
    symbol.section = entry.take<std::uint16_t>();
    symbol.value = entry.take<std::uint64_t>();
    symbol.size = entry.take<std::uint64_t>();
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace drgpum
