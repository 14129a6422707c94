// SPDX-License-Identifier: Apache-2.0
// Each question to libdwarf with its error dropped: an answer that cannot be had is none.
#include "offline/source/dwarf_die.h"

#include <cstring>

namespace drgpum {
namespace {

void drop(Dwarf_Debug debug, Dwarf_Error error) {
  if (error != nullptr) dwarf_dealloc_error(debug, error);
}

}  // namespace

Dwarf_Half Die::tag() const {
  Dwarf_Half tag = 0;
  Dwarf_Error error = nullptr;
  if (dwarf_tag(die_, &tag, &error) != DW_DLV_OK) drop(debug_, error);
  return tag;
}

std::uint64_t Die::offset() const {
  Dwarf_Off offset = 0;
  Dwarf_Error error = nullptr;
  if (dwarf_dieoffset(die_, &offset, &error) != DW_DLV_OK) drop(debug_, error);
  return offset;
}

Die Die::child() const {
  Dwarf_Die child = nullptr;
  Dwarf_Error error = nullptr;
  if (dwarf_child(die_, &child, &error) == DW_DLV_OK) return {debug_, child};
  drop(debug_, error);
  return {};
}

Die Die::sibling() const {
  Dwarf_Die sibling = nullptr;
  Dwarf_Error error = nullptr;
  if (dwarf_siblingof_b(debug_, die_, true, &sibling, &error) == DW_DLV_OK)
    return {debug_, sibling};
  drop(debug_, error);
  return {};
}

Dwarf_Attribute Die::attribute(Dwarf_Half number) const {
  Dwarf_Attribute attribute = nullptr;
  Dwarf_Error error = nullptr;
  if (dwarf_attr(die_, number, &attribute, &error) == DW_DLV_OK) return attribute;
  drop(debug_, error);
  return nullptr;
}

std::optional<std::uint64_t> Die::number(Dwarf_Half which) const {
  const Dwarf_Attribute found = attribute(which);
  if (found == nullptr) return std::nullopt;
  Dwarf_Unsigned value = 0;
  Dwarf_Signed negative = 0;
  Dwarf_Error error = nullptr;
  int result = dwarf_formudata(found, &value, &error);
  if (result == DW_DLV_ERROR) {  // stored as a signed constant
    drop(debug_, error);
    error = nullptr;
    result = dwarf_formsdata(found, &negative, &error);
    value = static_cast<Dwarf_Unsigned>(negative);
    if (result == DW_DLV_ERROR) drop(debug_, error);
  }
  dwarf_dealloc_attribute(found);
  if (result != DW_DLV_OK) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> Die::section_offset(Dwarf_Half which) const {
  const Dwarf_Attribute found = attribute(which);
  if (found == nullptr) return std::nullopt;
  Dwarf_Off offset = 0;
  Dwarf_Error error = nullptr;
  const int result = dwarf_global_formref(found, &offset, &error);
  if (result == DW_DLV_ERROR) drop(debug_, error);
  dwarf_dealloc_attribute(found);
  if (result != DW_DLV_OK) return std::nullopt;
  return offset;
}

std::string Die::text(Dwarf_Half which) const {
  const Dwarf_Attribute found = attribute(which);
  if (found == nullptr) return "";
  char* text = nullptr;
  Dwarf_Error error = nullptr;
  const int result = dwarf_formstring(found, &text, &error);
  if (result == DW_DLV_ERROR) drop(debug_, error);
  std::string copy = result == DW_DLV_OK && text != nullptr ? text : "";
  dwarf_dealloc_attribute(found);
  return copy;
}

Die Die::reference(Dwarf_Half which) const {
  const Dwarf_Attribute found = attribute(which);
  if (found == nullptr) return {};
  Dwarf_Off offset = 0;
  Dwarf_Error error = nullptr;
  int result = dwarf_global_formref(found, &offset, &error);
  if (result == DW_DLV_ERROR) drop(debug_, error);
  dwarf_dealloc_attribute(found);
  if (result != DW_DLV_OK) return {};
  Dwarf_Die die = nullptr;
  error = nullptr;
  result = dwarf_offdie_b(debug_, offset, true, &die, &error);
  if (result == DW_DLV_OK) return {debug_, die};
  if (result == DW_DLV_ERROR) drop(debug_, error);
  return {};
}

std::optional<std::uint64_t> Die::low_pc() const {
  Dwarf_Addr low = 0;
  Dwarf_Error error = nullptr;
  if (dwarf_lowpc(die_, &low, &error) == DW_DLV_OK) return low;
  drop(debug_, error);
  return std::nullopt;
}

std::optional<std::uint64_t> Die::range_list_index() const {
  const Dwarf_Attribute list = attribute(DW_AT_ranges);
  if (list == nullptr) return std::nullopt;
  Dwarf_Half form = 0;
  Dwarf_Unsigned index = 0;
  Dwarf_Error error = nullptr;
  int result = dwarf_whatform(list, &form, &error);
  if (result == DW_DLV_OK) result = dwarf_formudata(list, &index, &error);
  if (result == DW_DLV_ERROR) drop(debug_, error);
  dwarf_dealloc_attribute(list);
  if (result != DW_DLV_OK || form != DW_FORM_rnglistx) return std::nullopt;
  return index;
}

std::optional<std::uint64_t> Die::address_at(std::uint64_t index) const {
  Dwarf_Addr address = 0;
  Dwarf_Error error = nullptr;
  const int result = dwarf_debug_addr_index_to_addr(die_, index, &address, &error);
  if (result == DW_DLV_ERROR) drop(debug_, error);
  if (result != DW_DLV_OK) return std::nullopt;
  return address;
}

std::vector<AddressRange> Die::ranges(std::uint64_t base) const {
  std::vector<AddressRange> ranges;
  const auto low = low_pc();
  Dwarf_Addr high = 0;
  Dwarf_Half form = 0;
  Dwarf_Form_Class kind = DW_FORM_CLASS_UNKNOWN;
  Dwarf_Error error = nullptr;
  if (low && dwarf_highpc_b(die_, &high, &form, &kind, &error) == DW_DLV_OK) {
    if (kind == DW_FORM_CLASS_CONSTANT) high += *low;
    if (*low < high) ranges.push_back({*low, high});
    return ranges;
  }
  drop(debug_, error);
  append_range_list(ranges, base);
  return ranges;
}

void Die::append_range_list(std::vector<AddressRange>& ranges, std::uint64_t base) const {
  const Dwarf_Attribute list = attribute(DW_AT_ranges);
  if (list == nullptr) return;
  Dwarf_Half version = 0;
  Dwarf_Half offset_size = 0;
  if (dwarf_get_version_of_die(die_, &version, &offset_size) != DW_DLV_OK) version = 0;
  if (version < 5) {
    append_old_list(ranges, list, base);
    dwarf_dealloc_attribute(list);
    return;
  }
  Dwarf_Half form = 0;
  Dwarf_Unsigned value = 0;
  Dwarf_Error error = nullptr;
  int result = dwarf_whatform(list, &form, &error);
  if (result == DW_DLV_OK && form == DW_FORM_rnglistx)
    result = dwarf_formudata(list, &value, &error);
  else if (result == DW_DLV_OK)
    result = dwarf_global_formref(list, &value, &error);
  Dwarf_Rnglists_Head head = nullptr;
  Dwarf_Unsigned count = 0;
  Dwarf_Unsigned offset = 0;
  if (result == DW_DLV_OK)
    result = dwarf_rnglists_get_rle_head(list, form, value, &head, &count, &offset, &error);
  for (Dwarf_Unsigned k = 0; result == DW_DLV_OK && k < count; ++k) {
    unsigned length = 0;
    unsigned code = 0;
    Dwarf_Unsigned raw[2]{};
    Dwarf_Unsigned cooked[2]{};
    Dwarf_Bool no_addresses = false;
    result = dwarf_get_rnglists_entry_fields_a(head, k, &length, &code, &raw[0], &raw[1],
                                               &no_addresses, &cooked[0], &cooked[1], &error);
    const bool is_range =
        code != DW_RLE_end_of_list && code != DW_RLE_base_address && code != DW_RLE_base_addressx;
    if (result == DW_DLV_OK && is_range && !no_addresses && cooked[0] < cooked[1])
      ranges.push_back({cooked[0], cooked[1]});
  }
  if (result == DW_DLV_ERROR) drop(debug_, error);
  if (head != nullptr) dwarf_dealloc_rnglists_head(head);
  dwarf_dealloc_attribute(list);
}

// .debug_ranges of DWARF 4 and before.
void Die::append_old_list(std::vector<AddressRange>& ranges, Dwarf_Attribute list,
                          std::uint64_t base) const {
  Dwarf_Off offset = 0;
  Dwarf_Error error = nullptr;
  Dwarf_Ranges* entries = nullptr;
  Dwarf_Signed count = 0;
  Dwarf_Unsigned bytes = 0;
  Dwarf_Off real = 0;
  int result = dwarf_global_formref(list, &offset, &error);
  if (result == DW_DLV_OK)
    result = dwarf_get_ranges_b(debug_, offset, die_, &real, &entries, &count, &bytes, &error);
  if (result == DW_DLV_ERROR) drop(debug_, error);
  if (result != DW_DLV_OK) return;
  for (Dwarf_Signed k = 0; k < count; ++k) {
    const Dwarf_Ranges& entry = entries[k];
    if (entry.dwr_type == DW_RANGES_ADDRESS_SELECTION) base = entry.dwr_addr2;
    if (entry.dwr_type == DW_RANGES_ENTRY && entry.dwr_addr1 < entry.dwr_addr2)
      ranges.push_back({base + entry.dwr_addr1, base + entry.dwr_addr2});
  }
  dwarf_ranges_dealloc(debug_, entries, count);
}

std::optional<DwarfUnit> next_unit(Dwarf_Debug debug) {
  Dwarf_Unsigned length = 0, type_offset = 0, next = 0;
  Dwarf_Half version = 0, address_size = 0, length_size = 0, extension_size = 0, type = 0;
  Dwarf_Off abbreviations = 0;
  Dwarf_Sig8 signature{};
  Dwarf_Error error = nullptr;
  const int result = dwarf_next_cu_header_d(debug, true, &length, &version, &abbreviations,
                                            &address_size, &length_size, &extension_size,
                                            &signature, &type_offset, &next, &type, &error);
  if (result == DW_DLV_ERROR) drop(debug, error);
  if (result != DW_DLV_OK) return std::nullopt;
  DwarfUnit unit;
  Dwarf_Die die = nullptr;
  error = nullptr;
  const int found = dwarf_siblingof_b(debug, nullptr, true, &die, &error);
  if (found == DW_DLV_ERROR) drop(debug, error);
  if (found != DW_DLV_OK) return unit;
  unit.die = Die(debug, die);
  if (type == DW_UT_skeleton || type == DW_UT_split_compile)
    std::memcpy(&unit.split_id, &signature, sizeof unit.split_id);
  else if (version < 5)
    unit.split_id = unit.die.number(DW_AT_GNU_dwo_id).value_or(0);
  return unit;
}

}  // namespace drgpum
