// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/texel_memory.h"

#include <algorithm>

#include <fmt/format.h>

namespace drgpum::emulator::exec {
namespace {

using ptx::OperandKind;

struct Geometry {
  std::string_view word;
  TextureShape shape;
  bool is_layered;
  unsigned coordinates;
};

constexpr Geometry kGeometries[] = {
    {"1d", TextureShape::k1d, false, 1},     {"2d", TextureShape::k2d, false, 2},
    {"3d", TextureShape::k3d, false, 3},     {"a1d", TextureShape::k1d, true, 1},
    {"a2d", TextureShape::k2d, true, 2},     {"cube", TextureShape::kCube, false, 3},
    {"acube", TextureShape::kCube, true, 3},
};

const Geometry* geometry_of(const ptx::Instruction& in) {
  for (const Geometry& geometry : kGeometries)
    if (has_word(in, geometry.word)) return &geometry;
  return nullptr;
}

}  // namespace

bool lower_texture_access(Builder& builder, const ptx::Instruction& in, TextureAccess& access) {
  const auto address = std::find_if(in.sources.begin(), in.sources.end(), [](const auto& operand) {
    return operand.kind == OperandKind::kAddress;
  });
  if (address == in.sources.end() || address->address_base != ptx::AddressBase::kRegister)
    return false;  // a texture reference or a sampler of its own
  ptx::Operand handle = *address;
  handle.kind = OperandKind::kRegister;
  access.handle = builder.source(handle, 8);
  const Geometry* geometry = geometry_of(in);
  if (geometry == nullptr) return address->count == 0;  // txq, suq
  if (address->count != 1) return false;
  access.shape = geometry->shape;
  access.is_layered = geometry->is_layered;
  const ptx::Operand& place = *(address + 1);
  const bool vector = place.kind == OperandKind::kVector;
  const unsigned given = vector ? place.count : 1;
  const unsigned first = geometry->is_layered ? 1 : 0;
  if (given < first + geometry->coordinates) return false;
  const auto row = [&](unsigned i) {
    return builder.source(vector ? builder.element(place, i) : place, 4);
  };
  if (geometry->is_layered) access.layer = row(0);
  for (unsigned i = 0; i < geometry->coordinates; ++i)
    access.coordinates.push_back(row(first + i));
  return true;
}

std::byte* LaneTexels::place(std::uint64_t address, std::uint32_t bytes) {
  CachedAllocation& cached = warp_.worker->cached(op_);
  const auto held = [&] { return address >= cached.begin && address + bytes <= cached.end; };
  if (held() || (look_up(*warp_.worker, cached, address) && held()))
    return reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(cached.alias));
  raise(warp_, op_, FaultKind::kIllegalAddress, lane_,
        fmt::format("Invalid {} of size {} bytes: nothing is allocated at {:#x}, where its object's"
                    " memory was",
                    what_, bytes, address));
  return nullptr;
}

const std::byte* LaneTexels::texel(std::uint64_t address, std::uint32_t bytes) {
  return place(address, bytes);
}

const TextureObject* HandleCache::find(unsigned lane, std::uint64_t handle) {
  if (last_ != nullptr && handle == last_handle_) return last_;
  const TextureTable* table = warp_.worker->launch->config->textures;
  const char* what = surfaces_ ? "surface" : "texture";
  const TextureObject* found = table == nullptr ? nullptr
                               : surfaces_      ? table->find_surface(handle)
                                                : table->find_texture(handle);
  if (found == nullptr) {
    raise(
        warp_, op_, FaultKind::kIllegalAddress, lane,
        fmt::format("Invalid {} access: {:#x} is the handle of no {} object", what, handle, what));
    return nullptr;
  }
  last_handle_ = handle;
  last_ = found;
  return found;
}

}  // namespace drgpum::emulator::exec
