// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress, and the private tables that are not served.

#include <atomic>
#include <string>
#include <string_view>

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {

extern const EntryPoint kEntryPoints[];
extern const std::size_t kEntryPointCount;

namespace {

// The newest variant that the asked version knows; a version of 0 takes the newest of all.
const EntryPoint* find_entry_point(std::string_view symbol, int version, bool per_thread) {
  const EntryPoint* best = nullptr;
  for (std::size_t i = 0; i < kEntryPointCount; ++i) {
    const EntryPoint& point = kEntryPoints[i];
    if (symbol == point.name) return &point;
    if (symbol != point.plain_name || point.per_thread != per_thread) continue;
    if (version != 0 && point.since > version) continue;
    if (best == nullptr || point.since > best->since) best = &point;
  }
  // Functions without a stream have no variant.
  if (best == nullptr && per_thread) return find_entry_point(symbol, version, false);
  return best;
}

}  // namespace

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const EntryPoint* point = find_entry_point(symbol, version, per_thread);
  *function = point != nullptr ? point->address : nullptr;
  if (status != nullptr)
    *status = point != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (point == nullptr) MachineCore::instance().log(std::string(symbol) + " is not served");
  return point != nullptr || status != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_v1(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

// Tables of functions that NVIDIA's own libraries use among themselves. They are not public.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    MachineCore::instance().report_problem(
        "static-runtime",
        "a CUDA runtime of NVIDIA's own is linked into this program, or into a library that it "
        "uses such as cuBLAS: that runtime refuses to work without NVIDIA's driver. Link the "
        "program with nvcc -cudart shared (any build: NVCC_APPEND_FLAGS=\"-cudart shared\"; CMake: "
        "set CUDA_RUNTIME_LIBRARY to Shared)");
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace drgpum::emulator::driver
