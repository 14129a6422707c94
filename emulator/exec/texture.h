// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the handle of a texture or surface object stands for. Source: CUDA C++ Programming Guide,
// "Texture and Surface Memory" and appendix "Texture Fetching".

#include <array>
#include <cstdint>
#include <vector>

namespace drgpum::emulator::exec {

enum class TexelFormat : std::uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kF16, kF32 };

constexpr std::uint32_t bytes_of(TexelFormat format) {
  if (format <= TexelFormat::kS8) return 1;
  return format <= TexelFormat::kS16 || format == TexelFormat::kF16 ? 2 : 4;
}

// Where coordinates outside [0, extent) lead.
enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

// The texels of one mipmap level: device address of the first, extents in texels, distances in
// bytes. `slices` are those of a volume, layers, or faces (six for each cube).
struct TexelGrid {
  std::uint64_t address = 0;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t slices = 1;
  std::uint64_t row_bytes = 0;
  std::uint64_t slice_bytes = 0;
};

struct TextureObject {
  TexelFormat format = TexelFormat::kF32;
  std::uint32_t channels = 1;        // 1, 2 or 4
  std::vector<TexelGrid> levels{1};  // level 0 first; surfaces have one
  bool is_linear = false;            // plain memory, indexed by whole numbers only
  // What only textures have.
  std::array<AddressMode, 3> modes{};  // of x, y, z
  bool filters = false;                // between texels; else the nearest one
  bool filters_levels = false;         // between mipmap levels
  bool is_normalized = false;          // coordinates run from 0 to 1
  bool reads_fractions = false;        // integers become [0, 1] or [-1, 1]
  bool is_srgb = false;
  float level_bias = 0;
  float min_level = 0;
  float max_level = 0;
  std::array<float, 4> border{};

  [[nodiscard]] std::uint32_t texel_bytes() const { return bytes_of(format) * channels; }
};

class TextureTable {
 public:
  virtual ~TextureTable() = default;
  // nullptr for handles of nothing. Must stay valid for as long as kernels run.
  [[nodiscard]] virtual const TextureObject* find_texture(std::uint64_t handle) const noexcept = 0;
  [[nodiscard]] virtual const TextureObject* find_surface(std::uint64_t handle) const noexcept = 0;
};

}  // namespace drgpum::emulator::exec
