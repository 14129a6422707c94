// SPDX-License-Identifier: Apache-2.0
// Walks the compile units; of those that cover a wanted address it reads the line table and the
// entries of the functions there.
#include "offline/source/dwarf_lines.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "offline/source/dwarf_die.h"
#include "offline/source/elf_file.h"
#include "offline/source/line_program.h"
#include "offline/source/split_dwarf.h"

namespace drgpum {
namespace {

constexpr int kDeepest = 512;       // nesting of blocks and inlined calls
constexpr int kLongestOrigin = 16;  // steps from an entry to the one that has its name

struct Row {  // of the line table, as far as it is wanted
  std::string file;
  std::uint32_t line = 0;
  bool known = false;
};

struct Inlined {
  std::string function;
  std::string call_file;  // where it was called
  std::uint32_t call_line = 0;
};

// What is found of one address: the line there, the function, the calls inlined into it from the
// outermost.
struct Finding {
  Row row;
  std::string function;
  std::vector<Inlined> inlined;
  bool has_function = false;
};

std::vector<AddressFrame> frames_of(Finding finding) {
  std::vector<AddressFrame> frames;
  AddressFrame inner;
  inner.file = std::move(finding.row.file);
  inner.line = finding.row.line;
  for (auto call = finding.inlined.rbegin(); call != finding.inlined.rend(); ++call) {
    inner.function = std::move(call->function);
    inner.inlined = true;
    frames.push_back(std::move(inner));
    inner = {"", std::move(call->call_file), call->call_line, false};
  }
  inner.function = std::move(finding.function);
  frames.push_back(std::move(inner));
  return frames;
}

}  // namespace

class DwarfLines::Impl {
 public:
  Impl(OpenDebug debug, const ElfFile& file, bool with_functions, SplitPlaces split)
      : debug_(std::move(debug)),
        file_(file),
        with_functions_(with_functions),
        split_(file.descriptor(), std::move(split)) {}
  ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  using Found = std::function<void(std::size_t, std::vector<AddressFrame>)>;

  void resolve(std::span<const std::uint64_t> addresses, const Found& found) {
    addresses_ = addresses;
    done_.assign(addresses.size(), false);
    while (const std::optional<DwarfUnit> unit = next_unit(debug_.get()))
      if (unit->die) resolve_unit(*unit, found);
  }
  [[nodiscard]] std::string problem() const { return split_.problem(); }

 private:
  using Places = std::vector<std::size_t>;  // in addresses_, rising

  // Places of addresses inside `ranges`, of `among` where given.
  Places places_in(const std::vector<AddressRange>& ranges, const Places* among) const {
    const auto lies_below = [this](std::size_t place, std::uint64_t address) {
      return addresses_[place] < address;
    };
    Places places;
    for (const AddressRange& range : ranges) {
      if (among == nullptr) {
        auto at = std::lower_bound(addresses_.begin(), addresses_.end(), range.begin);
        for (; at != addresses_.end() && *at < range.end; ++at)
          places.push_back(static_cast<std::size_t>(at - addresses_.begin()));
      } else {
        auto at = std::lower_bound(among->begin(), among->end(), range.begin, lies_below);
        for (; at != among->end() && addresses_[*at] < range.end; ++at)
          places.push_back(*at);
      }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
  }

  void resolve_unit(const DwarfUnit& header, const Found& found) {
    const Die& unit = header.die;
    const Dwarf_Half tag = unit.tag();
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) return;
    base_ = unit.low_pc().value_or(0);
    unit_ranges_ = unit.ranges(base_);
    std::sort(unit_ranges_.begin(), unit_ranges_.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
    Places wanted = places_in(unit_ranges_, nullptr);
    std::erase_if(wanted, [this](std::size_t place) { return done_[place]; });
    if (wanted.empty()) return;
    findings_.clear();
    for (const std::size_t place : wanted)
      findings_[place];
    files_.clear();
    read_lines(unit, wanted);
    if (with_functions_) {
      const Die whole = split_.whole_unit(header);
      in_split_unit_ = static_cast<bool>(whole);
      read_functions(whole ? whole : unit, wanted);
    }
    for (const std::size_t place : wanted) {
      Finding& finding = findings_[place];
      if (!finding.row.known && !finding.has_function) continue;
      done_[place] = true;
      found(place, frames_of(std::move(finding)));
    }
    names_.clear();
  }

  // Line table. Rows of a sequence rise; each holds until the next.
  void read_lines(const Die& unit, const Places& wanted) {
    Dwarf_Unsigned version = 0;
    Dwarf_Small tables = 0;
    Dwarf_Line_Context context = nullptr;
    Dwarf_Line* rows = nullptr;
    Dwarf_Signed count = 0;
    Dwarf_Error error = nullptr;
    if (dwarf_srclines_b(unit.get(), &version, &tables, &context, &error) != DW_DLV_OK) {
      if (error != nullptr) dwarf_dealloc_error(debug_.get(), error);
      return;
    }
    read_files(unit, version);
    first_file_.clear();
    if (version == 5) find_first_files(unit);
    if (dwarf_srclines_from_linecontext(context, &rows, &count, &error) == DW_DLV_OK)
      take_rows(std::span(rows, static_cast<std::size_t>(count)), wanted);
    else if (error != nullptr)
      dwarf_dealloc_error(debug_.get(), error);
    dwarf_srclines_dealloc_b(context);
  }

  void find_first_files(const Die& unit) {
    const auto program = unit.section_offset(DW_AT_stmt_list);
    if (!program) return;
    if (!line_section_) line_section_ = file_.section_bytes(".debug_line");
    first_file_ = rows_of_first_file(*line_section_, *program);
  }

  void take_rows(std::span<Dwarf_Line> rows, const Places& wanted) {
    Dwarf_Error error = nullptr;
    bool good = false;  // the sequence belongs to this unit's code, not to a discarded section
    bool begins = true;
    if (first_file_.size() != rows.size()) first_file_.clear();
    for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
      Dwarf_Addr begin = 0;
      Dwarf_Addr end = 0;
      Dwarf_Bool is_end = false;
      if (dwarf_lineaddr(rows[k], &begin, &error) != DW_DLV_OK ||
          dwarf_lineaddr(rows[k + 1], &end, &error) != DW_DLV_OK ||
          dwarf_lineendsequence(rows[k], &is_end, &error) != DW_DLV_OK)
        return;
      if (std::exchange(begins, is_end)) good = is_unit_code(begin);
      if (is_end || !good || begin >= end) continue;
      auto place = std::lower_bound(
          wanted.begin(), wanted.end(), begin,
          [this](std::size_t at, std::uint64_t address) { return addresses_[at] < address; });
      for (; place != wanted.end() && addresses_[*place] < end; ++place)
        take_row(rows[k], !first_file_.empty() && first_file_[k], findings_[*place].row);
    }
  }

  bool is_unit_code(std::uint64_t address) const {
    const auto after = std::upper_bound(
        unit_ranges_.begin(), unit_ranges_.end(), address,
        [](std::uint64_t at, const AddressRange& range) { return at < range.begin; });
    return after != unit_ranges_.begin() && address < std::prev(after)->end;
  }

  // `of_first_file`: see line_program.h.
  void take_row(Dwarf_Line line, bool of_first_file, Row& row) {
    if (row.known) return;
    Dwarf_Unsigned number = 0;
    char* file = nullptr;
    Dwarf_Error error = nullptr;
    if (dwarf_lineno(line, &number, &error) == DW_DLV_OK)
      row.line = static_cast<std::uint32_t>(number);
    if (of_first_file && files_.size() > 1) {
      row.file = files_[1];
    } else if (dwarf_linesrc(line, &file, &error) == DW_DLV_OK && file != nullptr) {
      row.file = file;
      dwarf_dealloc(debug_.get(), file, DW_DLA_STRING);
    } else if (error != nullptr) {
      dwarf_dealloc_error(debug_.get(), error);
    }
    row.known = true;
  }

  // The files by the numbers that call sites use: from 1 before DWARF 5, from 0 since.
  void read_files(const Die& unit, Dwarf_Unsigned version) {
    char** names = nullptr;
    Dwarf_Signed count = 0;
    Dwarf_Error error = nullptr;
    if (dwarf_srcfiles(unit.get(), &names, &count, &error) != DW_DLV_OK) {
      if (error != nullptr) dwarf_dealloc_error(debug_.get(), error);
      return;
    }
    if (version < 5) files_.emplace_back();
    for (Dwarf_Signed k = 0; k < count; ++k) {
      files_.emplace_back(names[k]);
      dwarf_dealloc(debug_.get(), names[k], DW_DLA_STRING);
    }
    dwarf_dealloc(debug_.get(), names, DW_DLA_LIST);
  }

  // Functions lie in the unit or in namespaces. Lambdas and members of local classes lie inside the
  // function around them, which need not have code itself: only when some are still missing, all
  // of the unit is searched.
  void read_functions(const Die& unit, const Places& wanted) {
    search(unit, wanted, false, 0);
    Places missing;
    for (const std::size_t place : wanted)
      if (!findings_[place].has_function) missing.push_back(place);
    if (!missing.empty()) search(unit, missing, true, 0);
  }

  static bool may_hold_functions(Dwarf_Half tag, bool deep) {
    if (tag == DW_TAG_namespace || tag == DW_TAG_module) return true;
    return deep &&
           (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
            tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type);
  }

  void search(const Die& parent, const Places& wanted, bool deep, int depth) {
    for (Die die = parent.child(); die; die = die.sibling()) {
      const Dwarf_Half tag = die.tag();
      if (tag == DW_TAG_subprogram) take_function(die, wanted);
      if (may_hold_functions(tag, deep) && depth < kDeepest) search(die, wanted, deep, depth + 1);
    }
  }

  std::vector<AddressRange> ranges_of(const Die& die) const {
    std::vector<AddressRange> ranges = die.ranges(base_);
    if (!ranges.empty() || !in_split_unit_) return ranges;
    const auto index = die.range_list_index();
    if (!index) return ranges;
    return split_.range_lists().list(*index, base_,
                                     [&](std::uint64_t at) { return die.address_at(at); });
  }

  void take_function(const Die& die, const Places& wanted) {
    const Places inside = places_in(ranges_of(die), &wanted);
    if (inside.empty()) return;
    const std::string name = name_of(die);
    for (const std::size_t place : inside) {
      findings_[place].function = name;
      findings_[place].has_function = true;
      findings_[place].inlined.clear();
    }
    read_inlined(die, inside, 0);
  }

  void read_inlined(const Die& parent, const Places& wanted, int depth) {
    for (Die die = parent.child(); die; die = die.sibling()) {
      const Dwarf_Half tag = die.tag();
      const bool inlined = tag == DW_TAG_inlined_subroutine;
      if (!inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
          tag != DW_TAG_catch_block)
        continue;
      const auto ranges = ranges_of(die);
      // A block without addresses may still hold inlined calls that have some.
      const Places inside = !inlined && ranges.empty() ? wanted : places_in(ranges, &wanted);
      if (inside.empty()) continue;
      if (inlined) add_inlined(die, inside);
      if (depth < kDeepest) read_inlined(die, inside, depth + 1);
    }
  }

  void add_inlined(const Die& die, const Places& inside) {
    Inlined call;
    call.function = name_of(die);
    call.call_line = static_cast<std::uint32_t>(die.number(DW_AT_call_line).value_or(0));
    const std::uint64_t file = die.number(DW_AT_call_file).value_or(0);
    if (file < files_.size()) call.call_file = files_[file];
    for (const std::size_t place : inside)
      findings_[place].inlined.push_back(call);
  }

  // The linkage name if any entry on the way has one, else the plain name.
  std::string name_of(const Die& die) {
    const std::uint64_t key = die.offset();
    if (const auto known = names_.find(key); known != names_.end()) return known->second;
    std::string name = own_name(die);
    Die origin;
    const Die* at = &die;
    for (int steps = 0; name.empty() && steps < kLongestOrigin; ++steps) {
      Die next = at->reference(DW_AT_abstract_origin);
      if (!next) next = at->reference(DW_AT_specification);
      if (!next) break;
      origin = std::move(next);
      at = &origin;
      name = own_name(origin);
    }
    if (name.empty()) name = plain_name(die);
    return names_[key] = name;
  }
  static std::string own_name(const Die& die) {
    std::string name = die.text(DW_AT_linkage_name);
    if (name.empty()) name = die.text(DW_AT_MIPS_linkage_name);
    return name;
  }
  static std::string plain_name(const Die& die) {
    std::string name = die.text(DW_AT_name);
    Die origin;
    const Die* at = &die;
    for (int steps = 0; name.empty() && steps < kLongestOrigin; ++steps) {
      Die next = at->reference(DW_AT_abstract_origin);
      if (!next) next = at->reference(DW_AT_specification);
      if (!next) break;
      origin = std::move(next);
      at = &origin;
      name = origin.text(DW_AT_name);
    }
    return name;
  }

  OpenDebug debug_;
  const ElfFile& file_;
  std::optional<std::vector<std::uint8_t>> line_section_;  // once it was needed
  bool with_functions_;
  SplitDwarf split_;
  bool in_split_unit_ = false;  // the entries at hand are of one
  std::span<const std::uint64_t> addresses_;
  std::vector<bool> done_;
  std::uint64_t base_ = 0;
  std::vector<AddressRange> unit_ranges_;
  std::unordered_map<std::size_t, Finding> findings_;  // by place, of the unit at hand
  std::vector<std::string> files_;
  std::vector<bool> first_file_;  // by row
  std::unordered_map<std::uint64_t, std::string> names_;
};

DwarfLines::DwarfLines(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DwarfLines::DwarfLines(DwarfLines&&) noexcept = default;
DwarfLines::~DwarfLines() = default;

Result<DwarfLines> DwarfLines::open(const ElfFile& file, bool with_functions, SplitPlaces split) {
  Dwarf_Debug debug = nullptr;
  Dwarf_Error error = nullptr;
  const int result =
      dwarf_init_b(file.descriptor(), DW_DLC_READ, DW_GROUPNUMBER_ANY, nullptr, nullptr, &debug, &error);
  if (result == DW_DLV_NO_ENTRY) return Error{ErrorCode::kNotFound, "has no line information"};
  if (result == DW_DLV_ERROR) {
    std::string why = error != nullptr ? dwarf_errmsg(error) : "is damaged";
    return Error{ErrorCode::kCorrupt, "its line information cannot be read: " + why};
  }
  return DwarfLines(std::make_unique<Impl>(OpenDebug(debug), file, with_functions, std::move(split)));
}

void DwarfLines::resolve(std::span<const std::uint64_t> addresses,
                         const std::function<void(std::size_t, std::vector<AddressFrame>)>& found) {
  impl_->resolve(addresses, found);
}

std::string DwarfLines::problem() const {
  return impl_->problem();
}

}  // namespace drgpum
