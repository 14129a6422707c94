// SPDX-License-Identifier: Apache-2.0
#include "profiler/code_map.h"

#include <algorithm>

#include "profiler/kernel_filter.h"
#include "profiler/ptx_functions.h"

namespace drgpum::profiler {

CodeMap::CodeMap(std::string_view image) {
  const bool is_elf = image.starts_with(
      "\x7f"
      "ELF");
  if (is_elf) {
    std::vector<std::string> names = kernel_names_in(image);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (std::string& name : names)
      functions_.push_back({std::move(name), {}, 0, 0, {}});
    return;
  }
  for (PtxFunction& function : functions_in_ptx(image)) {
    functions_.push_back({std::move(function.name), std::move(function.lines), 0, 0, {}});
  }
}

std::vector<std::string> CodeMap::unplaced() const {
  std::vector<std::string> names;
  for (const CodeFunction& function : functions_) {
    if (function.begin == 0) names.push_back(function.name);
  }
  return names;
}

CodeFunction* CodeMap::named(const std::string& name) {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [&](const CodeFunction& f) { return f.name == name; });
  return found == functions_.end() ? nullptr : &*found;
}

void CodeMap::place(const std::string& name, std::uint64_t begin, std::uint64_t size) {
  CodeFunction* function = named(name);
  if (function == nullptr) function = &functions_.emplace_back(CodeFunction{name, {}, 0, 0, {}});
  function->begin = begin;
  function->end = begin + size;
}

void CodeMap::sort() {
  std::sort(functions_.begin(), functions_.end(),
            [](const CodeFunction& a, const CodeFunction& b) { return a.begin < b.begin; });
}

std::uint64_t CodeMap::first() const {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [](const CodeFunction& f) { return f.begin != 0; });
  return found == functions_.end() ? 0 : found->begin;
}

CodeFunction* CodeMap::at(std::uint64_t address) {
  const auto after = std::upper_bound(
      functions_.begin(), functions_.end(), address,
      [](std::uint64_t value, const CodeFunction& function) { return value < function.begin; });
  if (after == functions_.begin() || std::prev(after)->begin == 0) return nullptr;
  return &*std::prev(after);
}

std::optional<std::uint64_t> CodeMap::offset_of(const CodeFunction& function, std::uint64_t address,
                                                bool is_ptx) {
  const std::uint64_t offset = address - function.begin;
  if (!is_ptx) return offset;
  const std::uint64_t instructions = (function.end - function.begin) / kPtxStep;
  // Numbers that do not fit say that the text was counted another way.
  if (instructions != function.lines.size() || offset / kPtxStep >= instructions) {
    return std::nullopt;
  }
  return function.lines[offset / kPtxStep];
}

}  // namespace drgpum::profiler
