// SPDX-License-Identifier: Apache-2.0
// How the library gets into a process: CUDA_INJECTION64_PATH (the driver calls InitializeInjection
// when CUDA starts) or LD_PRELOAD (the constructor). Either alone is enough.

#include <cstdlib>

#include "profiler/nvtx_hooks.h"
#include "profiler/tool.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  drgpum::profiler::start_tool();
  return 1;
}

// What a program's NVTX looks for in the library that NVTX_INJECTION64_PATH names. They start
// nothing: the tool starts with CUDA.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    drgpum::profiler::nvtx::ExportTable export_table) {
  return drgpum::profiler::nvtx::serve_core(export_table);
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    drgpum::profiler::nvtx::ExtensionModule* module) {
  return drgpum::profiler::nvtx::serve_extension(module);
}

namespace {

// Preloaded without the driver's injection: start now, before any CUDA call. With it, programs that
// never use CUDA stay untouched.
__attribute__((constructor)) void start_when_preloaded() {
  const char* injection = std::getenv("CUDA_INJECTION64_PATH");
  if (injection == nullptr || *injection == '\0') drgpum::profiler::start_tool();
}

__attribute__((destructor)) void end_with_process() {
  drgpum::profiler::end_tool();
}

}  // namespace
