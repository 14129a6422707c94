// SPDX-License-Identifier: Apache-2.0
// A tool as the driver loads it: leaves a mark in the environment.

#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* before = std::getenv("DRGPUM_TEST_INJECTED");
  setenv("DRGPUM_TEST_INJECTED", before == nullptr ? "once" : "twice", 1);
  return 1;
}
