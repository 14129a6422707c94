// SPDX-License-Identifier: Apache-2.0
// The patches: device functions that the Sanitizer library calls before each instruction of a
// kind, once per active lane. `slot` is the launch's user data. They return 0, "no error": any
// other value would end the warp. Each exists twice: drgpum_mark_* for object level, drgpum_map_*
// for maps inside the objects. Signatures from NVIDIA's Sanitizer API reference.

#include "gpu_analysis/device_memory.cuh"

namespace {

using drgpum::device::DeviceMemory;
using drgpum::device::LaunchSlot;

using Pc = std::uint64_t;
using SharedAddress = std::uint32_t;

constexpr std::uint32_t kBulkBlockBytes = 16;
constexpr std::uint32_t kBulkBlockMask = 0xffff;  // the upper half holds byte masks and flags

using Marker = void (*)(LaunchSlot*, Pc, std::uint64_t, std::uint32_t, std::uint32_t);

__device__ __forceinline__ void mark(LaunchSlot* slot, Pc, std::uint64_t address,
                                     std::uint32_t size, std::uint32_t access) {
  drgpum::device::mark_access<DeviceMemory>(slot, address, size, access);
}

__device__ __forceinline__ void map(LaunchSlot* slot, Pc pc, std::uint64_t address,
                                    std::uint32_t size, std::uint32_t access) {
  drgpum::device::map_access<DeviceMemory>(slot, pc, address, size, access);
}

template <Marker marker>
__device__ __forceinline__ int global(void* slot, Pc pc, void* address, std::uint32_t size,
                                      std::uint32_t flags) {
  const std::uint32_t access = drgpum::device::access_of_flags(flags);
  if (access != 0 && size != 0) {
    marker(static_cast<LaunchSlot*>(slot), pc, reinterpret_cast<std::uint64_t>(address), size,
           access);
  }
  return 0;
}

template <Marker marker>
__device__ __forceinline__ int range(void* slot, Pc pc, std::uint64_t address, std::uint32_t size,
                                     std::uint32_t access) {
  if (address != 0 && size != 0) marker(static_cast<LaunchSlot*>(slot), pc, address, size, access);
  return 0;
}

}  // namespace

#define DRGPUM_PATCH extern "C" __device__ __noinline__ int

// Loads, stores and atomics of global memory; cp.async (no source: it only fills with zeros);
// cp.async.bulk in blocks of 16 bytes: loads, stores and reductions of global memory.
#define DRGPUM_ACCESS_PATCHES(prefix, marker)                                                     \
  DRGPUM_PATCH prefix##_global(void* slot, Pc pc, void* address, std::uint32_t size,              \
                               std::uint32_t flags, const void*) {                                \
    return global<marker>(slot, pc, address, size, flags);                                        \
  }                                                                                               \
  DRGPUM_PATCH prefix##_async_copy(void* slot, Pc pc, void* source, SharedAddress,                \
                                   std::uint32_t size) {                                          \
    return range<marker>(slot, pc, reinterpret_cast<std::uint64_t>(source), size,                 \
                                       drgpum::device::kReadAccess);                              \
  }                                                                                               \
  DRGPUM_PATCH prefix##_bulk_load(void* slot, Pc pc, std::uint64_t source, SharedAddress,         \
                                  SharedAddress, std::uint32_t blocks) {                          \
    return range<marker>(slot, pc, source, (blocks & kBulkBlockMask) * kBulkBlockBytes,           \
                                       drgpum::device::kReadAccess);                              \
  }                                                                                               \
  DRGPUM_PATCH prefix##_bulk_store(void* slot, Pc pc, std::uint64_t destination, SharedAddress,   \
                                   std::uint32_t blocks) {                                        \
    return range<marker>(slot, pc, destination,                                                   \
                                       (blocks & kBulkBlockMask) * kBulkBlockBytes,               \
                                       drgpum::device::kWriteAccess);                             \
  }                                                                                               \
  DRGPUM_PATCH prefix##_bulk_reduce(void* slot, Pc pc, std::uint64_t destination, SharedAddress,  \
                                    std::uint32_t blocks) {                                       \
    return range<marker>(slot, pc, destination,                                                   \
                                       (blocks & kBulkBlockMask) * kBulkBlockBytes,               \
                                       drgpum::device::kAtomicAccess);                            \
  }

DRGPUM_ACCESS_PATCHES(drgpum_mark, mark)
DRGPUM_ACCESS_PATCHES(drgpum_map, map)

// After a device-side malloc, before a device-side free.
DRGPUM_PATCH drgpum_device_malloc(void* slot, Pc, void* pointer, std::uint64_t size) {
  drgpum::device::note_heap_allocation<DeviceMemory>(
      static_cast<LaunchSlot*>(slot), reinterpret_cast<std::uint64_t>(pointer), size);
  return 0;
}

DRGPUM_PATCH drgpum_device_free(void* slot, Pc, void* pointer) {
  drgpum::device::note_heap_free<DeviceMemory>(static_cast<LaunchSlot*>(slot),
                                               reinterpret_cast<std::uint64_t>(pointer));
  return 0;
}
