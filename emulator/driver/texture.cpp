// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects.

#include "emulator/driver/call.h"
#include "emulator/machine/array.h"

namespace drgpum::emulator::driver {
namespace {

Texels resolve(MachineCore& core, const CUDA_RESOURCE_DESC& resource) {
  Texels wrong;
  wrong.code = CUDA_ERROR_INVALID_HANDLE;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      const Array* array = core.arrays.get(resource.res.array.hArray);
      return array == nullptr ? wrong : texels_of(*array);
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      const MipmappedArray* arrays = core.mipmapped_arrays.get(resource.res.mipmap.hMipmappedArray);
      return arrays == nullptr ? wrong : texels_of(*arrays);
    }
    case CU_RESOURCE_TYPE_LINEAR:
    case CU_RESOURCE_TYPE_PITCH2D:
      return texels_of_memory(resource);
    default:
      wrong.code = CUDA_ERROR_INVALID_VALUE;
      return wrong;
  }
}

CUresult add(ContextCall& call, Texture texture, Texels texels, CUtexObject* handle) {
  if (texels.unserved != nullptr) return unsupported(texels.unserved);
  if (texels.code != CUDA_SUCCESS) return texels.code;
  texture.context = call.context;
  texture.object = std::move(texels.object);
  const Texture* made =
      call.core().textures.objects.add(std::make_unique<Texture>(std::move(texture)));
  *handle = reinterpret_cast<CUtexObject>(made);
  return CUDA_SUCCESS;
}

// Kernels that use it have run.
CUresult remove(std::uint64_t handle, bool is_surface) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Texture* texture = call.core().textures.get(handle);
  if (texture == nullptr || texture->is_surface != is_surface) return CUDA_ERROR_INVALID_VALUE;
  call.core().textures.objects.remove(texture);
  return CUDA_SUCCESS;
}

template <typename T>
CUresult give(std::uint64_t handle, bool is_surface, T Texture::* part, T* out) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Texture* texture = call.core().textures.get(handle);
  if (texture == nullptr || texture->is_surface != is_surface || out == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  *out = texture->*part;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* handle, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* sampler, const CUDA_RESOURCE_VIEW_DESC* view) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (handle == nullptr || resource == nullptr || sampler == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  Texture texture;
  texture.resource = *resource;
  texture.sampler = *sampler;
  Texels texels = resolve(call.core(), *resource);
  if (view != nullptr) {
    texture.has_view = true;
    texture.view = *view;
    if (texels.code == CUDA_SUCCESS) apply_view(*view, texels);
  }
  if (texels.code == CUDA_SUCCESS) apply_sampler(*sampler, texels);
  return add(call, std::move(texture), std::move(texels), handle);
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  return remove(handle, false);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject handle) {
  return give(handle, false, &Texture::resource, resource);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* sampler, CUtexObject handle) {
  return give(handle, false, &Texture::sampler, sampler);
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject handle) {
  bool has_view = false;
  const CUresult found = give(handle, false, &Texture::has_view, &has_view);
  if (found != CUDA_SUCCESS || !has_view) return CUDA_ERROR_INVALID_VALUE;
  return give(handle, false, &Texture::view, view);
}

CUresult cuSurfObjectCreate(CUsurfObject* handle, const CUDA_RESOURCE_DESC* resource) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (handle == nullptr || resource == nullptr || resource->resType != CU_RESOURCE_TYPE_ARRAY)
    return CUDA_ERROR_INVALID_VALUE;
  const Array* array = call.core().arrays.get(resource->res.array.hArray);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Texture texture;
  texture.is_surface = true;
  texture.resource = *resource;
  return add(call, std::move(texture), texels_of(*array), handle);
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return remove(handle, true);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject handle) {
  return give(handle, true, &Texture::resource, resource);
}

}  // namespace drgpum::emulator::driver
