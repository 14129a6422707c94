// SPDX-License-Identifier: Apache-2.0
#pragma once
// What surrounds every call of a served driver function: the state that all calls share, and the
// word to observers before and after. Without observers it costs a few loads.

#include <cstddef>
#include <cstdint>

#include <cuda.h>

namespace drgpum::emulator::driver {

struct ApiFunction {
  std::uint32_t id;  // public callback id
  const char* name;
  bool per_thread;  // a variant for per-thread default streams
  bool early;       // served before cuInit
};

// What cuGetProcAddress finds.
struct EntryPoint {
  const char* plain_name;  // without version and variant
  const char* name;
  void* address;
  int since;  // CUDA version from which on the plain name means this one
  bool per_thread;
};

struct ErrorName {
  CUresult code;
  const char* name;
};

// Whether the call being made on this thread is of a per-thread default stream variant.
bool per_thread_default();

// A non-success result refuses the call before anything is told: the driver is not initialised, or
// this is a forked child of the process that uses it.
CUresult begin_call(const ApiFunction& function);

void tell_enter(const ApiFunction& function, const void* parameters, CUfunction launched);
void tell_exit(const ApiFunction& function, const void* parameters, CUfunction launched,
               CUresult* result);
bool is_observed();
bool set_per_thread_default(bool value);

// For functions that are not served: says so once with DRGPUM_EMULATOR_LOG.
CUresult not_served(const char* name);

// For calls that are served but not with these arguments: what, and what to do, with the log on.
CUresult unsupported(const char* what);

template <typename Body>
CUresult call_api(const ApiFunction& function, const void* parameters, CUfunction launched,
                  const Body& body) {
  if (const CUresult refused = begin_call(function); refused != CUDA_SUCCESS) return refused;
  const bool outer = set_per_thread_default(function.per_thread);
  CUresult result;
  if (!is_observed()) {
    result = body();
  } else {
    tell_enter(function, parameters, launched);
    result = body();
    tell_exit(function, parameters, launched, &result);
  }
  set_per_thread_default(outer);
  return result;
}

}  // namespace drgpum::emulator::driver
