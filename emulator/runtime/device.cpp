// SPDX-License-Identifier: Apache-2.0
// Devices: count, choice, synchronisation, limits, attributes and peers.
#include <algorithm>
#include <cstring>

#include "emulator/runtime/api.h"

namespace drgpum::emulator::runtime {
namespace {

// The driver handle of an ordinal; cudaErrorInvalidDevice for one that is not there.
cudaError_t device_handle(int ordinal, CUdevice* device) {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  return to_error(CU(cuDeviceGet)(device, ordinal));
}

}  // namespace

RUNTIME_API(cudaGetDeviceCount, v3020, (int* count), count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  *count = 0;
  RETURN_IF_CUDA_ERROR(ensure_driver());
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGetCount)(count));
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

RUNTIME_API(cudaSetDevice, v3020, (int device), device) {
  return select_device(device);
}

RUNTIME_API(cudaInitDevice, v12000, (int device, unsigned device_flags, unsigned flags), device,
            device_flags, flags) {
  CUdevice handle = 0;
  RETURN_IF_CUDA_ERROR(device_handle(device, &handle));
  if ((flags & cudaInitDeviceFlagsAreValid) != 0)
    RETURN_IF_CUDA_ERROR(CU(cuDevicePrimaryCtxSetFlags)(handle, device_flags));
  CUcontext before = current_context();
  RETURN_IF_CUDA_ERROR(select_device(device));
  return before == nullptr ? cudaSuccess : to_error(CU(cuCtxSetCurrent)(before));
}

RUNTIME_API(cudaGetDevice, v3020, (int* device), device) {
  if (device == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_driver());
  *device = current_device();
  return cudaSuccess;
}

RUNTIME_API(cudaSetValidDevices, v3020, (int* devices, int count), devices, count) {
  if (devices == nullptr && count != 0) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_driver());
  return count > 0 ? select_device(devices[0]) : cudaSuccess;
}

RUNTIME_API(cudaSetDeviceFlags, v3020, (unsigned flags), flags) {
  CUdevice device = 0;
  RETURN_IF_CUDA_ERROR(device_handle(current_device(), &device));
  return to_error(CU(cuDevicePrimaryCtxSetFlags)(device, flags));
}

RUNTIME_API(cudaGetDeviceFlags, v7000, (unsigned* flags), flags) {
  if (flags == nullptr) return cudaErrorInvalidValue;
  CUdevice device = 0;
  RETURN_IF_CUDA_ERROR(device_handle(current_device(), &device));
  int active = 0;
  RETURN_IF_CUDA_ERROR(CU(cuDevicePrimaryCtxGetState)(device, flags, &active));
  *flags |= cudaDeviceMapHost;  // always on with unified addresses
  return cudaSuccess;
}

RUNTIME_API_0(cudaDeviceReset, v3020) {
  return reset_device();
}

RUNTIME_API_0(cudaDeviceSynchronize, v3020) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuCtxSynchronize)());
}

RUNTIME_API(cudaDeviceSetLimit, v3020, (cudaLimit limit, std::size_t value), limit, value) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuCtxSetLimit)(static_cast<CUlimit>(limit), value));
}

RUNTIME_API(cudaDeviceGetLimit, v3020, (std::size_t * value, cudaLimit limit), value, limit) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuCtxGetLimit)(value, static_cast<CUlimit>(limit)));
}

RUNTIME_API(cudaDeviceGetCacheConfig, v3020, (cudaFuncCache * config), config) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  CUfunc_cache value{};
  RETURN_IF_CUDA_ERROR(CU(cuCtxGetCacheConfig)(&value));
  *config = static_cast<cudaFuncCache>(value);
  return cudaSuccess;
}

RUNTIME_API(cudaDeviceSetCacheConfig, v3020, (cudaFuncCache config), config) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuCtxSetCacheConfig)(static_cast<CUfunc_cache>(config)));
}

// Bank sizes cannot be chosen since compute capability 5.0: the setting is taken and means nothing.
RUNTIME_API(cudaDeviceGetSharedMemConfig, v4020, (cudaSharedMemConfig * config), config) {
  if (config == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_context());
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

RUNTIME_API(cudaDeviceSetSharedMemConfig, v4020, (cudaSharedMemConfig config), config) {
  if (config > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
  return ensure_context();
}

RUNTIME_API(cudaDeviceGetStreamPriorityRange, v5050, (int* least, int* greatest), least, greatest) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuCtxGetStreamPriorityRange)(least, greatest));
}

RUNTIME_API(cudaDeviceGetByPCIBusId, v4010, (int* device, const char* bus_id), device, bus_id) {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  return to_error(CU(cuDeviceGetByPCIBusId)(device, bus_id));
}

RUNTIME_API(cudaDeviceGetPCIBusId, v4010, (char* bus_id, int length, int device), bus_id, length,
            device) {
  CUdevice handle = 0;
  RETURN_IF_CUDA_ERROR(device_handle(device, &handle));
  return to_error(CU(cuDeviceGetPCIBusId)(bus_id, length, handle));
}

// Runtime and driver number device attributes alike.
RUNTIME_API(cudaDeviceGetAttribute, v5000, (int* value, cudaDeviceAttr attribute, int device),
            value, attribute, device) {
  CUdevice handle = 0;
  RETURN_IF_CUDA_ERROR(device_handle(device, &handle));
  return to_error(
      CU(cuDeviceGetAttribute)(value, static_cast<CUdevice_attribute>(attribute), handle));
}

RUNTIME_API(cudaDeviceGetP2PAttribute, v8000,
            (int* value, cudaDeviceP2PAttr attribute, int source, int destination), value,
            attribute, source, destination) {
  CUdevice from = 0;
  CUdevice to = 0;
  RETURN_IF_CUDA_ERROR(device_handle(source, &from));
  RETURN_IF_CUDA_ERROR(device_handle(destination, &to));
  return to_error(
      CU(cuDeviceGetP2PAttribute)(value, static_cast<CUdevice_P2PAttribute>(attribute), from, to));
}

RUNTIME_API(cudaDeviceCanAccessPeer, v4000, (int* can, int device, int peer), can, device, peer) {
  CUdevice from = 0;
  CUdevice to = 0;
  RETURN_IF_CUDA_ERROR(device_handle(device, &from));
  RETURN_IF_CUDA_ERROR(device_handle(peer, &to));
  return to_error(CU(cuDeviceCanAccessPeer)(can, from, to));
}

namespace {

// The peer's primary context, which the runtime makes when it has to.
cudaError_t peer_context(int peer, CUcontext* context) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  CUdevice handle = 0;
  RETURN_IF_CUDA_ERROR(device_handle(peer, &handle));
  return to_error(CU(cuDevicePrimaryCtxRetain)(context, handle));
}

}  // namespace

RUNTIME_API(cudaDeviceEnablePeerAccess, v4000, (int peer, unsigned flags), peer, flags) {
  CUcontext context = nullptr;
  RETURN_IF_CUDA_ERROR(peer_context(peer, &context));
  return to_error(CU(cuCtxEnablePeerAccess)(context, flags));
}

RUNTIME_API(cudaDeviceDisablePeerAccess, v4000, (int peer), peer) {
  CUcontext context = nullptr;
  RETURN_IF_CUDA_ERROR(peer_context(peer, &context));
  return to_error(CU(cuCtxDisablePeerAccess)(context));
}

RUNTIME_API(cudaDriverGetVersion, v3020, (int* version), version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = 0;  // documented: no driver
  return driver_is_there() ? to_error(CU(cuDriverGetVersion)(version)) : cudaSuccess;
}

RUNTIME_API(cudaRuntimeGetVersion, v3020, (int* version), version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

}  // namespace drgpum::emulator::runtime
