// SPDX-License-Identifier: Apache-2.0
// Logic, shifts and bit fields against bit-by-bit references.

#include <algorithm>

#include "tests/unit/emulator/exec/lanes.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

Body body(const std::string& text, unsigned bytes, unsigned out = 0) {
  return {text, out == 0 ? bytes : out, bytes, bytes, bytes, bytes};
}

TEST(Bits, CombineByLogic) {
  expect_lanes(body("and.b32 %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) { return a & b; });
  expect_lanes(body("or.b64 %out, %a, %b;", 8), [](U64 a, U64 b, U64, U64) { return a | b; });
  expect_lanes(body("xor.b16 %out, %a, %b;", 2), [](U64 a, U64 b, U64, U64) { return a ^ b; });
  expect_lanes(body("not.b32 %out, %a;", 4),
               [](U64 a, U64, U64, U64) { return static_cast<U32>(~a); });
  expect_lanes(body("cnot.b32 %out, %a;", 4),
               [](U64 a, U64, U64, U64) { return U64{a == 0 ? 1u : 0u}; });
}

TEST(Bits, FollowTheTruthTableOfLop3) {
  for (const unsigned table : {0x80u, 0x96u, 0xe8u, 0x1bu, 0xffu, 0x00u}) {
    expect_lanes(body("lop3.b32 %out, %a, %b, %c, " + std::to_string(table) + ";", 4),
                 [=](U64 a, U64 b, U64 c, U64) {
                   U64 result = 0;
                   for (unsigned i = 0; i < 32; ++i) {
                     const unsigned row = static_cast<unsigned>((a >> i & 1) << 2 |
                                                                (b >> i & 1) << 1 | (c >> i & 1));
                     result |= U64{(table >> row) & 1} << i;
                   }
                   return result;
                 });
  }
}

TEST(Bits, ClampShiftAmounts) {
  expect_lanes({"shl.b32 %out, %a, %b;", 4, 4, 4, 4, 4},
               [](U64 a, U64 b, U64, U64) { return b >= 32 ? 0 : static_cast<U32>(a << b); });
  expect_lanes({"shl.b64 %out, %a, %b;", 8, 8, 4, 4, 4},
               [](U64 a, U64 b, U64, U64) { return b >= 64 ? 0 : a << b; });
  expect_lanes({"shr.u32 %out, %a, %b;", 4, 4, 4, 4, 4},
               [](U64 a, U64 b, U64, U64) { return b >= 32 ? 0 : a >> b; });
  expect_lanes({"shr.s32 %out, %a, %b;", 4, 4, 4, 4, 4},
               [](U64 a, U64 b, U64, U64) { return bits_of(as<S32>(a) >> std::min<U64>(b, 31)); });
  expect_lanes({"shr.s64 %out, %a, %b;", 8, 8, 4, 4, 4},
               [](U64 a, U64 b, U64, U64) { return bits_of(as<S64>(a) >> std::min<U64>(b, 63)); });
  expect_lanes({"shr.u16 %out, %a, %b;", 2, 2, 4, 4, 4},
               [](U64 a, U64 b, U64, U64) { return b >= 16 ? 0 : a >> b; });
}

TEST(Bits, FunnelThroughTwoWords) {
  const auto both = [](U64 low, U64 high) { return high << 32 | low; };
  expect_lanes(body("shf.l.wrap.b32 %out, %a, %b, %c;", 4), [&](U64 a, U64 b, U64 c, U64) {
    return static_cast<U32>((both(a, b) << (c & 31)) >> 32);
  });
  expect_lanes(body("shf.r.wrap.b32 %out, %a, %b, %c;", 4),
               [&](U64 a, U64 b, U64 c, U64) { return static_cast<U32>(both(a, b) >> (c & 31)); });
  expect_lanes(body("shf.r.clamp.b32 %out, %a, %b, %c;", 4), [&](U64 a, U64 b, U64 c, U64) {
    return static_cast<U32>(both(a, b) >> std::min<U64>(c, 32));
  });
  expect_lanes(body("shf.l.clamp.b32 %out, %a, %b, %c;", 4), [&](U64 a, U64 b, U64 c, U64) {
    return static_cast<U32>((both(a, b) << std::min<U64>(c, 32)) >> 32);
  });
}

// bfe as PTX ISA 9.0 writes it: bit by bit.
U64 extract(U64 a, unsigned width, bool is_signed, U64 b, U64 c) {
  const U64 position = b & 0xff, length = c & 0xff, top = width - 1;
  U64 sign = 0;
  if (is_signed && length != 0) sign = a >> std::min(position + length - 1, top) & 1;
  U64 d = 0;
  for (U64 i = 0; i <= top; ++i) {
    const U64 bit = i < length && position + i <= top ? a >> (position + i) & 1 : sign;
    d |= bit << i;
  }
  return d;
}

Operands small_fields(const Body& b) {
  Operands operands = random_operands(b);
  for (std::size_t i = 0; i < kThreads; ++i) {
    if (i % 4 != 0) operands.b[i] %= 80;
    if (i % 4 != 0) operands.c[i] %= 80;
    if (i % 4 != 0) operands.d[i] %= 80;
  }
  return operands;
}

TEST(Bits, ExtractFields) {
  const Body u32 = {"bfe.u32 %out, %a, %b, %c;", 4, 4, 4, 4, 4};
  expect_lanes(u32, small_fields(u32),
               [](U64 a, U64 b, U64 c, U64) { return extract(a, 32, false, b, c); });
  const Body s32 = {"bfe.s32 %out, %a, %b, %c;", 4, 4, 4, 4, 4};
  expect_lanes(s32, small_fields(s32),
               [](U64 a, U64 b, U64 c, U64) { return extract(a, 32, true, b, c); });
  const Body s64 = {"bfe.s64 %out, %a, %b, %c;", 8, 8, 4, 4, 4};
  expect_lanes(s64, small_fields(s64),
               [](U64 a, U64 b, U64 c, U64) { return extract(a, 64, true, b, c); });
}

TEST(Bits, InsertFields) {
  const auto insert = [](U64 a, U64 b, U64 c, U64 d, unsigned width) {
    const U64 position = c & 0xff, length = d & 0xff;
    U64 f = b;
    for (U64 i = 0; i < length && position + i < width; ++i) {
      f &= ~(U64{1} << (position + i));
      f |= (a >> i & 1) << (position + i);
    }
    return f;
  };
  const Body b32 = {"bfi.b32 %out, %a, %b, %c, %d;", 4, 4, 4, 4, 4};
  Operands operands = small_fields(b32);
  operands.b = interesting(4, 9);
  expect_lanes(b32, operands, [&](U64 a, U64 b, U64 c, U64 d) { return insert(a, b, c, d, 32); });
  const Body b64 = {"bfi.b64 %out, %a, %b, %c, %d;", 8, 8, 8, 4, 4};
  operands = small_fields(b64);
  operands.b = interesting(8, 9);
  expect_lanes(b64, operands, [&](U64 a, U64 b, U64 c, U64 d) { return insert(a, b, c, d, 64); });
}

TEST(Bits, CountAndFind) {
  expect_lanes(body("clz.b32 %out, %a;", 4),
               [](U64 a, U64, U64, U64) { return U64(std::countl_zero(static_cast<U32>(a))); });
  expect_lanes(body("clz.b64 %out, %a;", 8, 4),
               [](U64 a, U64, U64, U64) { return U64(std::countl_zero(a)); });
  expect_lanes(body("popc.b64 %out, %a;", 8, 4),
               [](U64 a, U64, U64, U64) { return U64(std::popcount(a)); });
  expect_lanes(body("brev.b32 %out, %a;", 4), [](U64 a, U64, U64, U64) {
    U64 r = 0;
    for (unsigned i = 0; i < 32; ++i)
      r |= (a >> i & 1) << (31 - i);
    return r;
  });
  const auto find = [](S64 a, unsigned top) {
    for (unsigned i = top + 1; i-- > 0;)
      if (((a >> i) & 1) != (a < 0 ? 1 : 0)) return U64{i};
    return U64{0xffffffffu};
  };
  expect_lanes(body("bfind.s32 %out, %a;", 4),
               [&](U64 a, U64, U64, U64) { return find(as<S32>(a), 31); });
  expect_lanes(body("bfind.u32 %out, %a;", 4),
               [&](U64 a, U64, U64, U64) { return find(static_cast<S64>(a), 31); });
  expect_lanes(body("bfind.shiftamt.u32 %out, %a;", 4), [&](U64 a, U64, U64, U64) {
    return a == 0 ? U64{0xffffffffu} : 31 - find(static_cast<S64>(a), 31);
  });
}

TEST(Bits, FindTheNthSetBit) {
  const Body b = {"fns.b32 %out, %a, %b, %c;", 4, 4, 4, 4, 4};
  Operands operands = random_operands(b);
  for (std::size_t i = 0; i < kThreads; ++i) {
    operands.b[i] %= 32;
    operands.c[i] = static_cast<U32>(static_cast<S32>(operands.c[i] % 9) - 4);
  }
  expect_lanes(b, operands, [](U64 mask, U64 base, U64 n, U64) {
    const S32 offset = as<S32>(n);
    if (offset == 0) return (mask >> base & 1) != 0 ? base : U64{0xffffffffu};
    S32 seen = 0;
    for (S64 at = static_cast<S64>(base); at >= 0 && at<32; at += offset> 0 ? 1 : -1) {
      if ((mask >> at & 1) == 0) continue;
      if (++seen == std::abs(offset)) return static_cast<U64>(at);
    }
    return U64{0xffffffffu};
  });
}

TEST(Bits, PermuteBytes) {
  expect_lanes(body("prmt.b32 %out, %a, %b, %c;", 4), [](U64 a, U64 b, U64 c, U64) {
    U64 d = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const U64 selector = c >> (4 * i) & 15;
      U64 byte = (b << 32 | a) >> (8 * (selector & 7)) & 0xff;
      if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
      d |= byte << (8 * i);
    }
    return d;
  });
  expect_lanes(body("prmt.b32.f4e %out, %a, %b, 3;", 4),
               [](U64 a, U64 b, U64, U64) { return static_cast<U32>((b << 32 | a) >> 24); });
  expect_lanes(body("prmt.b32.rc8 %out, %a, %b, 2;", 4),
               [](U64 a, U64, U64, U64) { return (a >> 16 & 0xff) * 0x01010101u; });
}

TEST(Bits, MakeMasksAndExtendSigns) {
  const auto few = [](const Body& b) {
    Operands operands = random_operands(b);
    for (auto& x : operands.b)
      x %= 40;
    return operands;
  };
  const Body mask = {"bmsk.clamp.b32 %out, %a, %b;", 4, 4, 4, 4, 4};
  Operands operands = few(mask);
  for (auto& x : operands.a)
    x %= 40;
  expect_lanes(mask, operands, [](U64 a, U64 b, U64, U64) {
    U64 d = 0;
    for (U64 i = a; i < std::min<U64>(a + std::min<U64>(b, 32), 32); ++i)
      d |= U64{1} << i;
    return d;
  });
  const Body extend = {"szext.clamp.s32 %out, %a, %b;", 4, 4, 4, 4, 4};
  expect_lanes(extend, few(extend), [](U64 a, U64 b, U64, U64) {
    if (b == 0) return U64{0};
    if (b >= 32) return a;
    const U64 low = a & ((U64{1} << b) - 1);
    return (low >> (b - 1)) != 0 ? static_cast<U64>(static_cast<U32>(low | ~U64{0} << b)) : low;
  });
}

TEST(Bits, MultiplyBytesPairwise) {
  expect_lanes(body("dp4a.s32.u32 %out, %a, %b, %c;", 4), [](U64 a, U64 b, U64 c, U64) {
    U64 sum = c;
    for (unsigned i = 0; i < 4; ++i)
      sum += static_cast<U64>(S64{as<std::int8_t>(a >> 8 * i)} * S64{as<std::uint8_t>(b >> 8 * i)});
    return static_cast<U64>(static_cast<U32>(sum));
  });
  expect_lanes(body("dp2a.hi.u32.s32 %out, %a, %b, %c;", 4), [](U64 a, U64 b, U64 c, U64) {
    U64 sum = c;
    for (unsigned i = 0; i < 2; ++i)
      sum += static_cast<U64>(S64{as<std::uint16_t>(a >> 16 * i)} *
                              S64{as<std::int8_t>(b >> (16 + 8 * i))});
    return static_cast<U64>(static_cast<U32>(sum));
  });
}

TEST(Bits, AddBytesAsVideoInstructionsDo) {
  expect_lanes(body("vabsdiff4.u32.u32.u32.add %out, %a, %b, %c;", 4),
               [](U64 a, U64 b, U64 c, U64) {
                 U64 sum = c;
                 for (unsigned i = 0; i < 4; ++i) {
                   const S64 x = as<std::uint8_t>(a >> 8 * i), y = as<std::uint8_t>(b >> 8 * i);
                   sum += static_cast<U64>(x < y ? y - x : x - y);
                 }
                 return static_cast<U64>(static_cast<U32>(sum));
               });
  expect_lanes(body("vadd4.u32.u32.u32.sat %out, %a, %b, %c;", 4), [](U64 a, U64 b, U64, U64) {
    U64 d = 0;
    for (unsigned i = 0; i < 4; ++i)
      d |= std::min<U64>((a >> 8 * i & 0xff) + (b >> 8 * i & 0xff), 255) << 8 * i;
    return d;
  });
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
