// SPDX-License-Identifier: Apache-2.0
// Two- and three-dimensional copies.
#include "emulator/runtime/box_copy.h"

#include <utility>

#include "emulator/runtime/array.h"
#include "emulator/runtime/forward.h"

namespace drgpum::emulator::runtime {
namespace {

CUdeviceptr device_pointer(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

struct Sides {
  CUmemorytype source;
  CUmemorytype destination;
};

// What a direction says about memory that is no array.
cudaError_t sides_of(cudaMemcpyKind kind, Sides* sides) {
  constexpr auto kHost = CU_MEMORYTYPE_HOST;
  constexpr auto kDevice = CU_MEMORYTYPE_DEVICE;
  switch (kind) {
    case cudaMemcpyHostToHost:
      *sides = {kHost, kHost};
      return cudaSuccess;
    case cudaMemcpyHostToDevice:
      *sides = {kHost, kDevice};
      return cudaSuccess;
    case cudaMemcpyDeviceToHost:
      *sides = {kDevice, kHost};
      return cudaSuccess;
    case cudaMemcpyDeviceToDevice:
      *sides = {kDevice, kDevice};
      return cudaSuccess;
    case cudaMemcpyDefault:
      *sides = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED};
      return cudaSuccess;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
}

// Positions and extents count elements where an array takes part and bytes elsewhere.
struct Units {
  std::size_t source = 1;
  std::size_t destination = 1;
  std::size_t extent = 1;
};

cudaError_t units_of(const cudaMemcpy3DParms& p, Units* units) {
  if (p.srcArray != nullptr) RETURN_IF_CUDA_ERROR(array_element_bytes(p.srcArray, &units->source));
  if (p.dstArray != nullptr)
    RETURN_IF_CUDA_ERROR(array_element_bytes(p.dstArray, &units->destination));
  if (p.srcArray != nullptr && p.dstArray != nullptr && units->source != units->destination)
    return cudaErrorInvalidValue;
  units->extent = p.srcArray != nullptr ? units->source : units->destination;
  return cudaSuccess;
}

void fill_source(const cudaMemcpy3DParms& p, CUmemorytype type, std::size_t unit,
                 CUDA_MEMCPY3D* copy) {
  copy->srcXInBytes = p.srcPos.x * unit;
  copy->srcY = p.srcPos.y;
  copy->srcZ = p.srcPos.z;
  copy->srcMemoryType = p.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : type;
  copy->srcArray = driver_array(p.srcArray);
  if (p.srcArray != nullptr) return;
  if (type == CU_MEMORYTYPE_HOST)
    copy->srcHost = p.srcPtr.ptr;
  else
    copy->srcDevice = device_pointer(p.srcPtr.ptr);
  copy->srcPitch = p.srcPtr.pitch;
  copy->srcHeight = p.srcPtr.ysize;
}

void fill_destination(const cudaMemcpy3DParms& p, CUmemorytype type, std::size_t unit,
                      CUDA_MEMCPY3D* copy) {
  copy->dstXInBytes = p.dstPos.x * unit;
  copy->dstY = p.dstPos.y;
  copy->dstZ = p.dstPos.z;
  copy->dstMemoryType = p.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : type;
  copy->dstArray = driver_array(p.dstArray);
  if (p.dstArray != nullptr) return;
  if (type == CU_MEMORYTYPE_HOST)
    copy->dstHost = p.dstPtr.ptr;
  else
    copy->dstDevice = device_pointer(p.dstPtr.ptr);
  copy->dstPitch = p.dstPtr.pitch;
  copy->dstHeight = p.dstPtr.ysize;
}

bool pitches_fit(const CUDA_MEMCPY3D& copy) {
  if (copy.Height <= 1 && copy.Depth <= 1) return true;
  const bool source =
      copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.srcPitch >= copy.WidthInBytes;
  return source &&
         (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstPitch >= copy.WidthInBytes);
}

// The corner of an array at a byte offset of a row; the offset must be that of an element.
cudaError_t corner(cudaArray_const_t array, std::size_t x_bytes, std::size_t y, cudaPos* position) {
  std::size_t unit = 1;
  RETURN_IF_CUDA_ERROR(array_element_bytes(array, &unit));
  if (x_bytes % unit != 0) return cudaErrorInvalidValue;
  *position = {x_bytes / unit, y, 0};
  return cudaSuccess;
}

struct Rectangle {
  std::size_t width;  // bytes
  std::size_t height;
};

// One side of a two-dimensional copy.
struct Side {
  const void* pointer = nullptr;
  std::size_t pitch = 0;
  cudaArray_const_t array = nullptr;
  std::size_t x = 0;  // bytes
  std::size_t y = 0;
};

cudaError_t box_of(const Side& to, const Side& from, const Rectangle& size, cudaMemcpyKind kind,
                   cudaMemcpy3DParms* box) {
  *box = {};
  box->kind = kind;
  box->extent = {size.width, size.height, 1};
  box->srcArray = const_cast<cudaArray_t>(from.array);
  box->dstArray = const_cast<cudaArray_t>(to.array);
  box->srcPtr = {const_cast<void*>(from.pointer), from.pitch, size.width, size.height};
  box->dstPtr = {const_cast<void*>(to.pointer), to.pitch, size.width, size.height};
  if (from.array != nullptr) RETURN_IF_CUDA_ERROR(corner(from.array, from.x, from.y, &box->srcPos));
  if (to.array != nullptr) RETURN_IF_CUDA_ERROR(corner(to.array, to.x, to.y, &box->dstPos));
  cudaArray_const_t array = from.array != nullptr ? from.array : to.array;
  if (array == nullptr) return cudaSuccess;
  std::size_t unit = 1;
  RETURN_IF_CUDA_ERROR(array_element_bytes(array, &unit));
  if (size.width % unit != 0) return cudaErrorInvalidValue;
  box->extent.width = size.width / unit;
  return cudaSuccess;
}

CUDA_MEMCPY2D flat(const CUDA_MEMCPY3D& box) {
  CUDA_MEMCPY2D copy{};
  copy.srcXInBytes = box.srcXInBytes;
  copy.srcY = box.srcY;
  copy.srcMemoryType = box.srcMemoryType;
  copy.srcHost = box.srcHost;
  copy.srcDevice = box.srcDevice;
  copy.srcArray = box.srcArray;
  copy.srcPitch = box.srcPitch;
  copy.dstXInBytes = box.dstXInBytes;
  copy.dstY = box.dstY;
  copy.dstMemoryType = box.dstMemoryType;
  copy.dstHost = box.dstHost;
  copy.dstDevice = box.dstDevice;
  copy.dstArray = box.dstArray;
  copy.dstPitch = box.dstPitch;
  copy.WidthInBytes = box.WidthInBytes;
  copy.Height = box.Height;
  return copy;
}

cudaError_t prepare(const Side& to, const Side& from, const Rectangle& size, cudaMemcpyKind kind,
                    CUDA_MEMCPY3D* copy) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  cudaMemcpy3DParms box;
  RETURN_IF_CUDA_ERROR(box_of(to, from, size, kind, &box));
  return driver_copy(box, copy);
}

cudaError_t copy_rectangle(DefaultStream meaning, const Side& to, const Side& from,
                           const Rectangle& size, cudaMemcpyKind kind) {
  CUDA_MEMCPY3D copy{};
  RETURN_IF_CUDA_ERROR(prepare(to, from, size, kind, &copy));
  if (is_empty(copy)) return cudaSuccess;
  const CUDA_MEMCPY2D rectangle = flat(copy);
  return to_error(CU_MEANING(meaning, cuMemcpy2DUnaligned)(&rectangle));
}

cudaError_t copy_rectangle_async(const Side& to, const Side& from, const Rectangle& size,
                                 cudaMemcpyKind kind, CUstream stream) {
  CUDA_MEMCPY3D copy{};
  RETURN_IF_CUDA_ERROR(prepare(to, from, size, kind, &copy));
  if (is_empty(copy)) return cudaSuccess;
  const CUDA_MEMCPY2D rectangle = flat(copy);
  return to_error(CU(cuMemcpy2DAsync)(&rectangle, stream));
}

}  // namespace

cudaError_t driver_copy(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy) {
  Sides sides{};
  Units units;
  RETURN_IF_CUDA_ERROR(sides_of(parameters.kind, &sides));
  RETURN_IF_CUDA_ERROR(units_of(parameters, &units));
  *copy = {};
  fill_source(parameters, sides.source, units.source, copy);
  fill_destination(parameters, sides.destination, units.destination, copy);
  copy->WidthInBytes = parameters.extent.width * units.extent;
  copy->Height = parameters.extent.height;
  copy->Depth = parameters.extent.depth;
  return is_empty(*copy) || pitches_fit(*copy) ? cudaSuccess : cudaErrorInvalidPitchValue;
}

cudaError_t driver_copy(void* destination, const void* source, std::size_t size,
                        cudaMemcpyKind kind, CUDA_MEMCPY3D* copy) {
  cudaMemcpy3DParms box{};
  box.kind = kind;
  box.extent = {size, 1, 1};
  box.srcPtr = {const_cast<void*>(source), size, size, 1};
  box.dstPtr = {destination, size, size, 1};
  return driver_copy(box, copy);
}

cudaMemcpy3DParms runtime_copy(const CUDA_MEMCPY3D& copy) {
  cudaMemcpy3DParms box{};
  std::size_t from = 1;
  std::size_t to = 1;
  if (copy.srcArray != nullptr) array_element_bytes(runtime_array(copy.srcArray), &from);
  if (copy.dstArray != nullptr) array_element_bytes(runtime_array(copy.dstArray), &to);
  const auto side = [](CUmemorytype type, const void* host, CUdeviceptr device) {
    return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
  };
  const std::size_t unit = copy.srcArray != nullptr ? from : to;
  box.srcArray = runtime_array(copy.srcArray);
  box.dstArray = runtime_array(copy.dstArray);
  box.srcPos = {copy.srcXInBytes / from, copy.srcY, copy.srcZ};
  box.dstPos = {copy.dstXInBytes / to, copy.dstY, copy.dstZ};
  box.srcPtr = {side(copy.srcMemoryType, copy.srcHost, copy.srcDevice), copy.srcPitch,
                copy.WidthInBytes, copy.srcHeight};
  box.dstPtr = {side(copy.dstMemoryType, copy.dstHost, copy.dstDevice), copy.dstPitch,
                copy.WidthInBytes, copy.dstHeight};
  box.extent = {copy.WidthInBytes / unit, copy.Height, copy.Depth};
  const bool from_host = copy.srcMemoryType == CU_MEMORYTYPE_HOST;
  const bool to_host = copy.dstMemoryType == CU_MEMORYTYPE_HOST;
  box.kind = from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                       : (to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
  if (copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED) box.kind = cudaMemcpyDefault;
  return box;
}

BLOCKING_API(cudaMemcpy2D, v3020, v7000,
             (DefaultStream meaning, void* to, std::size_t to_pitch, const void* from,
              std::size_t from_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind),
             (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
              std::size_t width, std::size_t height, cudaMemcpyKind kind),
             to, to_pitch, from, from_pitch, width, height, kind) {
  return copy_rectangle(meaning, {to, to_pitch}, {from, from_pitch}, {width, height}, kind);
}

STREAM_API(cudaMemcpy2DAsync, v3020, v7000,
           (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
            std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
           to, to_pitch, from, from_pitch, width, height, kind, stream) {
  return copy_rectangle_async({to, to_pitch}, {from, from_pitch}, {width, height}, kind, stream);
}

BLOCKING_API(cudaMemcpy2DToArray, v3020, v7000,
             (DefaultStream meaning, cudaArray_t to, std::size_t x, std::size_t y, const void* from,
              std::size_t from_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind),
             (cudaArray_t to, std::size_t x, std::size_t y, const void* from,
              std::size_t from_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind),
             to, x, y, from, from_pitch, width, height, kind) {
  return copy_rectangle(meaning, {nullptr, 0, to, x, y}, {from, from_pitch}, {width, height}, kind);
}

STREAM_API(cudaMemcpy2DToArrayAsync, v3020, v7000,
           (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t from_pitch,
            std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
           to, x, y, from, from_pitch, width, height, kind, stream) {
  return copy_rectangle_async({nullptr, 0, to, x, y}, {from, from_pitch}, {width, height}, kind,
                              stream);
}

BLOCKING_API(cudaMemcpy2DFromArray, v3020, v7000,
             (DefaultStream meaning, void* to, std::size_t to_pitch, cudaArray_const_t from,
              std::size_t x, std::size_t y, std::size_t width, std::size_t height,
              cudaMemcpyKind kind),
             (void* to, std::size_t to_pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
              std::size_t width, std::size_t height, cudaMemcpyKind kind),
             to, to_pitch, from, x, y, width, height, kind) {
  return copy_rectangle(meaning, {to, to_pitch}, {nullptr, 0, from, x, y}, {width, height}, kind);
}

STREAM_API(cudaMemcpy2DFromArrayAsync, v3020, v7000,
           (void* to, std::size_t to_pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
            std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
           to, to_pitch, from, x, y, width, height, kind, stream) {
  return copy_rectangle_async({to, to_pitch}, {nullptr, 0, from, x, y}, {width, height}, kind,
                              stream);
}

BLOCKING_API(cudaMemcpy2DArrayToArray, v3020, v7000,
             (DefaultStream meaning, cudaArray_t to, std::size_t to_x, std::size_t to_y,
              cudaArray_const_t from, std::size_t from_x, std::size_t from_y, std::size_t width,
              std::size_t height, cudaMemcpyKind kind),
             (cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
              std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
              cudaMemcpyKind kind),
             to, to_x, to_y, from, from_x, from_y, width, height, kind) {
  return copy_rectangle(meaning, {nullptr, 0, to, to_x, to_y}, {nullptr, 0, from, from_x, from_y},
                        {width, height}, kind);
}

BLOCKING_API(cudaMemcpy3D, v3020, v7000,
             (DefaultStream meaning, const cudaMemcpy3DParms* parameters),
             (const cudaMemcpy3DParms* parameters), parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_context());
  CUDA_MEMCPY3D copy{};
  RETURN_IF_CUDA_ERROR(driver_copy(*parameters, &copy));
  return is_empty(copy) ? cudaSuccess : to_error(CU_MEANING(meaning, cuMemcpy3D)(&copy));
}

STREAM_API(cudaMemcpy3DAsync, v3020, v7000,
           (const cudaMemcpy3DParms* parameters, cudaStream_t stream), parameters, stream) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_context());
  CUDA_MEMCPY3D copy{};
  RETURN_IF_CUDA_ERROR(driver_copy(*parameters, &copy));
  return is_empty(copy) ? cudaSuccess : to_error(CU(cuMemcpy3DAsync)(&copy, stream));
}

namespace {

cudaError_t primary_context(int device, CUcontext* context) {
  CUdevice handle = 0;
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGet)(&handle, device));
  return to_error(CU(cuDevicePrimaryCtxRetain)(context, handle));
}

// The same box, with a device for each side.
cudaError_t peer_copy(const cudaMemcpy3DPeerParms& p, CUDA_MEMCPY3D_PEER* copy) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  const cudaMemcpy3DParms box{p.srcArray, p.srcPos, p.srcPtr, p.dstArray,
                              p.dstPos,   p.dstPtr, p.extent, cudaMemcpyDeviceToDevice};
  CUDA_MEMCPY3D inner{};
  RETURN_IF_CUDA_ERROR(driver_copy(box, &inner));
  *copy = {};
  RETURN_IF_CUDA_ERROR(primary_context(p.srcDevice, &copy->srcContext));
  RETURN_IF_CUDA_ERROR(primary_context(p.dstDevice, &copy->dstContext));
  copy->srcXInBytes = inner.srcXInBytes;
  copy->srcY = inner.srcY;
  copy->srcZ = inner.srcZ;
  copy->srcMemoryType = inner.srcMemoryType;
  copy->srcDevice = inner.srcDevice;
  copy->srcArray = inner.srcArray;
  copy->srcPitch = inner.srcPitch;
  copy->srcHeight = inner.srcHeight;
  copy->dstXInBytes = inner.dstXInBytes;
  copy->dstY = inner.dstY;
  copy->dstZ = inner.dstZ;
  copy->dstMemoryType = inner.dstMemoryType;
  copy->dstDevice = inner.dstDevice;
  copy->dstArray = inner.dstArray;
  copy->dstPitch = inner.dstPitch;
  copy->dstHeight = inner.dstHeight;
  copy->WidthInBytes = inner.WidthInBytes;
  copy->Height = inner.Height;
  copy->Depth = inner.Depth;
  return cudaSuccess;
}

}  // namespace

BLOCKING_API(cudaMemcpy3DPeer, v4000, v7000,
             (DefaultStream meaning, const cudaMemcpy3DPeerParms* parameters),
             (const cudaMemcpy3DPeerParms* parameters), parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D_PEER copy;
  RETURN_IF_CUDA_ERROR(peer_copy(*parameters, &copy));
  return to_error(CU_MEANING(meaning, cuMemcpy3DPeer)(&copy));
}

STREAM_API(cudaMemcpy3DPeerAsync, v4000, v7000,
           (const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream), parameters, stream) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D_PEER copy;
  RETURN_IF_CUDA_ERROR(peer_copy(*parameters, &copy));
  return to_error(CU(cuMemcpy3DPeerAsync)(&copy, stream));
}

}  // namespace drgpum::emulator::runtime
