// SPDX-License-Identifier: Apache-2.0
#pragma once
// How an exported runtime function is written: the body once, and around it what every call does:
// tell the machine that it starts and ends, with the public parameter struct, and keep its error.

#include <cstdint>

#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include "emulator/runtime/context.h"
#include "emulator/runtime/driver.h"

#define DRGPUM_EXPORT __attribute__((visibility("default")))

namespace drgpum::emulator::runtime {

// One call of a runtime function by the program.
class ApiScope {
 public:
  ApiScope(std::uint32_t id, const char* name, const void* parameters,
           const char* symbol = nullptr);
  ApiScope(const ApiScope&) = delete;
  ApiScope& operator=(const ApiScope&) = delete;
  // Keeps an error as the thread's last one, reports the end and passes the result through.
  cudaError_t finish(cudaError_t result);
  cudaError_t pass(cudaError_t result);  // the same, without keeping it

 private:
  void report(bool enter, cudaError_t* result) const;

  Machine* machine_;
  std::uint32_t id_;
  const char* name_;
  const void* parameters_;
  const char* symbol_;
};

// Which stream "no stream" means to the caller.
enum class DefaultStream { kLegacy, kPerThread };

inline CUstream resolve_stream(CUstream stream, DefaultStream meaning) {
  return stream == nullptr && meaning == DefaultStream::kPerThread ? CU_STREAM_PER_THREAD : stream;
}

}  // namespace drgpum::emulator::runtime

#define DRGPUM_TRACED_EXPORT(name, version, parameters, call, ...)               \
  extern "C" DRGPUM_EXPORT cudaError_t name parameters {                         \
    const name##_##version##_params traced{__VA_ARGS__};                         \
    ApiScope scope(CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name, &traced); \
    return scope.finish(call);                                                   \
  }

// RUNTIME_API(cudaMalloc, v3020, (void** pointer, size_t size), pointer, size) { body }
// `version` is the one in the function's public parameter struct; the rest names the parameters.
#define RUNTIME_API(name, version, parameters, ...)                                      \
  static cudaError_t name##_body parameters;                                             \
  DRGPUM_TRACED_EXPORT(name, version, parameters, name##_body(__VA_ARGS__), __VA_ARGS__) \
  static cudaError_t name##_body parameters

// A function without parameters has no public struct.
#define RUNTIME_API_0(name, version)                                             \
  static cudaError_t name##_body();                                              \
  extern "C" DRGPUM_EXPORT cudaError_t name() {                                  \
    ApiScope scope(CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name, nullptr); \
    return scope.finish(name##_body());                                          \
  }                                                                              \
  static cudaError_t name##_body()

// A function with a parameter named `stream`, and its _ptsz twin.
#define STREAM_API(name, version, ptsz_version, parameters, ...)                                   \
  static cudaError_t name##_body parameters;                                                       \
  DRGPUM_TRACED_EXPORT(name, version, parameters, name##_body(__VA_ARGS__), __VA_ARGS__)           \
  extern "C" DRGPUM_EXPORT cudaError_t name##_ptsz parameters {                                    \
    const name##_ptsz_##ptsz_version##_params traced{__VA_ARGS__};                                 \
    ApiScope scope(CUPTI_RUNTIME_TRACE_CBID_##name##_ptsz_##ptsz_version, #name "_ptsz", &traced); \
    stream = resolve_stream(stream, DefaultStream::kPerThread);                                    \
    return scope.finish(name##_body(__VA_ARGS__));                                                 \
  }                                                                                                \
  static cudaError_t name##_body parameters

// A blocking function without a stream, and its _ptds twin; the body gets `meaning` first.
#define BLOCKING_API(name, version, ptds_version, body_parameters, parameters, ...)                \
  static cudaError_t name##_body body_parameters;                                                  \
  DRGPUM_TRACED_EXPORT(name, version, parameters,                                                  \
                       name##_body(DefaultStream::kLegacy, __VA_ARGS__), __VA_ARGS__)              \
  extern "C" DRGPUM_EXPORT cudaError_t name##_ptds parameters {                                    \
    const name##_ptds_##ptds_version##_params traced{__VA_ARGS__};                                 \
    ApiScope scope(CUPTI_RUNTIME_TRACE_CBID_##name##_ptds_##ptds_version, #name "_ptds", &traced); \
    return scope.finish(name##_body(DefaultStream::kPerThread, __VA_ARGS__));                      \
  }                                                                                                \
  static cudaError_t name##_body body_parameters
