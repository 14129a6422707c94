// SPDX-License-Identifier: Apache-2.0
// From coordinates to texels to values.

#include "emulator/exec/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "emulator/exec/half.h"

namespace drgpum::emulator::exec {
namespace {

struct Value {
  std::array<float, 4> f{};
  std::array<std::uint32_t, 4> bits{};
};

bool is_integer(const TextureObject& object) {
  return object.format != TexelFormat::kF16 && object.format != TexelFormat::kF32 &&
         !object.reads_fractions;
}

float linear_of_srgb(float s) {
  return s <= 0.04045f ? s / 12.92f : std::pow((s + 0.055f) / 1.055f, 2.4f);
}

template <typename T>
T read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint32_t integer_of(TexelFormat format, const std::byte* from) {
  switch (format) {
    case TexelFormat::kU8:
      return read_as<std::uint8_t>(from);
    case TexelFormat::kS8:
      return static_cast<std::uint32_t>(read_as<std::int8_t>(from));
    case TexelFormat::kU16:
    case TexelFormat::kF16:
      return read_as<std::uint16_t>(from);
    case TexelFormat::kS16:
      return static_cast<std::uint32_t>(read_as<std::int16_t>(from));
    default:
      return read_as<std::uint32_t>(from);
  }
}

float float_of(const TextureObject& object, const std::byte* from, unsigned channel) {
  const std::uint32_t raw = integer_of(object.format, from);
  const auto whole = static_cast<float>(static_cast<std::int32_t>(raw));
  switch (object.format) {
    case TexelFormat::kU8: {
      const float value = whole / 255.0f;
      return object.is_srgb && channel < 3 ? linear_of_srgb(value) : value;
    }
    case TexelFormat::kS8:
      return std::max(whole / 127.0f, -1.0f);
    case TexelFormat::kU16:
      return whole / 65535.0f;
    case TexelFormat::kS16:
      return std::max(whole / 32767.0f, -1.0f);
    case TexelFormat::kF16:
      return f16_to_float(static_cast<std::uint16_t>(raw));
    default:
      return std::bit_cast<float>(raw);
  }
}

Value decode(const TextureObject& object, const std::byte* from) {
  Value value;
  const bool integer = is_integer(object);
  value.f[3] = 1.0f;
  value.bits[3] = 1;
  for (unsigned c = 0; c < object.channels; ++c, from += bytes_of(object.format)) {
    if (integer)
      value.bits[c] = integer_of(object.format, from);
    else
      value.f[c] = float_of(object, from, c);
  }
  return value;
}

Value border_of(const TextureObject& object) {
  Value value;
  value.f = object.border;
  for (unsigned c = 0; c < 4; ++c)
    value.bits[c] = static_cast<std::uint32_t>(static_cast<std::int64_t>(object.border[c]));
  return value;
}

// Wrapping and mirroring need normalised coordinates; without them they clamp.
AddressMode mode_of(const TextureObject& object, unsigned axis) {
  const AddressMode mode = object.modes[axis];
  const bool periodic = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  return periodic && !object.is_normalized ? AddressMode::kClamp : mode;
}

// The index within [0, extent), or -1 for the border.
std::int64_t place(std::int64_t i, std::int64_t extent, AddressMode mode) {
  if (i >= 0 && i < extent) return i;
  switch (mode) {
    case AddressMode::kWrap:
      return (i % extent + extent) % extent;
    case AddressMode::kMirror: {
      const std::int64_t period = 2 * extent;
      const std::int64_t within = (i % period + period) % period;
      return within < extent ? within : period - 1 - within;
    }
    case AddressMode::kClamp:
      return std::clamp<std::int64_t>(i, 0, extent - 1);
    case AddressMode::kBorder:
      break;
  }
  return -1;
}

// A place along one axis: the texel there (or the lower of two) and the weight of the next one.
struct Axis {
  std::int64_t index = 0;
  float weight = 0;
};

// Beyond these, in texels, every mode gives what it gives just outside or repeats.
float tamed(float x) {
  return x == x ? std::clamp(x, -1e9f, 1e9f) : 0.0f;
}

Axis place_along(const TextureObject& object, float coordinate, std::uint32_t extent, bool filters,
                 AddressMode mode) {
  float x = coordinate;
  if (object.is_normalized) {
    // Periodic coordinates lose their whole periods first: that is exact.
    if (mode == AddressMode::kWrap) x -= std::floor(x);
    if (mode == AddressMode::kMirror) x = std::fabs(std::remainder(x, 2.0f));
    x *= static_cast<float>(extent);
  }
  x = tamed(x);
  if (!filters) return {static_cast<std::int64_t>(std::floor(x)), 0};
  x -= 0.5f;
  const float floor = std::floor(x);
  return {static_cast<std::int64_t>(floor), std::round((x - floor) * 256.0f) / 256.0f};
}

// A direction's face and place on it, by the table of the programming guide.
void place_on_cube(const std::array<float, 3>& d, std::uint32_t* face, float* s, float* t) {
  const float x = std::fabs(d[0]), y = std::fabs(d[1]), z = std::fabs(d[2]);
  float m = x, u = 0, v = 0;
  if (x >= y && x >= z) {
    *face = d[0] >= 0 ? 0 : 1;
    u = d[0] >= 0 ? -d[2] : d[2];
    v = -d[1];
  } else if (y >= z) {
    *face = d[1] >= 0 ? 2 : 3;
    m = y;
    u = d[0];
    v = d[1] >= 0 ? d[2] : -d[2];
  } else {
    *face = d[2] >= 0 ? 4 : 5;
    m = z;
    u = d[2] >= 0 ? d[0] : -d[0];
    v = -d[1];
  }
  *s = m == 0 ? 0.5f : (u / m + 1) / 2;
  *t = m == 0 ? 0.5f : (v / m + 1) / 2;
}

// One fetch from one level.
class LevelFetch {
 public:
  // `gathers`: places are those of a filter, whether the texture filters or not.
  LevelFetch(const TextureObject& object, const Fetch& fetch, const TexelGrid& grid,
             TexelSource& source, bool gathers = false)
      : object_(object), fetch_(fetch), grid_(grid), source_(source) {
    filters_ = gathers || (object.filters && !is_integer(object) && !fetch.by_index);
    place_axes();
  }

  Value filtered() {
    Value sum = corner(0);
    if (!filters_) return sum;
    const unsigned corners = 1u << dimensions_;
    const float first = weight_of(0);
    for (float& f : sum.f)
      f *= first;
    for (unsigned c = 1; c < corners; ++c) {
      const float weight = weight_of(c);
      if (weight == 0) continue;
      const Value texel = corner(c);
      for (unsigned i = 0; i < 4; ++i)
        sum.f[i] += weight * texel.f[i];
    }
    return sum;
  }

  // Bit 0: the next in x, bit 1: in y, bit 2: in z.
  Value corner(unsigned which) {
    std::array<std::int64_t, 3> at{0, 0, slice_};
    for (unsigned axis = 0; axis < dimensions_; ++axis) {
      at[axis] = place(axes_[axis].index + ((which >> axis) & 1), extent(axis), modes_[axis]);
      if (at[axis] < 0) return border_of(object_);
    }
    const std::uint64_t address = grid_.address +
                                  static_cast<std::uint64_t>(at[2]) * grid_.slice_bytes +
                                  static_cast<std::uint64_t>(at[1]) * grid_.row_bytes +
                                  static_cast<std::uint64_t>(at[0]) * object_.texel_bytes();
    const std::byte* texel = source_.texel(address, object_.texel_bytes());
    if (texel == nullptr) {
      failed_ = true;
      return {};
    }
    return decode(object_, texel);
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  [[nodiscard]] std::uint32_t extent(unsigned axis) const {
    if (axis == 0) return grid_.width;
    return axis == 1 ? grid_.height : grid_.slices;
  }

  void place_axes() {
    const bool cube = fetch_.shape == TextureShape::kCube;
    dimensions_ = cube ? 2 : static_cast<unsigned>(fetch_.shape) + 1;
    std::array<float, 3> at = fetch_.at;
    std::uint32_t face = 0;
    if (cube) place_on_cube(fetch_.at, &face, &at[0], &at[1]);
    const std::uint32_t per_layer = cube ? 6 : 1;
    const std::uint32_t layers = std::max(grid_.slices / per_layer, 1u);
    slice_ = fetch_.is_layered || cube ? std::min(fetch_.layer, layers - 1) * per_layer + face : 0;
    for (unsigned axis = 0; axis < dimensions_; ++axis) {
      modes_[axis] = cube ? AddressMode::kClamp : mode_of(object_, axis);
      if (fetch_.by_index) {
        // Whole texels do not repeat; outside of plain memory there is nothing.
        axes_[axis] = {fetch_.index[axis], 0};
        if (object_.is_linear) modes_[axis] = AddressMode::kBorder;
      } else {
        axes_[axis] = place_along(object_, at[axis], extent(axis), filters_, modes_[axis]);
      }
    }
  }

  [[nodiscard]] float weight_of(unsigned which) const {
    float weight = 1;
    for (unsigned axis = 0; axis < dimensions_; ++axis)
      weight *= ((which >> axis) & 1) != 0 ? axes_[axis].weight : 1 - axes_[axis].weight;
    return weight;
  }

  const TextureObject& object_;
  const Fetch& fetch_;
  const TexelGrid& grid_;
  TexelSource& source_;
  unsigned dimensions_ = 1;
  bool filters_ = false;
  bool failed_ = false;
  std::int64_t slice_ = 0;
  std::array<Axis, 3> axes_{};
  std::array<AddressMode, 3> modes_{};
};

FetchedTexel result_of(const TextureObject& object, const Value& value, bool failed) {
  FetchedTexel texel;
  texel.failed = failed;
  texel.is_float = !is_integer(object);
  texel.bits = value.bits;
  if (texel.is_float)
    for (unsigned c = 0; c < 4; ++c)
      texel.bits[c] = std::bit_cast<std::uint32_t>(value.f[c]);
  return texel;
}

}  // namespace

FetchedTexel fetch_texel(const TextureObject& object, const Fetch& fetch, TexelSource& source) {
  const float last = static_cast<float>(object.levels.size() - 1);
  const float most = std::min(object.max_level, last);
  float level = last == 0 ? 0 : fetch.level + object.level_bias;
  level = level > object.min_level ? std::min(level, most) : std::min(object.min_level, most);
  const bool between = object.filters_levels && !fetch.by_index;
  const float below = std::max(between ? std::floor(level) : std::floor(level + 0.5f), 0.0f);
  LevelFetch first(object, fetch, object.levels[static_cast<std::size_t>(std::min(below, last))],
                   source);
  Value value = first.filtered();
  const float weight = between ? std::round((level - below) * 256.0f) / 256.0f : 0;
  if (weight == 0 || below >= last || is_integer(object))
    return result_of(object, value, first.failed());
  LevelFetch second(object, fetch, object.levels[static_cast<std::size_t>(below) + 1], source);
  const Value next = second.filtered();
  for (unsigned c = 0; c < 4; ++c)
    value.f[c] += weight * (next.f[c] - value.f[c]);
  return result_of(object, value, first.failed() || second.failed());
}

FetchedTexel gather_texels(const TextureObject& object, const Fetch& fetch, unsigned channel,
                           TexelSource& source) {
  constexpr unsigned kOrder[4] = {2, 3, 1, 0};  // counter-clockwise from the lower left
  LevelFetch level(object, fetch, object.levels[0], source, true);
  Value gathered;
  for (unsigned i = 0; i < 4; ++i) {
    const Value corner = level.corner(kOrder[i]);
    gathered.f[i] = corner.f[channel];
    gathered.bits[i] = corner.bits[channel];
  }
  return result_of(object, gathered, level.failed());
}

}  // namespace drgpum::emulator::exec
