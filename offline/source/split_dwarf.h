// SPDX-License-Identifier: Apache-2.0
#pragma once
// Debugging entries that -gsplit-dwarf left outside the program: one .dwo for each unit, or all in
// one .dwp. Source: DWARF 5 Standard, 7.3.2 and appendix F; for DWARF 4 GCC's "DebugFission".

#include <cstdint>
#include <memory>
#include <string>

#include "offline/source/dwarf_die.h"
#include "offline/source/dwarf_lines.h"
#include "offline/source/range_lists.h"

namespace drgpum {

class SplitDwarf {
 public:
  // `fd`: of the file with the skeletons; it has to outlive this.
  SplitDwarf(int fd, SplitPlaces places);
  SplitDwarf(const SplitDwarf&) = delete;
  SplitDwarf& operator=(const SplitDwarf&) = delete;
  ~SplitDwarf();

  // The entry of the whole unit that `skeleton` stands for. None: the unit is not split, or its file
  // cannot be found. Valid until the next call; has to go before this does.
  Die whole_unit(const DwarfUnit& skeleton);

  // The range lists of the unit that whole_unit() gave last.
  [[nodiscard]] const RangeLists& range_lists() const { return lists_; }

  // Which files were not found, for a person; empty: all were.
  [[nodiscard]] std::string problem() const;

 private:
  class File;
  bool open_program();
  void open_packed();
  Die unit_in(const File& file, std::uint64_t split_id);

  int fd_;
  // Opened once more: libdwarf finds addresses for split units only in a program whose units were
  // not gone through.
  OpenDebug program_;
  SplitPlaces places_;
  std::unique_ptr<File> packed_;  // .dwp
  bool tried_packed_ = false;
  std::unique_ptr<File> loose_;  // .dwo of the unit asked for last
  RangeLists lists_;
  std::string first_missing_;
  std::uint64_t missing_ = 0;
};

}  // namespace drgpum
