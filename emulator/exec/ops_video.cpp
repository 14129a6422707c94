// SPDX-License-Identifier: Apache-2.0
// SIMD video instructions: vadd4 and its kin on the bytes or halves of a word, and the scalar ones.
// Source: PTX ISA 9.0, "Video Instructions".

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Compare;

enum class Video : std::uint8_t { kAdd, kSub, kAverage, kAbsDiff, kMin, kMax, kSet };

// One packed instruction: what to do with each part, and whether the parts are summed into c.
struct Packed {
  Video what = Video::kAdd;
  std::uint8_t part_bits = 8;
  bool a_signed = false;
  bool b_signed = false;
  bool d_signed = false;
  bool saturate = false;
  bool accumulate = false;
  Compare compare = Compare::kNone;
};

std::int64_t part(std::uint32_t word, unsigned k, unsigned bits, bool is_signed) {
  const std::uint32_t field = (word >> (k * bits)) & ((1u << bits) - 1);
  if (!is_signed) return field;
  return static_cast<std::int32_t>(field << (32 - bits)) >> (32 - bits);
}

bool compares(Compare compare, std::int64_t a, std::int64_t b) {
  switch (compare) {
    case Compare::kEq:
      return a == b;
    case Compare::kNe:
      return a != b;
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

std::int64_t combine(const Packed& packed, std::int64_t a, std::int64_t b) {
  switch (packed.what) {
    case Video::kAdd:
      return a + b;
    case Video::kSub:
      return a - b;
    case Video::kAverage: {
      const std::int64_t sum = a + b;  // rounded away from zero
      return sum >= 0 ? (sum + 1) >> 1 : -((-sum + 1) >> 1);
    }
    case Video::kAbsDiff:
      return std::abs(a - b);
    case Video::kMin:
      return std::min(a, b);
    case Video::kMax:
      return std::max(a, b);
    default:
      return compares(packed.compare, a, b) ? 1 : 0;
  }
}

std::int64_t clamped(const Packed& packed, std::int64_t value) {
  if (!packed.saturate) return value;
  const std::int64_t span = std::int64_t{1} << packed.part_bits;
  return packed.d_signed ? std::clamp<std::int64_t>(value, -span / 2, span / 2 - 1)
                         : std::clamp<std::int64_t>(value, 0, span - 1);
}

const Op* packed_op(const Op* op, WarpContext& warp) {
  const auto& packed = *reinterpret_cast<const Packed*>(&op->immediate);
  const auto* a = warp.source<std::uint32_t>(op->a);
  const auto* b = warp.source<std::uint32_t>(op->b);
  const auto* c = warp.source<std::uint32_t>(op->c);
  const unsigned bits = packed.part_bits;
  store_lanes<std::uint32_t>(warp, op, [&](unsigned i) {
    std::uint32_t result = packed.accumulate ? c[i] : 0;
    for (unsigned k = 0; k < 32 / bits; ++k) {
      const auto value = static_cast<std::uint32_t>(
          clamped(packed, combine(packed, part(a[i], k, bits, packed.a_signed),
                                  part(b[i], k, bits, packed.b_signed))));
      if (packed.accumulate) {
        result += value;
      } else {
        result |= (value & ((1u << bits) - 1)) << (k * bits);
      }
    }
    return result;
  });
  return op + 1;
}

struct Name {
  std::string_view name;
  Video what;
  std::uint8_t bits;
};

constexpr Name kNames[] = {
    {"vadd4", Video::kAdd, 8},          {"vsub4", Video::kSub, 8},
    {"vavrg4", Video::kAverage, 8},     {"vabsdiff4", Video::kAbsDiff, 8},
    {"vmin4", Video::kMin, 8},          {"vmax4", Video::kMax, 8},
    {"vset4", Video::kSet, 8},          {"vadd2", Video::kAdd, 16},
    {"vsub2", Video::kSub, 16},         {"vavrg2", Video::kAverage, 16},
    {"vabsdiff2", Video::kAbsDiff, 16}, {"vmin2", Video::kMin, 16},
    {"vmax2", Video::kMax, 16},         {"vset2", Video::kSet, 16},
};

bool selects_parts(const ptx::Instruction& in) {
  for (const ptx::Operand& operand : in.sources)
    if (operand.kind == ptx::OperandKind::kRegister && operand.bits != 0) return true;
  return !in.destinations.empty() && in.destinations[0].bits != 0;
}

}  // namespace

bool lower_video(Builder& builder, const ptx::Instruction& in) {
  static_assert(sizeof(Packed) <= sizeof(std::uint64_t));
  if (in.opcode != ptx::Opcode::kVideo || in.sources.size() < 3 || selects_parts(in)) return false;
  const std::string_view name = std::string_view(in.spelling).substr(0, in.spelling.find('.'));
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const Name& n) { return n.name == name; });
  if (found == std::end(kNames)) return false;
  Packed packed;
  packed.what = found->what;
  packed.part_bits = found->bits;
  packed.compare = in.compare;
  packed.saturate = in.sat;
  std::vector<bool> is_signed;  // of d, a, b; vset has only a and b
  for (const std::string& word : in.modifiers) {
    if (word == "add") packed.accumulate = true;
    if (word == "u32" || word == "s32") is_signed.push_back(word == "s32");
  }
  if (is_signed.size() < 2) return false;
  packed.d_signed = is_signed.size() > 2 && is_signed[0];
  packed.a_signed = is_signed[is_signed.size() - 2];
  packed.b_signed = is_signed[is_signed.size() - 1];
  emit_ternary(builder, in, packed_op, 4, 4, 4);
  std::memcpy(&builder.out().ops.back().immediate, &packed, sizeof packed);
  return true;
}

}  // namespace drgpum::emulator::exec
