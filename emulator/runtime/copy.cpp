// SPDX-License-Identifier: Apache-2.0
// Copies of linear memory and of variables.
#include "emulator/runtime/api.h"
#include "emulator/runtime/registry.h"

namespace drgpum::emulator::runtime {
namespace {

CUdeviceptr device_pointer(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

bool known(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

cudaError_t copy(DefaultStream meaning, void* destination, const void* source, std::size_t size,
                 cudaMemcpyKind kind) {
  if (!known(kind)) return cudaErrorInvalidMemcpyDirection;
  RETURN_IF_CUDA_ERROR(ensure_context());
  if (size == 0) return cudaSuccess;
  const CUdeviceptr to = device_pointer(destination);
  const CUdeviceptr from = device_pointer(source);
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return to_error(CU_MEANING(meaning, cuMemcpyHtoD)(to, source, size));
    case cudaMemcpyDeviceToHost:
      return to_error(CU_MEANING(meaning, cuMemcpyDtoH)(destination, from, size));
    case cudaMemcpyDeviceToDevice:
      return to_error(CU_MEANING(meaning, cuMemcpyDtoD)(to, from, size));
    default:
      return to_error(CU_MEANING(meaning, cuMemcpy)(to, from, size));
  }
}

cudaError_t copy_async(void* destination, const void* source, std::size_t size, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  if (!known(kind)) return cudaErrorInvalidMemcpyDirection;
  RETURN_IF_CUDA_ERROR(ensure_context());
  if (size == 0) return cudaSuccess;
  const CUdeviceptr to = device_pointer(destination);
  const CUdeviceptr from = device_pointer(source);
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return to_error(CU(cuMemcpyHtoDAsync)(to, source, size, stream));
    case cudaMemcpyDeviceToHost:
      return to_error(CU(cuMemcpyDtoHAsync)(destination, from, size, stream));
    case cudaMemcpyDeviceToDevice:
      return to_error(CU(cuMemcpyDtoDAsync)(to, from, size, stream));
    default:
      return to_error(CU(cuMemcpyAsync)(to, from, size, stream));
  }
}

// The bytes [offset, offset + size) of a variable.
cudaError_t part_of_symbol(const void* symbol, std::size_t offset, std::size_t size, void** part) {
  CUdeviceptr address = 0;
  std::size_t whole = 0;
  RETURN_IF_CUDA_ERROR(registry().address_of(symbol, &address, &whole));
  if (offset > whole || size > whole - offset) return cudaErrorInvalidValue;
  *part = reinterpret_cast<void*>(address + offset);
  return cudaSuccess;
}

bool to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

bool from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

}  // namespace

BLOCKING_API(cudaMemcpy, v3020, v7000,
             (DefaultStream meaning, void* destination, const void* source, std::size_t size,
              cudaMemcpyKind kind),
             (void* destination, const void* source, std::size_t size, cudaMemcpyKind kind),
             destination, source, size, kind) {
  return copy(meaning, destination, source, size, kind);
}

STREAM_API(cudaMemcpyAsync, v3020, v7000,
           (void* destination, const void* source, std::size_t size, cudaMemcpyKind kind,
            cudaStream_t stream),
           destination, source, size, kind, stream) {
  return copy_async(destination, source, size, kind, stream);
}

BLOCKING_API(cudaMemcpyToSymbol, v3020, v7000,
             (DefaultStream meaning, const void* symbol, const void* source, std::size_t size,
              std::size_t offset, cudaMemcpyKind kind),
             (const void* symbol, const void* source, std::size_t size, std::size_t offset,
              cudaMemcpyKind kind),
             symbol, source, size, offset, kind) {
  if (!to_device(kind)) return cudaErrorInvalidMemcpyDirection;
  void* part = nullptr;
  RETURN_IF_CUDA_ERROR(part_of_symbol(symbol, offset, size, &part));
  return copy(meaning, part, source, size, kind);
}

BLOCKING_API(cudaMemcpyFromSymbol, v3020, v7000,
             (DefaultStream meaning, void* destination, const void* symbol, std::size_t size,
              std::size_t offset, cudaMemcpyKind kind),
             (void* destination, const void* symbol, std::size_t size, std::size_t offset,
              cudaMemcpyKind kind),
             destination, symbol, size, offset, kind) {
  if (!from_device(kind)) return cudaErrorInvalidMemcpyDirection;
  void* part = nullptr;
  RETURN_IF_CUDA_ERROR(part_of_symbol(symbol, offset, size, &part));
  return copy(meaning, destination, part, size, kind);
}

STREAM_API(cudaMemcpyToSymbolAsync, v3020, v7000,
           (const void* symbol, const void* source, std::size_t size, std::size_t offset,
            cudaMemcpyKind kind, cudaStream_t stream),
           symbol, source, size, offset, kind, stream) {
  if (!to_device(kind)) return cudaErrorInvalidMemcpyDirection;
  void* part = nullptr;
  RETURN_IF_CUDA_ERROR(part_of_symbol(symbol, offset, size, &part));
  return copy_async(part, source, size, kind, stream);
}

STREAM_API(cudaMemcpyFromSymbolAsync, v3020, v7000,
           (void* destination, const void* symbol, std::size_t size, std::size_t offset,
            cudaMemcpyKind kind, cudaStream_t stream),
           destination, symbol, size, offset, kind, stream) {
  if (!from_device(kind)) return cudaErrorInvalidMemcpyDirection;
  void* part = nullptr;
  RETURN_IF_CUDA_ERROR(part_of_symbol(symbol, offset, size, &part));
  return copy_async(destination, part, size, kind, stream);
}

RUNTIME_API(cudaGetSymbolAddress, v3020, (void** pointer, const void* symbol), pointer, symbol) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  CUdeviceptr address = 0;
  std::size_t size = 0;
  RETURN_IF_CUDA_ERROR(registry().address_of(symbol, &address, &size));
  *pointer = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

RUNTIME_API(cudaGetSymbolSize, v3020, (std::size_t * size, const void* symbol), size, symbol) {
  if (size == nullptr) return cudaErrorInvalidValue;
  CUdeviceptr address = 0;
  return registry().address_of(symbol, &address, size);
}

namespace {

cudaError_t primary_context(int device, CUcontext* context) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  CUdevice handle = 0;
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGet)(&handle, device));
  return to_error(CU(cuDevicePrimaryCtxRetain)(context, handle));
}

}  // namespace

RUNTIME_API(cudaMemcpyPeer, v4000,
            (void* destination, int destination_device, const void* source, int source_device,
             std::size_t size),
            destination, destination_device, source, source_device, size) {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  RETURN_IF_CUDA_ERROR(primary_context(destination_device, &to));
  RETURN_IF_CUDA_ERROR(primary_context(source_device, &from));
  if (size == 0) return cudaSuccess;
  return to_error(
      CU(cuMemcpyPeer)(device_pointer(destination), to, device_pointer(source), from, size));
}

RUNTIME_API(cudaMemcpyPeerAsync, v4000,
            (void* destination, int destination_device, const void* source, int source_device,
             std::size_t size, cudaStream_t stream),
            destination, destination_device, source, source_device, size, stream) {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  RETURN_IF_CUDA_ERROR(primary_context(destination_device, &to));
  RETURN_IF_CUDA_ERROR(primary_context(source_device, &from));
  if (size == 0) return cudaSuccess;
  return to_error(CU(cuMemcpyPeerAsync)(device_pointer(destination), to, device_pointer(source),
                                        from, size, stream));
}

}  // namespace drgpum::emulator::runtime
