// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texture fetches of one lane: addressing modes, filters, mipmap levels, formats. Weights have
// eight fractional bits, as on the hardware. Source: CUDA C++ Programming Guide, "Texture
// Fetching".

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/exec/texture.h"

namespace drgpum::emulator::exec {

enum class TextureShape : std::uint8_t { k1d, k2d, k3d, kCube };

struct Fetch {
  TextureShape shape = TextureShape::k1d;
  bool by_index = false;  // coordinates are whole texels: x, y, z of `index`
  std::array<float, 3> at{};
  std::array<std::int32_t, 3> index{};
  std::uint32_t layer = 0;
  bool is_layered = false;
  float level = 0;
};

// Host address of the texel at a device address, or nullptr after a fault.
class TexelSource {
 public:
  virtual ~TexelSource() = default;
  virtual const std::byte* texel(std::uint64_t address, std::uint32_t bytes) = 0;
};

// Four channels: bits of f32 values, or of integers when the object gives those. Absent channels
// are 0, 0 and 1.
struct FetchedTexel {
  std::array<std::uint32_t, 4> bits{};
  bool is_float = false;
  bool failed = false;
};

FetchedTexel fetch_texel(const TextureObject& object, const Fetch& fetch, TexelSource& source);
// One channel of the four texels that a filter at this place would take, in tld4's order.
FetchedTexel gather_texels(const TextureObject& object, const Fetch& fetch, unsigned channel,
                           TexelSource& source);

}  // namespace drgpum::emulator::exec
