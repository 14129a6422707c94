// SPDX-License-Identifier: Apache-2.0
#pragma once
// The driver under the runtime: libcuda.so.1, opened at the first call that needs it, so that
// loading the runtime alone does no harm. Only public driver functions are called; whatever
// libcuda.so.1 the loader finds will do.

#include <cuda.h>

namespace drgpum::emulator {
class Machine;
}

namespace drgpum::emulator::runtime {

// A driver function that may be missing: calling it then gives CUDA_ERROR_NOT_SUPPORTED.
template <typename F>
class DriverCall;

template <typename... Args>
class DriverCall<CUresult (*)(Args...)> {
 public:
  explicit DriverCall(void* symbol) : function_(reinterpret_cast<CUresult (*)(Args...)>(symbol)) {}
  CUresult operator()(Args... args) const {
    return function_ == nullptr ? CUDA_ERROR_NOT_SUPPORTED : function_(args...);
  }

 private:
  CUresult (*function_)(Args...);
};

bool driver_is_there();
// Null when the driver or the symbol is missing; a missing symbol is logged (DRGPUM_EMULATOR_LOG).
void* driver_symbol(const char* name);

// The emulated machine, when the driver below is the emulated one; else null.
Machine* machine();

// Writes one line to stderr when DRGPUM_EMULATOR_LOG is set.
void log(const char* what, const char* name);

}  // namespace drgpum::emulator::runtime

#define DRGPUM_STRING_(x) #x
#define DRGPUM_STRING(x) DRGPUM_STRING_(x)
#define DRGPUM_DRIVER_SYMBOL(type, symbol)                                        \
  ([]() -> const auto& {                                                          \
    static const ::drgpum::emulator::runtime::DriverCall<decltype(&(type))> call( \
        ::drgpum::emulator::runtime::driver_symbol(symbol));                      \
    return call;                                                                  \
  }())
// CU(cuMemAlloc)(...) calls the version of the function that cuda.h names.
#define CU(function) DRGPUM_DRIVER_SYMBOL(function, DRGPUM_STRING(function))
// The same on the per-thread default stream: `suffix` is ptds or ptsz.
#define CU_PER_THREAD(function, suffix) \
  DRGPUM_DRIVER_SYMBOL(function, DRGPUM_STRING(function) "_" #suffix)
// One of both, by what the calling function means by "no stream".
#define CU_MEANING(meaning, function)                                  \
  ((meaning) == ::drgpum::emulator::runtime::DefaultStream::kPerThread \
       ? CU_PER_THREAD(function, ptds)                                 \
       : CU(function))
