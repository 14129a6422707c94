// SPDX-License-Identifier: Apache-2.0
// tex, tld4 and txq through texture objects.

#include <algorithm>
#include <cmath>

#include "emulator/exec/half.h"
#include "emulator/exec/texel_memory.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::OperandKind;

struct TextureFetch : TextureAccess {
  enum class Level : std::uint8_t { kBase, kGiven, kGradient } level = Level::kBase;
  RowOffset lod = 0;
  std::array<std::vector<RowOffset>, 2> gradient;  // change of the coordinates along x and y
  bool gathers = false;
  unsigned channel = 0;  // tld4
  bool halves = false;   // results are two pairs of f16
  RowOffset resident = -1;
};

float gradient_level(WarpContext& warp, const TextureFetch& fetch, const TextureObject& object,
                     unsigned lane) {
  const TexelGrid& base = object.levels[0];
  const std::array<std::uint32_t, 3> extent{base.width, base.height, base.slices};
  float longest = 0;
  for (const auto& rows : fetch.gradient) {
    float square = 0;
    for (std::size_t axis = 0; axis < rows.size(); ++axis) {
      float step = warp.source<float>(rows[axis])[lane];
      if (object.is_normalized) step *= static_cast<float>(extent[axis]);
      square += step * step;
    }
    longest = std::max(longest, std::sqrt(square));
  }
  return std::log2(longest);
}

Fetch fetch_of(WarpContext& warp, const TextureFetch& op, const TextureObject& object,
               unsigned lane) {
  Fetch fetch;
  fetch.shape = op.shape;
  fetch.by_index = op.by_index;
  fetch.is_layered = op.is_layered;
  if (op.is_layered) fetch.layer = warp.source<std::uint32_t>(op.layer)[lane];
  for (std::size_t i = 0; i < op.coordinates.size(); ++i) {
    if (op.by_index)
      fetch.index[i] = warp.source<std::int32_t>(op.coordinates[i])[lane];
    else
      fetch.at[i] = warp.source<float>(op.coordinates[i])[lane];
  }
  if (op.level == TextureFetch::Level::kGiven) {
    fetch.level = op.by_index ? static_cast<float>(warp.source<std::int32_t>(op.lod)[lane])
                              : warp.source<float>(op.lod)[lane];
  } else if (op.level == TextureFetch::Level::kGradient) {
    fetch.level = gradient_level(warp, op, object, lane);
  }
  return fetch;
}

std::uint32_t pair_of_halves(const FetchedTexel& texel, unsigned first) {
  const auto half = [&](unsigned c) {
    return std::uint32_t{to_f16(std::bit_cast<float>(texel.bits[c]))};
  };
  return half(first) | half(first + 1) << 16;
}

// Sectors of the first texel's address stand for the traffic.
void count_texels(WarpContext& warp, std::uint32_t bytes) {
  const auto lanes = static_cast<std::uint64_t>(std::popcount(warp.mask));
  warp.worker->work.global_bytes += lanes * bytes;
  warp.worker->work.global_sectors += (lanes * bytes + 31) / 32;
}

const Op* fetch_texture(const Op* op, WarpContext& warp) {
  const auto& fetch = *static_cast<const TextureFetch*>(op->extra);
  HandleCache objects(warp, op, false);
  LaneTexels texels(warp, op, "texture read");
  const auto* handles = warp.source<std::uint64_t>(fetch.handle);
  // Results may lie where coordinates do: all lanes are read before any is written.
  std::array<FetchedTexel, kLanes> found;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const TextureObject* object = objects.find(lane, handles[lane]);
    if (object == nullptr) return nullptr;
    texels.select(lane);
    const Fetch at = fetch_of(warp, fetch, *object, lane);
    found[lane] = fetch.gathers ? gather_texels(*object, at, fetch.channel, texels)
                                : fetch_texel(*object, at, texels);
    if (found[lane].failed) return nullptr;
    if ((left & (left - 1)) == 0) count_texels(warp, object->texel_bytes());
  }
  for (std::size_t c = 0; c < fetch.results.size(); ++c) {
    auto* row = warp.target<std::uint32_t>(fetch.results[c]);
    for_lanes(warp.mask, [&](unsigned lane) {
      row[lane] = fetch.halves ? pair_of_halves(found[lane], 2 * static_cast<unsigned>(c))
                               : found[lane].bits[c];
    });
  }
  if (fetch.resident >= 0) warp.write_predicate(fetch.resident, warp.mask);
  return op + 1;
}

bool take_results(Builder& builder, const ptx::Instruction& in, TextureFetch& fetch) {
  if (in.destinations.empty() || in.destinations[0].kind != OperandKind::kVector) return false;
  for (unsigned i = 0; i < in.destinations[0].count; ++i)
    fetch.results.push_back(builder.destination(builder.element(in.destinations[0], i), 4));
  fetch.halves = in.type == ptx::Type::kF16x2;
  if (in.destinations.size() > 1 && in.destinations[1].kind == OperandKind::kRegister)
    fetch.resident = builder.predicate(in.destinations[1]);
  return fetch.results.size() <= (fetch.halves ? 2u : 4u);
}

bool take_level(Builder& builder, const ptx::Instruction& in, TextureFetch& fetch) {
  const bool given = has_word(in, "level");
  const bool gradient = has_word(in, "grad");
  const std::size_t expected = 2 + (given ? 1 : 0) + (gradient ? 2 : 0);
  if (in.sources.size() != expected) return false;  // offsets, depth comparison
  if (given) {
    fetch.level = TextureFetch::Level::kGiven;
    fetch.lod = builder.source(in.sources[2], 4);
  }
  for (unsigned i = 0; gradient && i < 2; ++i) {
    fetch.level = TextureFetch::Level::kGradient;
    const ptx::Operand& steps = in.sources[2 + i];
    const bool vector = steps.kind == OperandKind::kVector;
    const auto axes = static_cast<unsigned>(fetch.coordinates.size());
    for (unsigned k = 0; k < std::min(vector ? unsigned{steps.count} : 1u, axes); ++k)
      fetch.gradient[i].push_back(builder.source(vector ? builder.element(steps, k) : steps, 4));
  }
  return true;
}

bool lower_fetch(Builder& builder, const ptx::Instruction& in) {
  auto fetch = std::make_shared<TextureFetch>();
  fetch->by_index = in.source_type == ptx::Type::kS32;
  fetch->gathers = in.opcode == Opcode::kTld4;
  if (!lower_texture_access(builder, in, *fetch) || !take_level(builder, in, *fetch)) return false;
  if (fetch->gathers) {
    constexpr std::string_view kChannels[] = {"r", "g", "b", "a"};
    const auto* channel = std::find(std::begin(kChannels), std::end(kChannels),
                                    in.modifiers.empty() ? "" : in.modifiers[0]);
    if (channel == std::end(kChannels) || fetch->shape != TextureShape::k2d) return false;
    fetch->channel = static_cast<unsigned>(channel - std::begin(kChannels));
  }
  if (!take_results(builder, in, *fetch)) return false;
  builder.out().others.push_back(fetch);
  builder.emit(fetch_texture).extra = fetch.get();
  return true;
}

enum class Query : std::uint8_t {
  kWidth,
  kHeight,
  kDepth,
  kArraySize,
  kLevels,
  kNormalized,
  kChannelType,
  kChannelOrder,
};

struct Named {
  std::string_view word;
  Query query;
};

constexpr Named kQueries[] = {
    {"width", Query::kWidth},
    {"height", Query::kHeight},
    {"depth", Query::kDepth},
    {"array_size", Query::kArraySize},
    {"num_mipmap_levels", Query::kLevels},
    {"normalized_coords", Query::kNormalized},
    {"channel_data_type", Query::kChannelType},
    {"channel_order", Query::kChannelOrder},
};

// The numbers that PTX gives channel types and orders (OpenCL's).
std::uint32_t channel_type(TexelFormat format) {
  switch (format) {
    case TexelFormat::kS8:
      return 0x10d7;
    case TexelFormat::kS16:
      return 0x10d8;
    case TexelFormat::kS32:
      return 0x10d9;
    case TexelFormat::kU8:
      return 0x10da;
    case TexelFormat::kU16:
      return 0x10db;
    case TexelFormat::kU32:
      return 0x10dc;
    case TexelFormat::kF16:
      return 0x10dd;
    case TexelFormat::kF32:
      break;
  }
  return 0x10de;
}

std::uint32_t channel_order(std::uint32_t channels) {
  constexpr std::uint32_t kR = 0x10b0, kRg = 0x10b2, kRgba = 0x10b5;
  if (channels == 1) return kR;
  return channels == 2 ? kRg : kRgba;
}

std::uint32_t answer(const TextureObject& object, Query query) {
  const TexelGrid& base = object.levels[0];
  switch (query) {
    case Query::kWidth:
      return base.width;
    case Query::kHeight:
      return base.height;
    case Query::kDepth:
    case Query::kArraySize:
      return base.slices;
    case Query::kLevels:
      return static_cast<std::uint32_t>(object.levels.size());
    case Query::kNormalized:
      return object.is_normalized ? 1 : 0;
    case Query::kChannelType:
      return channel_type(object.format);
    case Query::kChannelOrder:
      break;
  }
  return channel_order(object.channels);
}

// a: handles; detail: Query; immediate: 1 for surfaces.
const Op* query_texture(const Op* op, WarpContext& warp) {
  HandleCache objects(warp, op, op->immediate != 0);
  const auto* handles = warp.source<std::uint64_t>(op->a);
  std::array<std::uint32_t, kLanes> found{};
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const TextureObject* object = objects.find(lane, handles[lane]);
    if (object == nullptr) return nullptr;
    found[lane] = answer(*object, static_cast<Query>(op->detail));
  }
  store_lanes<std::uint32_t>(warp, op, [&](unsigned i) { return found[i]; });
  return op + 1;
}

bool lower_query(Builder& builder, const ptx::Instruction& in) {
  for (const Named& named : kQueries) {
    if (!has_word(in, named.word) || in.destinations.empty()) continue;
    TextureAccess access;
    if (!lower_texture_access(builder, in, access)) return false;
    const RowOffset dst = builder.destination(in.destinations[0], 4);
    Op& op = builder.emit(query_texture, dst, access.handle);
    op.detail = static_cast<std::uint32_t>(named.query);
    op.immediate = in.opcode == Opcode::kSuq ? 1 : 0;
    return true;
  }
  return false;
}

}  // namespace

bool lower_texture(Builder& builder, const ptx::Instruction& in) {
  switch (in.opcode) {
    case Opcode::kTex:
    case Opcode::kTld4:
      return lower_fetch(builder, in);
    case Opcode::kTxq:
    case Opcode::kSuq:
      return lower_query(builder, in);
    default:
      return false;
  }
}

}  // namespace drgpum::emulator::exec
