// SPDX-License-Identifier: Apache-2.0
// cuInit, versions, and the loading of an injected tool.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {
namespace {

constexpr int kDriverVersion = 13000;

// Loads the library that CUDA_INJECTION64_PATH names and calls its InitializeInjection, as NVIDIA's
// driver does (CUPTI documentation, "CUPTI initialization"). Once, and with no lock held: the tool
// calls back into the machine.
void load_injection() {
  static std::atomic<bool> loaded{false};
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == 0 || loaded.exchange(true)) return;
  MachineCore& core = MachineCore::instance();
  void* tool = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (tool == nullptr) {
    core.report_problem("injection", std::string("CUDA_INJECTION64_PATH: ") + dlerror());
    return;
  }
  const auto initialise =
      reinterpret_cast<int (*)()>(dlsym(tool, "InitializeInjection"));  // NOLINT: what dlsym gives
  if (initialise == nullptr || initialise() == 0)
    core.report_problem("injection", std::string(path) +
                                         ": InitializeInjection is missing or has failed; the "
                                         "program runs without the tool");
}

}  // namespace

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = MachineCore::instance().initialise();
  if (result == CUDA_SUCCESS) load_injection();
  return result;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult cuProfilerInitialize(const char*, const char*, int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

// They are for tools, which see them as calls.
CUresult cuProfilerStart() {
  return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver

extern "C" __attribute__((visibility("default"))) drgpum::emulator::Machine*
drgpum_emulator_machine() {
  return &drgpum::emulator::MachineCore::instance();
}
