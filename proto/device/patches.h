// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compiled device code of gpu_analysis, as images for sanitizerAddPatches, and its functions.

#include <cstddef>
#include <span>

namespace drgpum::device {

// Machine code for sm_75 to sm_121 and PTX for later devices, in the format of CUDA 13.
std::span<const std::byte> patch_image();

// PTX of the same functions, marked with an old enough version for CUDA 11.8 and 12.x drivers,
// which load no machine code of CUDA 13.
std::span<const std::byte> portable_patch_image();

// The pattern kernels (map_summary.h): PTX for every driver from CUDA 11.8 on, as a module.
std::span<const std::byte> pattern_image();

// Device functions in both images; signatures in patches.cu.
struct PatchNames {
  const char* global;       // SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS
  const char* async_copy;   // MEMCPY_ASYNC
  const char* bulk_load;    // BULK_COPY_GLOBAL_TO_SHARED
  const char* bulk_store;   // BULK_COPY_SHARED_TO_GLOBAL
  const char* bulk_reduce;  // BULK_REDUCTION_SHARED_TO_GLOBAL
};
inline constexpr PatchNames kMarkPatches{"drgpum_mark_global", "drgpum_mark_async_copy",
                                         "drgpum_mark_bulk_load", "drgpum_mark_bulk_store",
                                         "drgpum_mark_bulk_reduce"};
inline constexpr PatchNames kMapPatches{"drgpum_map_global", "drgpum_map_async_copy",
                                        "drgpum_map_bulk_load", "drgpum_map_bulk_store",
                                        "drgpum_map_bulk_reduce"};
inline constexpr const char* kDeviceMallocPatch = "drgpum_device_malloc";
inline constexpr const char* kDeviceFreePatch = "drgpum_device_free";

}  // namespace drgpum::device
