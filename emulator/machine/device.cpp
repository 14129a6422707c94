// SPDX-License-Identifier: Apache-2.0
// Device attributes: those of the preset, those of every CUDA device, and no for the rest.

#include "emulator/machine/device.h"

#include <array>
#include <climits>
#include <cstring>
#include <utility>

namespace drgpum::emulator {
namespace {

using Row = std::pair<CUdevice_attribute, int>;

// Limits that all devices since compute capability 7.5 share (CUDA C++ Programming Guide,
// "Compute Capabilities"), and features that the emulated device has.
constexpr std::array kCommon = {
    Row{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    Row{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    Row{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    Row{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    Row{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT_MAX},
    Row{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    Row{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    Row{CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    Row{CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    Row{CU_DEVICE_ATTRIBUTE_MAX_PITCH, INT_MAX},
    Row{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    Row{CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    Row{CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    Row{CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    Row{CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    Row{CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    Row{CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    Row{CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    Row{CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    Row{CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    Row{CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    Row{CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    Row{CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    Row{CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
    Row{CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    Row{CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    Row{CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    Row{CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    Row{CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    Row{CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 1},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072},
    Row{CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 65536},
};

std::array<Row, 21> own_rows(const Device& device) {
  const Preset& p = device.preset;
  const auto ratio =
      static_cast<int>(p.cost.fp64_lanes > 0 ? p.cost.fp32_lanes / p.cost.fp64_lanes : 0);
  // Up to three quarters of the cache can be set aside for accesses that persist.
  const bool persists = p.compute_major >= 8;
  constexpr int kMaxPolicyWindow = 128 << 20;
  return {{
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, p.shared_per_block},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, p.shared_per_block_optin},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, p.shared_per_multiprocessor},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, p.shared_reserved_per_block},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, p.registers_per_multiprocessor},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, p.clock_khz},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, p.multiprocessors},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, p.memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, p.memory_bus_bits},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, p.l2_bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, p.max_threads_per_multiprocessor},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, p.max_blocks_per_multiprocessor},
      {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, p.copy_engines},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, p.compute_major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, p.compute_minor},
      {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, ratio},
      {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device.ordinal + 1},
      {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0},
      {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, persists ? p.l2_bytes / 4 * 3 : 0},
      {CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, persists ? kMaxPolicyWindow : 0},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, p.compute_major >= 9 ? 1 : 0},
  }};
}

}  // namespace

CUuuid uuid_of(const Device& device) {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "drgpum-emulated", 15);
  uuid.bytes[15] = static_cast<char>(device.ordinal);
  return uuid;
}

CUresult attribute_of(const Device& device, CUdevice_attribute attribute, int* value) {
  if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  *value = 0;
  for (const auto& [number, known] : own_rows(device))
    if (number == attribute) *value = known;
  for (const auto& [number, known] : kCommon)
    if (number == attribute) *value = known;
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator
