// SPDX-License-Identifier: Apache-2.0
// cuInit, versions, and the loading of an injected tool.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include <dlfcn.h>

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {
namespace {

constexpr int kDriverVersion = 13000;

// Loads the library that CUDA_INJECTION64_PATH names and calls its InitializeInjection, as NVIDIA's
// driver does (CUPTI documentation, "CUPTI initialization"). The machine's lock is free: the tool
// calls back into it.
void load_injection() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == 0) return;
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

// Threads that come meanwhile wait, so that the tool sees their calls. The tool itself may call
// cuInit. A thread that comes from the constructor of a library being loaded holds the loader's
// lock, which loading the tool needs: so none waits for ever.
void load_injection_once() {
  constexpr std::chrono::seconds kPatience{5};
  static thread_local bool loads = false;
  static std::atomic<bool> is_loaded{false};
  static auto& mutex = *new std::mutex;  // not a timed one, which the thread sanitizer does not see
  static auto& changed = *new std::condition_variable;
  static bool is_loading = false;  // under the mutex
  if (loads || is_loaded.load(std::memory_order_acquire)) return;
  std::unique_lock lock(mutex);
  if (!changed.wait_for(lock, kPatience, [] { return !is_loading; })) return;
  if (is_loaded.load(std::memory_order_acquire)) return;
  is_loading = true;
  lock.unlock();
  loads = true;
  load_injection();
  loads = false;
  lock.lock();
  is_loading = false;
  is_loaded.store(true, std::memory_order_release);
  changed.notify_all();
}

}  // namespace

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = MachineCore::instance().initialise();
  if (result == CUDA_SUCCESS) load_injection_once();
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
