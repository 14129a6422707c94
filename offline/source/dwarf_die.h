// SPDX-License-Identifier: Apache-2.0
#pragma once
// libdwarf's handles as values: a debugging entry and its attributes. Source of the meanings: DWARF
// 5 Standard; of the calls: libdwarf's header, version 20210528.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

namespace drgpum {

// Of one file; finished when it goes.
class OpenDebug {
 public:
  OpenDebug() = default;
  explicit OpenDebug(Dwarf_Debug debug) : debug_(debug) {}
  OpenDebug(OpenDebug&& other) noexcept : debug_(std::exchange(other.debug_, nullptr)) {}
  OpenDebug& operator=(OpenDebug&& other) noexcept {
    std::swap(debug_, other.debug_);
    return *this;
  }
  ~OpenDebug() {
    Dwarf_Error error = nullptr;
    if (debug_ != nullptr) static_cast<void>(dwarf_finish(debug_, &error));
  }

  explicit operator bool() const { return debug_ != nullptr; }
  [[nodiscard]] Dwarf_Debug get() const { return debug_; }

 private:
  Dwarf_Debug debug_ = nullptr;
};

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Die {
 public:
  Die() = default;
  Die(Dwarf_Debug debug, Dwarf_Die die) : debug_(debug), die_(die) {}
  Die(Die&& other) noexcept : debug_(other.debug_), die_(std::exchange(other.die_, nullptr)) {}
  Die& operator=(Die&& other) noexcept {
    std::swap(debug_, other.debug_);
    std::swap(die_, other.die_);
    return *this;
  }
  ~Die() {
    if (die_ != nullptr) dwarf_dealloc(debug_, die_, DW_DLA_DIE);
  }

  explicit operator bool() const { return die_ != nullptr; }
  [[nodiscard]] Dwarf_Die get() const { return die_; }

  [[nodiscard]] Dwarf_Half tag() const;
  [[nodiscard]] std::uint64_t offset() const;  // in .debug_info
  [[nodiscard]] Die child() const;
  [[nodiscard]] Die sibling() const;

  [[nodiscard]] std::optional<std::uint64_t> number(Dwarf_Half attribute) const;
  // Of an attribute that points into another section.
  [[nodiscard]] std::optional<std::uint64_t> section_offset(Dwarf_Half attribute) const;
  [[nodiscard]] std::string text(Dwarf_Half attribute) const;
  [[nodiscard]] Die reference(Dwarf_Half attribute) const;
  // What the entry covers, by low_pc and high_pc or by its list. `base`: the unit's low_pc.
  [[nodiscard]] std::vector<AddressRange> ranges(std::uint64_t base) const;
  [[nodiscard]] std::optional<std::uint64_t> low_pc() const;
  // DW_AT_ranges as a number in a table of lists; nullopt: it is none.
  [[nodiscard]] std::optional<std::uint64_t> range_list_index() const;
  // Of the unit's part of .debug_addr.
  [[nodiscard]] std::optional<std::uint64_t> address_at(std::uint64_t index) const;

 private:
  [[nodiscard]] Dwarf_Attribute attribute(Dwarf_Half number) const;
  void append_range_list(std::vector<AddressRange>& ranges, std::uint64_t base) const;
  void append_old_list(std::vector<AddressRange>& ranges, Dwarf_Attribute list,
                       std::uint64_t base) const;

  Dwarf_Debug debug_ = nullptr;
  Dwarf_Die die_ = nullptr;
};

// One unit of .debug_info.
struct DwarfUnit {
  Die die;                     // none: it cannot be read
  std::uint64_t split_id = 0;  // names the split unit of a skeleton, and is in both; 0: none
};

// The unit after the one that was asked for before; nullopt after the last.
std::optional<DwarfUnit> next_unit(Dwarf_Debug debug);

}  // namespace drgpum
