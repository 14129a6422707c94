// SPDX-License-Identifier: Apache-2.0
// From the driver interface's descriptors to texels.

#include "emulator/machine/texture.h"

#include <algorithm>
#include <optional>

#include "emulator/machine/array.h"

namespace drgpum::emulator {
namespace {

using exec::AddressMode;
using exec::TexelFormat;
using exec::TexelGrid;

// As CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT and _TEXTURE_PITCH_ALIGNMENT say.
constexpr std::uint64_t kTextureAlignment = 512;
constexpr std::uint64_t kPitchAlignment = 32;

std::optional<TexelFormat> format_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      return TexelFormat::kU8;
    case CU_AD_FORMAT_SIGNED_INT8:
      return TexelFormat::kS8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return TexelFormat::kU16;
    case CU_AD_FORMAT_SIGNED_INT16:
      return TexelFormat::kS16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
      return TexelFormat::kU32;
    case CU_AD_FORMAT_SIGNED_INT32:
      return TexelFormat::kS32;
    case CU_AD_FORMAT_HALF:
      return TexelFormat::kF16;
    case CU_AD_FORMAT_FLOAT:
      return TexelFormat::kF32;
    default:
      return std::nullopt;
  }
}

bool set_format(CUarray_format format, unsigned channels, Texels& texels) {
  const auto known = format_of(format);
  const bool right = known && (channels == 1 || channels == 2 || channels == 4);
  if (!right) {
    texels.code = CUDA_ERROR_NOT_SUPPORTED;
    texels.unserved = "a texture of this format";
    return false;
  }
  texels.object.format = *known;
  texels.object.channels = channels;
  return true;
}

TexelGrid grid_of(const Array& array) {
  TexelGrid grid;
  grid.address = array.block->range.begin;
  grid.width = static_cast<std::uint32_t>(array.descriptor.Width);
  grid.height = static_cast<std::uint32_t>(array.rows());
  grid.slices = static_cast<std::uint32_t>(array.slices());
  grid.row_bytes = array.row_bytes();
  grid.slice_bytes = array.row_bytes() * array.rows();
  return grid;
}

void set_linear(const CUDA_RESOURCE_DESC& resource, Texels& texels) {
  const auto& linear = resource.res.linear;
  if (!set_format(linear.format, linear.numChannels, texels)) return;
  const std::uint64_t texel = texels.object.texel_bytes();
  if (linear.devPtr == 0 || linear.devPtr % kTextureAlignment != 0 || linear.sizeInBytes < texel) {
    texels.code = CUDA_ERROR_INVALID_VALUE;
    return;
  }
  TexelGrid& grid = texels.object.levels[0];
  grid.address = linear.devPtr;
  grid.width = static_cast<std::uint32_t>(linear.sizeInBytes / texel);
  grid.row_bytes = grid.slice_bytes = grid.width * texel;
  texels.object.is_linear = true;
}

void set_pitched(const CUDA_RESOURCE_DESC& resource, Texels& texels) {
  const auto& pitched = resource.res.pitch2D;
  if (!set_format(pitched.format, pitched.numChannels, texels)) return;
  const std::uint64_t row = pitched.width * texels.object.texel_bytes();
  if (pitched.devPtr == 0 || pitched.devPtr % kTextureAlignment != 0 || row == 0 ||
      pitched.height == 0 || pitched.pitchInBytes < row ||
      pitched.pitchInBytes % kPitchAlignment != 0) {
    texels.code = CUDA_ERROR_INVALID_VALUE;
    return;
  }
  TexelGrid& grid = texels.object.levels[0];
  grid.address = pitched.devPtr;
  grid.width = static_cast<std::uint32_t>(pitched.width);
  grid.height = static_cast<std::uint32_t>(pitched.height);
  grid.row_bytes = pitched.pitchInBytes;
  grid.slice_bytes = grid.row_bytes * grid.height;
}

// CUresourceViewFormat counts one, two and four channels of each of eight formats, after "none".
bool set_view_format(CUresourceViewFormat format, Texels& texels) {
  constexpr TexelFormat kFormats[] = {TexelFormat::kU8,  TexelFormat::kS8,  TexelFormat::kU16,
                                      TexelFormat::kS16, TexelFormat::kU32, TexelFormat::kS32,
                                      TexelFormat::kF16, TexelFormat::kF32};
  const auto number = static_cast<unsigned>(format);
  if (number == 0) return true;
  if (number > CU_RES_VIEW_FORMAT_FLOAT_4X32) return false;
  const std::uint32_t before = texels.object.texel_bytes();
  texels.object.format = kFormats[(number - 1) / 3];
  texels.object.channels = 1u << ((number - 1) % 3);
  return texels.object.texel_bytes() == before;
}

bool reads_fractions(const CUDA_TEXTURE_DESC& sampler, TexelFormat format) {
  return (sampler.flags & CU_TRSF_READ_AS_INTEGER) == 0 && exec::bytes_of(format) <= 2 &&
         format != TexelFormat::kF16;
}

AddressMode mode_of(CUaddress_mode mode) {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      return AddressMode::kWrap;
    case CU_TR_ADDRESS_MODE_MIRROR:
      return AddressMode::kMirror;
    case CU_TR_ADDRESS_MODE_BORDER:
      return AddressMode::kBorder;
    default:
      return AddressMode::kClamp;
  }
}

}  // namespace

const exec::TextureObject* Textures::find_texture(std::uint64_t handle) const noexcept {
  const Texture* found = get(handle);
  return found != nullptr && !found->is_surface ? &found->object : nullptr;
}

const exec::TextureObject* Textures::find_surface(std::uint64_t handle) const noexcept {
  const Texture* found = get(handle);
  return found != nullptr && found->is_surface ? &found->object : nullptr;
}

Texels texels_of(const Array& array) {
  Texels texels;
  if (set_format(array.descriptor.Format, array.descriptor.NumChannels, texels))
    texels.object.levels[0] = grid_of(array);
  return texels;
}

Texels texels_of(const MipmappedArray& arrays) {
  Texels texels = texels_of(*arrays.levels[0]);
  for (std::size_t i = 1; i < arrays.levels.size(); ++i)
    texels.object.levels.push_back(grid_of(*arrays.levels[i]));
  return texels;
}

Texels texels_of_memory(const CUDA_RESOURCE_DESC& resource) {
  Texels texels;
  if (resource.resType == CU_RESOURCE_TYPE_LINEAR)
    set_linear(resource, texels);
  else
    set_pitched(resource, texels);
  return texels;
}

void apply_view(const CUDA_RESOURCE_VIEW_DESC& view, Texels& texels) {
  auto& levels = texels.object.levels;
  if (!set_view_format(view.format, texels)) {
    texels.code = CUDA_ERROR_NOT_SUPPORTED;
    texels.unserved = "a resource view of this format";
    return;
  }
  if (view.lastMipmapLevel < view.firstMipmapLevel || view.lastMipmapLevel >= levels.size() ||
      view.lastLayer < view.firstLayer || view.lastLayer >= levels[0].slices) {
    texels.code = CUDA_ERROR_INVALID_VALUE;
    return;
  }
  levels.resize(view.lastMipmapLevel + 1);
  levels.erase(levels.begin(), levels.begin() + view.firstMipmapLevel);
  if (view.lastLayer == 0) return;
  for (TexelGrid& grid : levels) {
    grid.address += view.firstLayer * grid.slice_bytes;
    grid.slices = view.lastLayer - view.firstLayer + 1;
  }
}

void apply_sampler(const CUDA_TEXTURE_DESC& sampler, Texels& texels) {
  exec::TextureObject& object = texels.object;
  for (std::size_t i = 0; i < object.modes.size(); ++i)
    object.modes[i] = mode_of(sampler.addressMode[i]);
  object.filters = sampler.filterMode == CU_TR_FILTER_MODE_LINEAR;
  object.filters_levels = sampler.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  object.is_normalized = (sampler.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  object.is_srgb = (sampler.flags & CU_TRSF_SRGB) != 0;
  object.reads_fractions = reads_fractions(sampler, object.format);
  object.level_bias = sampler.mipmapLevelBias;
  object.min_level = sampler.minMipmapLevelClamp;
  object.max_level = sampler.maxMipmapLevelClamp;
  std::copy_n(sampler.borderColor, 4, object.border.begin());
}

}  // namespace drgpum::emulator
