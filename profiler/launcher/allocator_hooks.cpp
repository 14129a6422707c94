// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/allocator_hooks.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

namespace drgpum::profiler {
namespace {

using Named = std::pair<std::string_view, AllocatorHook>;

constexpr Named kLibraries[] = {
    {"libnvToolsExt", AllocatorHook::kNvtx},     {"libc10", AllocatorHook::kPyTorch},
    {"libtorch", AllocatorHook::kPyTorch},       {"libkokkoscore", AllocatorHook::kKokkos},
    {"librmm", AllocatorHook::kRmm},             {"libpython3", AllocatorHook::kPython},
    {"libtensorflow", AllocatorHook::kTensorFlow}};

constexpr Named kSymbols[] = {
    {"_ZN3c1027reportMemoryUsageToProfiler", AllocatorHook::kPyTorch},
    {"_ZN6Kokkos", AllocatorHook::kKokkos},
    {"_ZN3rmm", AllocatorHook::kRmm},
    {"Py_BytesMain", AllocatorHook::kPython}};

constexpr Named kTexts[] = {{"NVTX_INJECTION64_PATH", AllocatorHook::kNvtx},
                            {"KOKKOS_TOOLS_LIBS", AllocatorHook::kKokkos},
                            {"KOKKOS_PROFILE_LIBRARY", AllocatorHook::kKokkos},
                            {"drgpum_v1_", AllocatorHook::kHeader}};

constexpr Named kModules[] = {
    {"torch", AllocatorHook::kPyTorch},      {"cupy", AllocatorHook::kCupy},
    {"rmm", AllocatorHook::kRmm},            {"cudf", AllocatorHook::kRmm},
    {"cuml", AllocatorHook::kRmm},           {"nvtx", AllocatorHook::kNvtx},
    {"tensorflow", AllocatorHook::kTensorFlow}, {"jax", AllocatorHook::kJax},
    {"drgpum", AllocatorHook::kPython}};

template <std::size_t n>
void note_beginning(const Named (&list)[n], std::string_view name, std::set<AllocatorHook>* hooks) {
  for (const auto& [beginning, hook] : list)
    if (name.starts_with(beginning)) hooks->insert(hook);
}

const char* sentence(AllocatorHook hook) {
  switch (hook) {
    case AllocatorHook::kNvtx:
      return "NVTX: `drgpum run` sees its ranges and names, and the heaps and regions of its memory "
             "extension";
    case AllocatorHook::kPyTorch:
      return "PyTorch 2.1 and later: `drgpum run` sees every block of its caching allocator";
    case AllocatorHook::kKokkos:
      return "Kokkos: `drgpum run` sees the labels of views, kernels and regions";
    case AllocatorHook::kHeader:
      return "drgpum.h: `drgpum run` sees what the program tells";
    case AllocatorHook::kPython:
      return "Python: a script may tell of phases, names and pools with the module drgpum";
    case AllocatorHook::kCupy:
      return "CuPy: arrays of its pool are seen after `import drgpum; drgpum.watch_cupy()` in each "
             "thread";
    case AllocatorHook::kRmm:
      return "RMM: seen after `import drgpum; drgpum.watch_rmm()` in Python; in C++ from a "
             "callback_memory_resource that calls drgpum_alloc and drgpum_free";
    case AllocatorHook::kTensorFlow:
      return "TensorFlow: set TF_GPU_ALLOCATOR=cuda_malloc_async, else its arena is one object";
    case AllocatorHook::kJax:
      return "JAX: set XLA_PYTHON_CLIENT_ALLOCATOR=platform, else its arena is one object";
  }
  return "";
}

}  // namespace

void note_library(std::string_view name, std::set<AllocatorHook>* hooks) {
  note_beginning(kLibraries, name, hooks);
}

void note_symbol(std::string_view name, std::set<AllocatorHook>* hooks) {
  note_beginning(kSymbols, name, hooks);
}

void note_texts(std::span<const unsigned char> data, std::set<AllocatorHook>* hooks) {
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  for (const auto& [name, hook] : kTexts) {
    if (hooks->contains(hook)) continue;
    const std::boyer_moore_horspool_searcher search(name.begin(), name.end());
    if (std::search(text.begin(), text.end(), search) != text.end()) hooks->insert(hook);
  }
}

void note_imports(std::string_view script, std::set<AllocatorHook>* hooks) {
  while (!script.empty()) {
    const std::size_t end = std::min(script.find('\n'), script.size() - 1);
    std::string_view line = script.substr(0, end);
    script.remove_prefix(end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    for (const std::string_view word : {"import ", "from "}) {
      if (!line.starts_with(word)) continue;
      const std::string_view module = line.substr(word.size());
      const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      const auto last = std::find_if_not(module.begin(), module.end(), letter);
      const std::string_view top(module.begin(), last);
      for (const auto& [name, hook] : kModules)
        if (top == name) hooks->insert(hook);
    }
  }
}

std::vector<std::string> describe_hooks(const std::set<AllocatorHook>& hooks) {
  std::vector<std::string> lines;
  for (const AllocatorHook hook : hooks)
    lines.emplace_back(sentence(hook));
  if (lines.empty())
    lines.emplace_back("no hook of an allocator is in it: objects are what it allocates from CUDA; a "
                       "pool of its own can be told with drgpum.h");
  return lines;
}

}  // namespace drgpum::profiler
