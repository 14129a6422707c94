// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses of one file to functions, lines and inline chains, by libdwarf. libdwarf may abort or
// loop on damaged input: to be used in a limited child only.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proto/base/result.h"

namespace drgpum {

class ElfFile;

struct AddressFrame {
  std::string function;  // mangled where the file has that; may be empty
  std::string file;      // with its directory; empty: not known
  std::uint32_t line = 0;
  bool inlined = false;  // into the frame that follows
};

// Where debugging entries outside the program may lie, beside where the compiler wrote them
// (-gsplit-dwarf: .dwo and .dwp).
struct SplitPlaces {
  std::vector<std::string> programs;      // of which a .dwp may have the name
  std::vector<std::string> symbol_paths;  // directories
};

class DwarfLines {
 public:
  // `file` has to outlive this. `with_functions`: also functions and inline
  // chains (.debug_info, and what `split` leads to); else file and line only.
  static Result<DwarfLines> open(const ElfFile& file, bool with_functions, SplitPlaces split);
  DwarfLines(DwarfLines&&) noexcept;
  ~DwarfLines();

  // `addresses`: virtual addresses of the file, rising, none twice. Calls `found` with the place in
  // `addresses` and the frames there, innermost first, for each address that a compile unit covers,
  // unit by unit.
  void resolve(std::span<const std::uint64_t> addresses,
               const std::function<void(std::size_t, std::vector<AddressFrame>)>& found);

  // After resolve(): what of it was missing, for a person; empty: nothing.
  [[nodiscard]] std::string problem() const;

 private:
  class Impl;
  explicit DwarfLines(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace drgpum
