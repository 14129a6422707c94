// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texture and surface objects: what they were made of, and what kernels see of it.

#include <cuda.h>

#include "emulator/exec/texture.h"
#include "emulator/machine/handle_set.h"

namespace drgpum::emulator {

struct Array;
struct Context;
struct MipmappedArray;

struct Texture {
  Context* context = nullptr;
  bool is_surface = false;
  bool has_view = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC sampler{};
  CUDA_RESOURCE_VIEW_DESC view{};
  exec::TextureObject object;
};

class Textures final : public exec::TextureTable {
 public:
  [[nodiscard]] const exec::TextureObject* find_texture(
      std::uint64_t handle) const noexcept override;
  [[nodiscard]] const exec::TextureObject* find_surface(
      std::uint64_t handle) const noexcept override;
  // Of either kind; nullptr for handles of nothing.
  [[nodiscard]] Texture* get(std::uint64_t handle) const {
    return objects.get(reinterpret_cast<const void*>(handle));
  }

  HandleSet<Texture> objects;
};

// The texels that a resource gives. `code` says what is wrong with it; `unserved` is set where it
// is right but not served here.
struct Texels {
  CUresult code = CUDA_SUCCESS;
  const char* unserved = nullptr;
  exec::TextureObject object;
};

Texels texels_of(const Array& array);
Texels texels_of(const MipmappedArray& arrays);
// kLinear and kPitch2D.
Texels texels_of_memory(const CUDA_RESOURCE_DESC& resource);
// Narrows to the levels, layers and the format of a view.
void apply_view(const CUDA_RESOURCE_VIEW_DESC& view, Texels& texels);
void apply_sampler(const CUDA_TEXTURE_DESC& sampler, Texels& texels);

}  // namespace drgpum::emulator
