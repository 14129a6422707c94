// SPDX-License-Identifier: Apache-2.0
// Devices and their properties.

#include <cstdio>
#include <cstring>

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  MachineCall call;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (call.device(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  MachineCall call;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(call.core().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice ordinal) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", device->preset.name.c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *uuid = uuid_of(*device);
  return CUDA_SUCCESS;
}

// A Windows notion.
CUresult cuDeviceGetLuid(char*, unsigned*, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice ordinal) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = device->memory_bytes;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(std::size_t* width, CUarray_format, unsigned,
                                            CUdevice ordinal) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (width == nullptr) return CUDA_ERROR_INVALID_VALUE;
  int value = 0;
  attribute_of(*device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, &value);
  *width = static_cast<std::size_t>(value);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return attribute_of(*device, attribute, value);
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice ordinal) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto value = [&](CUdevice_attribute attribute) {
    int result = 0;
    attribute_of(*device, attribute, &result);
    return result;
  };
  *properties = {};
  properties->maxThreadsPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  properties->maxThreadsDim[0] = value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  properties->maxThreadsDim[1] = value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  properties->maxThreadsDim[2] = value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  properties->maxGridSize[0] = value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  properties->maxGridSize[1] = value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  properties->maxGridSize[2] = value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  properties->sharedMemPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  properties->totalConstantMemory = value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  properties->SIMDWidth = value(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  properties->memPitch = value(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  properties->regsPerBlock = value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  properties->clockRate = value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  properties->textureAlign = value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *major = device->preset.compute_major;
  *minor = device->preset.compute_minor;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice ordinal) {
  MachineCall call;
  if (call.device(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (text == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", ordinal + 1);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  MachineCall call;
  if (device == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0, bus = 0;
  const bool with_domain = std::sscanf(text, "%x:%x:", &domain, &bus) == 2 &&
                           std::strchr(std::strchr(text, ':') + 1, ':') != nullptr;
  if (!with_domain && std::sscanf(text, "%x:", &bus) != 1) return CUDA_ERROR_INVALID_VALUE;
  if (bus == 0 || call.device(static_cast<int>(bus) - 1) == nullptr)
    return CUDA_ERROR_INVALID_DEVICE;
  *device = static_cast<int>(bus) - 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice ordinal) {
  MachineCall call;
  if (call.device(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (supported == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *supported = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  MachineCall call;
  if (call.device(from) == nullptr || call.device(to) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *can = from != to ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to) {
  MachineCall call;
  if (call.device(from) == nullptr || call.device(to) == nullptr || from == to)
    return CUDA_ERROR_INVALID_DEVICE;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ? 0 : 1;
  return CUDA_SUCCESS;
}

CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget,
                                    CUflushGPUDirectRDMAWritesScope) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace drgpum::emulator::driver
