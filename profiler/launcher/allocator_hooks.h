// SPDX-License-Identifier: Apache-2.0
#pragma once
// Through which hooks a program can tell of what its allocators hand out: NVTX's memory extension,
// PyTorch's reporting function, the tools interface of Kokkos, drgpum.h, the Python module.
// docs/frameworks.md says what each gives.

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drgpum::profiler {

enum class AllocatorHook : std::uint8_t { kNvtx, kPyTorch, kKokkos, kHeader, kPython, kCupy, kRmm, kTensorFlow, kJax };

// What names of libraries, symbols and texts give away. A text counts in data for reading only: the
// header-only interfaces look up environment variables of their own.
void note_library(std::string_view name, std::set<AllocatorHook>* hooks);
void note_symbol(std::string_view name, std::set<AllocatorHook>* hooks);
void note_texts(std::span<const unsigned char> data, std::set<AllocatorHook>* hooks);
// The lines of a Python script that import something.
void note_imports(std::string_view script, std::set<AllocatorHook>* hooks);

// One sentence for each hook, or the one that says what to do without any.
std::vector<std::string> describe_hooks(const std::set<AllocatorHook>& hooks);

}  // namespace drgpum::profiler
