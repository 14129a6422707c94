// SPDX-License-Identifier: Apache-2.0
// Opens the driver and looks its functions up.
#include "emulator/runtime/driver.h"

#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

namespace drgpum::emulator::runtime {
namespace {

void* driver_library() {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  return library;
}

}  // namespace

bool driver_is_there() {
  return driver_library() != nullptr;
}

void* driver_symbol(const char* name) {
  if (!driver_is_there()) return nullptr;
  void* symbol = dlsym(driver_library(), name);
  if (symbol == nullptr) log("the driver lacks", name);
  return symbol;
}

Machine* machine() {
  using Get = Machine* (*)();
  static const Get get =
      driver_is_there() ? reinterpret_cast<Get>(dlsym(driver_library(), "drgpum_emulator_machine"))
                        : nullptr;
  return get == nullptr ? nullptr : get();
}

void log(const char* what, const char* name) {
  static const bool wanted = std::getenv("DRGPUM_EMULATOR_LOG") != nullptr;
  if (wanted) std::fprintf(stderr, "drgpum: emulated CUDA runtime: %s %s\n", what, name);
}

}  // namespace drgpum::emulator::runtime
