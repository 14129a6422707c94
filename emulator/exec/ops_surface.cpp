// SPDX-License-Identifier: Apache-2.0
// suld and sust through surface objects: x counts bytes, y and z rows and slices.

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "emulator/exec/half.h"
#include "emulator/exec/texel_memory.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::OperandKind;

enum class Outside : std::uint8_t { kTrap, kClamp, kZero };

struct SurfaceAccess : TextureAccess {
  Outside outside = Outside::kTrap;
  unsigned element_bytes = 4;   // in memory
  unsigned register_bytes = 4;  // of the rows
  bool is_formatted = false;    // sust.p: x counts texels, channels are converted
  [[nodiscard]] std::uint32_t bytes() const {
    return element_bytes * static_cast<std::uint32_t>(results.size());
  }
};

// The address of a lane's bytes. False: outside, with nothing to access.
bool place_bytes(const TextureObject& object, const SurfaceAccess& access, std::uint32_t layer,
                 const std::array<std::int32_t, 3>& at, std::uint64_t* address) {
  const TexelGrid& grid = object.levels[0];
  const bool volume = access.shape == TextureShape::k3d;
  const std::int64_t bytes = access.is_formatted ? object.texel_bytes() : access.bytes();
  const std::int64_t row = std::int64_t{grid.width} * object.texel_bytes();
  std::array<std::int64_t, 3> place{at[0], at[1], at[2]};
  if (access.is_formatted) place[0] *= object.texel_bytes();
  if (access.is_layered) place[2] = layer;
  const std::array<std::int64_t, 3> last{row - bytes, std::int64_t{grid.height} - 1,
                                         std::int64_t{grid.slices} - 1};
  const unsigned axes = volume || access.is_layered ? 3 : 2;
  for (unsigned axis = 0; axis < axes; ++axis) {
    if (place[axis] >= 0 && place[axis] <= last[axis]) continue;
    if (access.outside != Outside::kClamp) return false;
    place[axis] = std::clamp<std::int64_t>(place[axis], 0, std::max<std::int64_t>(last[axis], 0));
  }
  *address = grid.address + static_cast<std::uint64_t>(place[2]) * grid.slice_bytes +
             static_cast<std::uint64_t>(place[1]) * grid.row_bytes +
             static_cast<std::uint64_t>(place[0]);
  return true;
}

void raise_outside(WarpContext& warp, const Op* op, unsigned lane, const char* what,
                   const std::array<std::int32_t, 3>& at) {
  raise(warp, op, FaultKind::kIllegalAddress, lane,
        fmt::format("Invalid {}: byte {} of row {}, slice {} is outside of the surface", what,
                    at[0], at[1], at[2]));
}

// Calls `visit(lane, host)` for the active lanes, host being nullptr outside. False: faulted.
template <typename Visit>
bool visit_places(const Op* op, WarpContext& warp, const SurfaceAccess& access, const char* what,
                  Visit&& visit) {
  HandleCache objects(warp, op, true);
  LaneTexels texels(warp, op, what);
  const auto* handles = warp.source<std::uint64_t>(access.handle);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const TextureObject* object = objects.find(lane, handles[lane]);
    if (object == nullptr) return false;
    std::array<std::int32_t, 3> at{};
    for (std::size_t i = 0; i < access.coordinates.size(); ++i)
      at[i] = warp.source<std::int32_t>(access.coordinates[i])[lane];
    const std::uint32_t layer =
        access.is_layered ? warp.source<std::uint32_t>(access.layer)[lane] : 0;
    std::uint64_t address = 0;
    std::byte* host = nullptr;
    if (place_bytes(*object, access, layer, at, &address)) {
      texels.select(lane);
      host = texels.place(address, access.is_formatted ? object->texel_bytes() : access.bytes());
      if (host == nullptr) return false;
    } else if (access.outside == Outside::kTrap) {
      raise_outside(warp, op, lane, what, at);
      return false;
    }
    visit(lane, *object, host);
  }
  warp.worker->work.global_bytes +=
      std::uint64_t{access.bytes()} * static_cast<unsigned>(std::popcount(warp.mask));
  warp.worker->work.global_sectors +=
      (std::uint64_t{access.bytes()} * static_cast<unsigned>(std::popcount(warp.mask)) + 31) / 32;
  return true;
}

const Op* load_surface(const Op* op, WarpContext& warp) {
  const auto& access = *static_cast<const SurfaceAccess*>(op->extra);
  constexpr std::size_t kMost = 16;
  std::array<std::array<std::byte, kMost>, kLanes> found{};
  const bool done = visit_places(op, warp, access, "surface read",
                                 [&](unsigned lane, const TextureObject&, const std::byte* host) {
                                   if (host != nullptr)
                                     std::memcpy(found[lane].data(), host, access.bytes());
                                 });
  if (!done) return nullptr;
  for (std::size_t e = 0; e < access.results.size(); ++e) {
    for_lanes(warp.mask, [&](unsigned lane) {
      std::byte* row = warp.target<std::byte>(access.results[e]) + lane * access.register_bytes;
      std::memset(row, 0, access.register_bytes);
      std::memcpy(row, found[lane].data() + e * access.element_bytes, access.element_bytes);
    });
  }
  return op + 1;
}

void store_formatted(const TextureObject& object, const std::uint32_t* values, std::byte* host) {
  for (unsigned c = 0; c < object.channels; ++c, host += bytes_of(object.format)) {
    std::uint32_t bits = values[c];
    if (object.format == TexelFormat::kF16) bits = to_f16(std::bit_cast<float>(bits));
    std::memcpy(host, &bits, bytes_of(object.format));
  }
}

const Op* store_surface(const Op* op, WarpContext& warp) {
  const auto& access = *static_cast<const SurfaceAccess*>(op->extra);
  const auto store = [&](unsigned lane, const TextureObject& object, std::byte* host) {
    if (host == nullptr) return;
    if (access.is_formatted) {
      std::array<std::uint32_t, 4> values{};
      for (std::size_t e = 0; e < access.results.size(); ++e)
        values[e] = warp.source<std::uint32_t>(access.results[e])[lane];
      return store_formatted(object, values.data(), host);
    }
    for (std::size_t e = 0; e < access.results.size(); ++e)
      std::memcpy(host + e * access.element_bytes,
                  warp.source<std::byte>(access.results[e]) + lane * access.register_bytes,
                  access.element_bytes);
  };
  return visit_places(op, warp, access, "surface write", store) ? op + 1 : nullptr;
}

bool take_shape(Builder& builder, const ptx::Instruction& in, SurfaceAccess& access) {
  access.is_formatted = has_word(in, "p");
  access.by_index = true;
  if (!access.is_formatted && !has_word(in, "b")) return false;
  if (access.is_formatted && in.opcode == Opcode::kSuld) return false;
  access.outside = has_word(in, "trap")    ? Outside::kTrap
                   : has_word(in, "clamp") ? Outside::kClamp
                                           : Outside::kZero;
  access.element_bytes = ptx::bytes_of(in.type);
  access.register_bytes = std::max(access.element_bytes, 2u);
  return access.element_bytes != 0 && lower_texture_access(builder, in, access);
}

// Registers may be wider than the element, all by the same amount.
unsigned widest(Builder& builder, const ptx::Operand& values, unsigned bytes) {
  const bool vector = values.kind == OperandKind::kVector;
  for (unsigned i = 0; i < (vector ? values.count : 1u); ++i) {
    const ptx::Operand& element = vector ? builder.element(values, i) : values;
    if (element.kind == OperandKind::kRegister)
      bytes = std::max(bytes, builder.register_bytes(element.index));
  }
  return bytes;
}

}  // namespace

bool lower_surface(Builder& builder, const ptx::Instruction& in) {
  const bool load = in.opcode == Opcode::kSuld;
  if (!load && in.opcode != Opcode::kSust) return false;
  auto access = std::make_shared<SurfaceAccess>();
  if (!take_shape(builder, in, *access)) return false;
  const ptx::Operand& values = load ? in.destinations.front() : in.sources.back();
  const bool vector = values.kind == OperandKind::kVector;
  access->register_bytes = widest(builder, values, access->register_bytes);
  for (unsigned i = 0; i < (vector ? values.count : 1u); ++i) {
    const ptx::Operand& element = vector ? builder.element(values, i) : values;
    access->results.push_back(load ? builder.destination(element, access->register_bytes)
                                   : builder.source(element, access->register_bytes));
  }
  if (access->bytes() > 16 || access->results.size() > 4) return false;
  builder.out().others.push_back(access);
  builder.emit(load ? load_surface : store_surface).extra = access.get();
  return true;
}

}  // namespace drgpum::emulator::exec
