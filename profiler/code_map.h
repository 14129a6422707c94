// SPDX-License-Identifier: Apache-2.0
#pragma once
// From code addresses to functions of one device module.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/strong_id.h"

namespace drgpum::profiler {

struct CodeFunction {
  std::string name;                  // mangled
  std::vector<std::uint32_t> lines;  // PTX only: of each instruction, in the image
  std::uint64_t begin = 0;           // of its code; 0: not known yet
  std::uint64_t end = 0;
  std::optional<KernelId> id;  // in the trace, once it was named there
};

class CodeMap {
 public:
  static constexpr std::uint64_t kPtxStep = 16;  // code addresses of two PTX instructions

  // The functions in a module's image, a cubin or PTX text.
  explicit CodeMap(std::string_view image);
  CodeMap() = default;

  // Names of functions whose place is not known.
  [[nodiscard]] std::vector<std::string> unplaced() const;
  // A function that the image did not name joins.
  void place(const std::string& name, std::uint64_t begin, std::uint64_t size);
  [[nodiscard]] CodeFunction* named(const std::string& name);

  // After the last place(), before what follows.
  void sort();
  // Lowest code address known; 0 when none is.
  [[nodiscard]] std::uint64_t first() const;

  // The function that holds the address, or that ends last before it: code of a cubin that has no
  // symbol of its own follows the function that it belongs to. Null when all begin after it.
  CodeFunction* at(std::uint64_t address);

  // AccessSiteRecord::offset of an address in the function. Nothing when the PTX has no such
  // instruction.
  static std::optional<std::uint64_t> offset_of(const CodeFunction& function, std::uint64_t address,
                                                bool is_ptx);

 private:
  std::vector<CodeFunction> functions_;  // by begin, once one is placed
};

}  // namespace drgpum::profiler
