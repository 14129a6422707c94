// SPDX-License-Identifier: Apache-2.0
// Runs the line programs of a cubin. Source of the standard part: DWARF 4, section 6.2.
#include "offline/source/cubin_lines.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "offline/source/byte_cursor.h"
#include "offline/source/elf_image.h"

namespace drgpum {
namespace {

enum StandardOpcode : std::uint8_t {
  kCopy = 1,
  kAdvancePc,
  kAdvanceLine,
  kSetFile,
  kSetColumn,
  kNegateStatement,
  kSetBasicBlock,
  kConstAddPc,
  kFixedAdvancePc,
  kSetPrologueEnd,
  kSetEpilogueBegin,
  kSetIsa,
};
enum ExtendedOpcode : std::uint8_t {
  kEndSequence = 1,
  kSetAddress = 2,
  kDefineFile = 3,
  kInlinedCall = 0x90,  // NVIDIA's
};
constexpr std::uint8_t kFunctionSymbol = 2;
constexpr std::uint32_t kRelocationsWithAddend = 4;  // SHT_RELA
constexpr int kDeepestInlining = 64;

}  // namespace

class CubinParser {
 public:
  explicit CubinParser(const ElfImage& image) : image_(image), symbols_(image.symbols()) {}

  Result<CubinLines> run() {
    const auto* table = image_.section(".debug_line");
    if (table == nullptr || table->bytes.empty())
      return Error{ErrorCode::kNotFound, "was compiled without -lineinfo"};
    if (const auto* strings = image_.section(".debug_str")) strings_ = strings->bytes;
    read_functions();
    read_relocations();
    ByteCursor units(table->bytes);
    std::size_t unit_count = 0;
    for (; !units.done(); ++unit_count) {
      const auto length = units.take<std::uint32_t>();
      const std::size_t begin = units.position();
      ByteCursor unit = units.part(length);
      if (units.failed()) break;
      read_unit(unit, begin);
    }
    if (units.failed() || damaged_) return Error{ErrorCode::kCorrupt, "its line table is damaged"};
    // nvlink merges .debug_str but leaves the offsets in it as they were.
    if (unit_count > 1)
      for (CubinLines::Row& row : lines_.rows_)
        row.name = 0;
    return std::move(lines_);
  }

 private:
  struct Target {
    std::uint32_t section = 0;
    std::uint64_t offset = 0;
  };
  struct Unit {
    std::size_t begin = 0;  // of the unit after its length, in .debug_line
    std::uint8_t min_instruction = 1;
    std::int8_t line_base = 0;
    std::uint8_t line_range = 1;
    std::uint8_t opcode_base = 1;
    std::vector<std::uint8_t> operand_counts;
    std::vector<std::string> directories;
    std::vector<std::uint32_t> files;  // in lines_.files_, by the unit's numbers from 1
  };
  // The registers of the line-number machine.
  struct State {
    CubinLines::Row row;
    std::uint32_t section = 0;
    std::uint32_t first = 0;  // row of the sequence in lines_.rows_
    std::uint64_t file = 1;
    std::int64_t line = 1;
  };

  void read_functions() {
    for (const auto& symbol : symbols_)
      if (symbol.type == kFunctionSymbol && !symbol.name.empty())
        lines_.functions_.push_back(
            {std::string(symbol.name), symbol.section, symbol.value, symbol.size});
  }

  void read_relocations() {
    for (const char* name : {".rel.debug_line", ".rela.debug_line"}) {
      const auto* section = image_.section(name);
      if (section == nullptr) continue;
      const bool has_addend = section->type == kRelocationsWithAddend;
      for (ByteCursor entries(section->bytes); !entries.done();) {
        const auto place = entries.take<std::uint64_t>();
        const auto info = entries.take<std::uint64_t>();
        const auto addend = has_addend ? entries.take<std::uint64_t>() : 0;
        const auto symbol = static_cast<std::size_t>(info >> 32);
        if (entries.failed() || symbol >= symbols_.size()) continue;
        targets_[place] = {symbols_[symbol].section, symbols_[symbol].value + addend};
      }
    }
  }

  void read_unit(ByteCursor& cursor, std::size_t begin) {
    Unit unit;
    unit.begin = begin;
    const auto version = cursor.take<std::uint16_t>();
    const auto header_length = cursor.take<std::uint32_t>();
    if (version < 2 || version > 4) return damage();
    const std::size_t program = cursor.position() + header_length;
    unit.min_instruction = cursor.take<std::uint8_t>();
    if (version == 4) cursor.skip(1);  // operations per instruction: no VLIW here
    cursor.skip(1);                    // whether rows begin as statements
    unit.line_base = cursor.take<std::int8_t>();
    unit.line_range = cursor.take<std::uint8_t>();
    unit.opcode_base = cursor.take<std::uint8_t>();
    if (unit.line_range == 0 || unit.opcode_base == 0) return damage();
    for (unsigned k = 1; k < unit.opcode_base; ++k)
      unit.operand_counts.push_back(cursor.take<std::uint8_t>());
    read_files(cursor, unit);
    if (cursor.failed() || program < cursor.position()) return damage();
    cursor.skip(program - cursor.position());  // a few bytes of unknown meaning lie between
    run_program(cursor, unit);
  }

  void read_files(ByteCursor& cursor, Unit& unit) {
    unit.directories.emplace_back();
    while (!cursor.failed()) {
      const std::string_view directory = cursor.take_text();
      if (directory.empty()) break;
      unit.directories.emplace_back(directory);
    }
    while (!cursor.failed()) {
      const std::string_view name = cursor.take_text();
      if (name.empty()) break;
      add_file(cursor, name, unit);
    }
  }
  void add_file(ByteCursor& cursor, std::string_view name, Unit& unit) {
    const std::uint64_t directory = cursor.take_uleb();
    cursor.take_uleb();  // time
    cursor.take_uleb();  // size
    std::string path(name);
    const bool relative = !name.starts_with('/') && directory < unit.directories.size();
    if (relative && !unit.directories[directory].empty())
      path = unit.directories[directory] + "/" + path;
    const auto next = static_cast<std::uint32_t>(lines_.files_.size());
    const auto [known, added] = file_places_.try_emplace(path, next);
    if (added) lines_.files_.push_back(path);
    unit.files.push_back(known->second);
  }

  void run_program(ByteCursor& cursor, Unit& unit) {
    State state = fresh();
    while (!cursor.done()) {
      const auto opcode = cursor.take<std::uint8_t>();
      if (opcode >= unit.opcode_base)
        special(opcode, unit, state);
      else if (opcode == 0)
        extended(cursor, unit, state);
      else
        standard(opcode, cursor, unit, state);
    }
    if (cursor.failed()) damage();
  }

  State fresh() const {
    State state;
    state.first = static_cast<std::uint32_t>(lines_.rows_.size());
    return state;
  }

  void advance(std::uint64_t operations, const Unit& unit, State& state) {
    state.row.offset += operations * unit.min_instruction;
  }

  void special(std::uint8_t opcode, const Unit& unit, State& state) {
    const unsigned adjusted = static_cast<unsigned>(opcode) - unit.opcode_base;
    advance(adjusted / unit.line_range, unit, state);
    state.line += unit.line_base + static_cast<int>(adjusted % unit.line_range);
    append(unit, state);
  }

  void standard(std::uint8_t opcode, ByteCursor& cursor, const Unit& unit, State& state) {
    switch (opcode) {
      case kCopy:
        return append(unit, state);
      case kAdvancePc:
        return advance(cursor.take_uleb(), unit, state);
      case kAdvanceLine:
        state.line += static_cast<std::int32_t>(cursor.take_sleb());
        return;
      case kSetFile:
        state.file = cursor.take_uleb();
        return;
      case kConstAddPc:
        return advance((255u - unit.opcode_base) / unit.line_range, unit, state);
      case kFixedAdvancePc:
        state.row.offset += cursor.take<std::uint16_t>();
        return;
      case kSetColumn:
      case kSetIsa:
        cursor.take_uleb();
        return;
      case kNegateStatement:
      case kSetBasicBlock:
      case kSetPrologueEnd:
      case kSetEpilogueBegin:
        return;
      default:
        for (unsigned k = unit.operand_counts[opcode - 1u]; k > 0; --k)
          cursor.take_uleb();
    }
  }

  void extended(ByteCursor& cursor, Unit& unit, State& state) {
    const std::uint64_t length = cursor.take_uleb();
    const std::size_t begin = cursor.position();
    ByteCursor operands = cursor.part(length);
    if (cursor.failed() || length == 0) return damage();
    const auto opcode = operands.take<std::uint8_t>();
    switch (opcode) {
      case kEndSequence:
        state.row.end = true;
        append(unit, state);
        end_sequence(state);
        state = fresh();
        return;
      case kSetAddress:
        return set_address(operands.take<std::uint64_t>(), unit.begin + begin + 1, state);
      case kDefineFile:
        return add_file(operands, operands.take_text(), unit);
      case kInlinedCall:
        // Operands past the length are zero: "1-operand" forms leave the name out.
        state.row.context =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(operands.take_uleb(), 0xffffffffu));
        state.row.name = state.row.context == 0 ? 0 : name_at(operands.take_uleb());
        return;
      default:
        return;  // of a later tool: its length says how far it reaches
    }
  }

  void end_sequence(const State& state) {
    const auto rows = std::span(lines_.rows_).subspan(state.first);
    const bool rising = std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.offset < b.offset;
    });
    lines_.sequences_.push_back(
        {state.section, state.first, static_cast<std::uint32_t>(rows.size()), rising});
  }

  void set_address(std::uint64_t written, std::size_t place, State& state) {
    const auto target = targets_.find(place);
    if (target == targets_.end()) {
      state.row.offset = written;
      return;
    }
    state.section = target->second.section;
    state.row.offset = target->second.offset + written;
  }

  std::uint32_t name_at(std::uint64_t offset) {
    if (offset >= strings_.size()) return 0;
    const auto next = static_cast<std::uint32_t>(lines_.names_.size());
    const auto [known, added] = name_places_.try_emplace(offset, next);
    if (added)
      lines_.names_.emplace_back(
          ByteCursor(strings_, static_cast<std::size_t>(offset)).take_text());
    return known->second;
  }

  void append(const Unit& unit, State& state) {
    CubinLines::Row row = state.row;
    row.line = static_cast<std::uint32_t>(std::max<std::int64_t>(state.line, 0));
    row.file =
        state.file == 0 || state.file > unit.files.size() ? kNoFile : unit.files[state.file - 1];
    lines_.rows_.push_back(row);
  }

  void damage() { damaged_ = true; }

  static constexpr std::uint32_t kNoFile = 0xffffffffu;
  const ElfImage& image_;
  std::vector<ElfImage::Symbol> symbols_;
  std::span<const std::uint8_t> strings_;
  std::unordered_map<std::uint64_t, Target> targets_;  // by place in .debug_line
  std::unordered_map<std::string, std::uint32_t> file_places_;
  std::unordered_map<std::uint64_t, std::uint32_t> name_places_;
  CubinLines lines_;
  bool damaged_ = false;
};

Result<CubinLines> CubinLines::parse(std::span<const std::uint8_t> cubin) {
  ASSIGN_OR_RETURN(const ElfImage image, ElfImage::parse(cubin));
  return CubinParser(image).run();
}

// The smallest function around the offset: "$kernel$callee" lies inside its kernel.
const CubinLines::Function* CubinLines::function_at(std::uint32_t section,
                                                    std::uint64_t offset) const {
  const Function* found = nullptr;
  for (const Function& function : functions_) {
    if (function.section != section || offset < function.begin) continue;
    if (offset - function.begin >= function.size) continue;
    if (found == nullptr || function.size < found->size) found = &function;
  }
  return found;
}

std::vector<AddressFrame> CubinLines::chain(const Sequence& sequence, std::uint32_t row) const {
  std::vector<AddressFrame> frames;
  for (int depth = 0; depth < kDeepestInlining; ++depth) {
    const Row& at = rows_[sequence.first + row];
    AddressFrame frame;
    if (at.file < files_.size()) frame.file = files_[at.file];
    frame.line = at.line;
    frame.function = names_[at.name];
    frame.inlined = at.context != 0 && at.context <= sequence.count;
    frames.push_back(std::move(frame));
    if (!frames.back().inlined) break;
    row = at.context - 1;
  }
  return frames;
}

// A row holds until the next one.
std::uint32_t CubinLines::row_at(const Sequence& sequence, std::uint64_t place) const {
  const auto rows = std::span(rows_).subspan(sequence.first, sequence.count);
  const auto holds = [&](std::size_t k) {
    return k + 1 < rows.size() && place >= rows[k].offset && place < rows[k + 1].offset &&
           !rows[k].end;
  };
  if (sequence.rising) {
    const auto after =
        std::upper_bound(rows.begin(), rows.end(), place,
                         [](std::uint64_t at, const Row& row) { return at < row.offset; });
    const auto k = static_cast<std::size_t>(after - rows.begin());
    return k > 0 && holds(k - 1) ? static_cast<std::uint32_t>(k - 1) : sequence.count;
  }
  std::uint32_t k = 0;
  while (k < sequence.count && !holds(k))
    ++k;
  return k;
}

std::vector<AddressFrame> CubinLines::at(const Function& function, std::uint64_t offset) const {
  const std::uint64_t place = function.begin + offset;
  for (const Sequence& sequence : sequences_) {
    if (sequence.section != function.section) continue;
    const std::uint32_t row = row_at(sequence, place);
    if (row == sequence.count) continue;
    std::vector<AddressFrame> frames = chain(sequence, row);
    const Function* around = function_at(function.section, place);
    frames.back().function = around == nullptr ? function.name : around->name;
    return frames;
  }
  return {};
}

std::vector<AddressFrame> CubinLines::at(std::string_view name, std::uint64_t offset) const {
  for (const Function& function : functions_)
    if (function.name == name) return at(function, offset);
  return {};
}

}  // namespace drgpum
