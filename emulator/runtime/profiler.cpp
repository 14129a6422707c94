// SPDX-License-Identifier: Apache-2.0
// The program's marks for profilers. Their header is not part of every toolkit package.
#include "emulator/runtime/api.h"

extern "C" CUresult cuProfilerStart();
extern "C" CUresult cuProfilerStop();

namespace drgpum::emulator::runtime {

extern "C" DRGPUM_EXPORT cudaError_t cudaProfilerStart() {
  ApiScope scope(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, "cudaProfilerStart", nullptr);
  const cudaError_t ready = ensure_context();
  return scope.finish(ready != cudaSuccess ? ready : to_error(CU(cuProfilerStart)()));
}

extern "C" DRGPUM_EXPORT cudaError_t cudaProfilerStop() {
  ApiScope scope(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, "cudaProfilerStop", nullptr);
  const cudaError_t ready = ensure_context();
  return scope.finish(ready != cudaSuccess ? ready : to_error(CU(cuProfilerStop)()));
}

}  // namespace drgpum::emulator::runtime
