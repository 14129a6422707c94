// SPDX-License-Identifier: Apache-2.0
// libdwarf reads addresses for a split unit from the program that it is tied to.
#include "offline/source/split_dwarf.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "offline/source/elf_file.h"

namespace drgpum {

namespace fs = std::filesystem;

class SplitDwarf::File {
 public:
  // Null: the file is not there, is no ELF file or holds no split units.
  static std::unique_ptr<File> open(const std::string& path, Dwarf_Debug program) {
    auto elf = ElfFile::open(path);
    if (!elf || !elf->has_section(".debug_info.dwo")) return nullptr;
    Dwarf_Debug debug = nullptr;
    Dwarf_Error error = nullptr;
    if (dwarf_init_b(elf->descriptor(), DW_DLC_READ, DW_GROUPNUMBER_DWO, nullptr, nullptr, &debug,
                     &error) != DW_DLV_OK)
      return nullptr;
    std::vector<std::uint8_t> lists = elf->section_bytes(".debug_rnglists.dwo");
    auto file = std::unique_ptr<File>(new File(*std::move(elf), debug, std::move(lists)));
    if (dwarf_set_tied_dbg(debug, program, &error) != DW_DLV_OK) return nullptr;
    while (const std::optional<DwarfUnit> unit = next_unit(debug))
      if (unit->die && unit->split_id != 0)
        file->units_.emplace(unit->split_id, unit->die.offset());
    return file;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() = default;

  [[nodiscard]] Die unit(std::uint64_t split_id) const {
    const auto found = units_.find(split_id);
    Dwarf_Die die = nullptr;
    Dwarf_Error error = nullptr;
    if (found == units_.end()) return {};
    const int result = dwarf_offdie_b(debug_.get(), found->second, true, &die, &error);
    if (result == DW_DLV_ERROR) dwarf_dealloc_error(debug_.get(), error);
    return result == DW_DLV_OK ? Die(debug_.get(), die) : Die();
  }

  // The part that belongs to a unit: all, unless a package's index says which.
  [[nodiscard]] RangeLists range_lists(const Die& unit) const {
    constexpr std::size_t kRangeLists = 8;  // DW_SECT_RNGLISTS
    Dwarf_Debug_Fission_Per_CU parts{};
    Dwarf_Error error = nullptr;
    const int result = dwarf_get_debugfission_for_die(unit.get(), &parts, &error);
    if (result == DW_DLV_ERROR) dwarf_dealloc_error(debug_.get(), error);
    const std::span<const std::uint8_t> all(lists_);
    if (result != DW_DLV_OK) return RangeLists(all);
    const std::uint64_t begin = std::min<std::uint64_t>(parts.pcu_offset[kRangeLists], all.size());
    const std::uint64_t size =
        std::min<std::uint64_t>(parts.pcu_size[kRangeLists], all.size() - begin);
    return RangeLists(
        all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)));
  }

 private:
  File(ElfFile elf, Dwarf_Debug debug, std::vector<std::uint8_t> lists)
      : elf_(std::move(elf)), debug_(debug), lists_(std::move(lists)) {}

  ElfFile elf_;  // keeps the descriptor open
  OpenDebug debug_;
  std::vector<std::uint8_t> lists_;  // .debug_rnglists.dwo
  std::unordered_map<std::uint64_t, std::uint64_t> units_;  // by split id: offset of the entry
};

namespace {

// As the compiler named the file: relative to where it ran, unless absolute.
std::string name_of(const Die& skeleton) {
  const std::string name = skeleton.text(DW_AT_dwo_name);
  return name.empty() ? skeleton.text(DW_AT_GNU_dwo_name) : name;
}

std::vector<std::string> candidates(const fs::path& name, const Die& skeleton,
                                    const SplitPlaces& places) {
  std::vector<std::string> paths{fs::path(skeleton.text(DW_AT_comp_dir)) / name};
  std::vector<fs::path> folders;
  for (const std::string& program : places.programs)
    folders.push_back(fs::path(program).parent_path());
  folders.insert(folders.end(), places.symbol_paths.begin(), places.symbol_paths.end());
  for (const fs::path& folder : folders) {
    if (name.is_relative()) paths.push_back(folder / name);
    paths.push_back(folder / name.filename());
  }
  return paths;
}

}  // namespace

SplitDwarf::SplitDwarf(int fd, SplitPlaces places) : fd_(fd), places_(std::move(places)) {}
SplitDwarf::~SplitDwarf() = default;

bool SplitDwarf::open_program() {
  Dwarf_Debug debug = nullptr;
  Dwarf_Error error = nullptr;
  if (!program_ && dwarf_init_b(fd_, DW_DLC_READ, DW_GROUPNUMBER_ANY, nullptr, nullptr, &debug,
                                &error) == DW_DLV_OK)
    program_ = OpenDebug(debug);
  return static_cast<bool>(program_);
}

void SplitDwarf::open_packed() {
  if (std::exchange(tried_packed_, true)) return;
  for (const std::string& program : places_.programs) {
    const std::string name = program + ".dwp";
    std::vector<fs::path> paths{name};
    for (const fs::path folder : places_.symbol_paths)
      paths.push_back(folder / fs::path(name).filename());
    for (const fs::path& path : paths)
      if ((packed_ = File::open(path, program_.get())) != nullptr) return;
  }
}

Die SplitDwarf::unit_in(const File& file, std::uint64_t split_id) {
  Die unit = file.unit(split_id);
  lists_ = unit ? file.range_lists(unit) : RangeLists();
  return unit;
}

Die SplitDwarf::whole_unit(const DwarfUnit& skeleton) {
  lists_ = {};
  const std::string name = name_of(skeleton.die);
  if (name.empty() || skeleton.split_id == 0 || !open_program()) return {};
  open_packed();
  if (packed_ != nullptr)
    if (Die unit = unit_in(*packed_, skeleton.split_id)) return unit;
  for (const std::string& path : candidates(name, skeleton.die, places_)) {
    loose_ = File::open(path, program_.get());
    if (loose_ == nullptr) continue;
    if (Die unit = unit_in(*loose_, skeleton.split_id)) return unit;
  }
  if (missing_++ == 0) first_missing_ = name;
  return {};
}

std::string SplitDwarf::problem() const {
  if (missing_ == 0) return "";
  const std::string others =
      missing_ == 1 ? "" : " and " + std::to_string(missing_ - 1) + " more";
  return "lacks functions and inlined calls: its split debug information " + first_missing_ +
         others + " is not here, or of another build; say where with --symbol-path";
}

}  // namespace drgpum
