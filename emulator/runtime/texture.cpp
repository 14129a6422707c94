// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects.
#include <mutex>
#include <unordered_map>

#include "emulator/runtime/array.h"
#include "emulator/runtime/forward.h"

namespace drgpum::emulator::runtime {
namespace {

// What an object was made of, as the program gave it.
struct Made {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
  cudaResourceViewDesc view;
};

struct Objects {
  std::mutex mutex;
  std::unordered_map<unsigned long long, Made> made;
};

Objects& textures() {
  static auto* const objects = new Objects;
  return *objects;
}

Objects& surfaces() {
  static auto* const objects = new Objects;
  return *objects;
}

void remember(Objects& objects, unsigned long long object, const Made& made) {
  const std::lock_guard lock(objects.mutex);
  objects.made[object] = made;
}

void forget(Objects& objects, unsigned long long object) {
  const std::lock_guard lock(objects.mutex);
  objects.made.erase(object);
}

template <typename T>
cudaError_t recall(Objects& objects, unsigned long long object, T Made::*part, T* out) {
  const std::lock_guard lock(objects.mutex);
  const auto found = objects.made.find(object);
  if (found == objects.made.end() || out == nullptr) return cudaErrorInvalidValue;
  *out = found->second.*part;
  return cudaSuccess;
}

cudaError_t driver_linear(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  const auto format = format_of(from.res.linear.desc);
  if (!format) return cudaErrorInvalidChannelDescriptor;
  to->res.linear.devPtr = reinterpret_cast<CUdeviceptr>(from.res.linear.devPtr);
  to->res.linear.format = format->format;
  to->res.linear.numChannels = format->channels;
  to->res.linear.sizeInBytes = from.res.linear.sizeInBytes;
  return cudaSuccess;
}

cudaError_t driver_pitched(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  const auto format = format_of(from.res.pitch2D.desc);
  if (!format) return cudaErrorInvalidChannelDescriptor;
  to->res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(from.res.pitch2D.devPtr);
  to->res.pitch2D.format = format->format;
  to->res.pitch2D.numChannels = format->channels;
  to->res.pitch2D.width = from.res.pitch2D.width;
  to->res.pitch2D.height = from.res.pitch2D.height;
  to->res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
  return cudaSuccess;
}

cudaError_t driver_resource(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  *to = {};
  to->resType = static_cast<CUresourcetype>(from.resType);  // numbered alike
  switch (from.resType) {
    case cudaResourceTypeArray:
      to->res.array.hArray = driver_array(from.res.array.array);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      to->res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(from.res.mipmap.mipmap);
      return cudaSuccess;
    case cudaResourceTypeLinear:
      return driver_linear(from, to);
    case cudaResourceTypePitch2D:
      return driver_pitched(from, to);
    default:
      return cudaErrorInvalidValue;
  }
}

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC to{};
  for (int i = 0; i < 3; ++i)
    to.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
  to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
  if (from.readMode == cudaReadModeElementType) to.flags |= CU_TRSF_READ_AS_INTEGER;
  if (from.normalizedCoords != 0) to.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (from.sRGB != 0) to.flags |= CU_TRSF_SRGB;
  if (from.disableTrilinearOptimization != 0) to.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (from.seamlessCubemap != 0) to.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  for (int i = 0; i < 4; ++i)
    to.borderColor[i] = from.borderColor[i];
  return to;
}

CUDA_RESOURCE_VIEW_DESC driver_view(const cudaResourceViewDesc& from) {
  CUDA_RESOURCE_VIEW_DESC to{};
  to.format = static_cast<CUresourceViewFormat>(from.format);  // numbered alike
  to.width = from.width;
  to.height = from.height;
  to.depth = from.depth;
  to.firstMipmapLevel = from.firstMipmapLevel;
  to.lastMipmapLevel = from.lastMipmapLevel;
  to.firstLayer = from.firstLayer;
  to.lastLayer = from.lastLayer;
  return to;
}

}  // namespace

RUNTIME_API(cudaCreateTextureObject, v5000,
            (cudaTextureObject_t * object, const cudaResourceDesc* resource,
             const cudaTextureDesc* texture, const cudaResourceViewDesc* view),
            object, resource, texture, view) {
  if (object == nullptr || resource == nullptr || texture == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC converted;
  RETURN_IF_CUDA_ERROR(driver_resource(*resource, &converted));
  const CUDA_TEXTURE_DESC sampler = driver_texture(*texture);
  const CUDA_RESOURCE_VIEW_DESC window =
      view == nullptr ? CUDA_RESOURCE_VIEW_DESC{} : driver_view(*view);
  RETURN_IF_CUDA_ERROR(forward(CU(cuTexObjectCreate), object, &converted, &sampler,
                               view == nullptr ? nullptr : &window));
  remember(textures(), *object,
           {*resource, *texture, view == nullptr ? cudaResourceViewDesc{} : *view});
  return cudaSuccess;
}

RUNTIME_API(cudaDestroyTextureObject, v5000, (cudaTextureObject_t object), object) {
  forget(textures(), object);
  return forward(CU(cuTexObjectDestroy), object);
}

RUNTIME_API(cudaGetTextureObjectResourceDesc, v5000,
            (cudaResourceDesc * resource, cudaTextureObject_t object), resource, object) {
  return recall(textures(), object, &Made::resource, resource);
}

RUNTIME_API(cudaGetTextureObjectTextureDesc, v5000,
            (cudaTextureDesc * texture, cudaTextureObject_t object), texture, object) {
  return recall(textures(), object, &Made::texture, texture);
}

RUNTIME_API(cudaGetTextureObjectResourceViewDesc, v5000,
            (cudaResourceViewDesc * view, cudaTextureObject_t object), view, object) {
  return recall(textures(), object, &Made::view, view);
}

RUNTIME_API(cudaCreateSurfaceObject, v5000,
            (cudaSurfaceObject_t * object, const cudaResourceDesc* resource), object, resource) {
  if (object == nullptr || resource == nullptr) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC converted;
  RETURN_IF_CUDA_ERROR(driver_resource(*resource, &converted));
  RETURN_IF_CUDA_ERROR(forward(CU(cuSurfObjectCreate), object, &converted));
  remember(surfaces(), *object, {*resource, {}, {}});
  return cudaSuccess;
}

RUNTIME_API(cudaDestroySurfaceObject, v5000, (cudaSurfaceObject_t object), object) {
  forget(surfaces(), object);
  return forward(CU(cuSurfObjectDestroy), object);
}

RUNTIME_API(cudaGetSurfaceObjectResourceDesc, v5000,
            (cudaResourceDesc * resource, cudaSurfaceObject_t object), resource, object) {
  return recall(surfaces(), object, &Made::resource, resource);
}

RUNTIME_API(cudaDeviceGetTexture1DLinearMaxWidth, v11010,
            (std::size_t * width, const cudaChannelFormatDesc* descriptor, int device), width,
            descriptor, device) {
  if (descriptor == nullptr) return cudaErrorInvalidValue;
  const auto format = format_of(*descriptor);
  if (!format) return cudaErrorInvalidChannelDescriptor;
  return forward(CU(cuDeviceGetTexture1DLinearMaxWidth), width, format->format, format->channels,
                 device);
}

}  // namespace drgpum::emulator::runtime
