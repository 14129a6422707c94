// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic against C++ on wide integers.

#include <algorithm>

#include "emulator/exec/op.h"
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

TEST(IntegerArithmetic, AddsAndSubtractsModuloTheWidth) {
  expect_lanes(body("add.s32 %out, %a, %b;", 4),
               [](U64 a, U64 b, U64, U64) { return static_cast<U32>(a + b); });
  expect_lanes(body("add.u64 %out, %a, %b;", 8), [](U64 a, U64 b, U64, U64) { return a + b; });
  expect_lanes(body("add.s16 %out, %a, %b;", 2),
               [](U64 a, U64 b, U64, U64) { return (a + b) & 0xffff; });
  expect_lanes(body("sub.s32 %out, %a, %b;", 4),
               [](U64 a, U64 b, U64, U64) { return static_cast<U32>(a - b); });
  expect_lanes(body("sub.s64 %out, %a, 7;", 8), [](U64 a, U64, U64, U64) { return a - 7; });
  expect_lanes(body("sub.u16 %out, %a, %b;", 2),
               [](U64 a, U64 b, U64, U64) { return (a - b) & 0xffff; });
}

TEST(IntegerArithmetic, SaturatesSignedSums) {
  const auto clamp = [](S64 x) {
    return bits_of(static_cast<S32>(std::clamp<S64>(x, INT32_MIN, INT32_MAX)));
  };
  expect_lanes(body("add.sat.s32 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return clamp(S64{as<S32>(a)} + as<S32>(b)); });
  expect_lanes(body("sub.sat.s32 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return clamp(S64{as<S32>(a)} - as<S32>(b)); });
  expect_lanes(body("mad.hi.sat.s32 %out, %a, %b, %c;", 4), [&](U64 a, U64 b, U64 c, U64) {
    return clamp(((S64{as<S32>(a)} * as<S32>(b)) >> 32) + as<S32>(c));
  });
}

template <typename T, typename F>
U64 by_halves(U64 a, U64 b, F&& combine) {
  U64 result = 0;
  for (unsigned shift = 0; shift < 32; shift += 16)
    result |= U64{static_cast<std::uint16_t>(combine(static_cast<T>(a >> shift),
                                                     static_cast<T>(b >> shift)))}
              << shift;
  return result;
}

TEST(IntegerArithmetic, TakesAWordForTwoHalves) {
  using S16 = std::int16_t;
  using U16 = std::uint16_t;
  const auto sum = [](int a, int b) { return a + b; };
  expect_lanes(body("add.s16x2 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return by_halves<S16>(a, b, sum); });
  expect_lanes(body("add.u16x2 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return by_halves<U16>(a, b, sum); });
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  expect_lanes(body("min.s16x2 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return by_halves<S16>(a, b, least); });
  expect_lanes(body("min.u16x2 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return by_halves<U16>(a, b, least); });
  expect_lanes(body("max.u16x2 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return by_halves<U16>(a, b, most); });
  expect_lanes(body("max.s16x2 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return by_halves<S16>(a, b, most); });
}

TEST(IntegerArithmetic, TakesWhatIsNegativeForZeroWithRelu) {
  using S16 = std::int16_t;
  expect_lanes(body("min.s32.relu %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) {
    return bits_of(std::max(std::min(as<S32>(a), as<S32>(b)), 0));
  });
  expect_lanes(body("max.s32.relu %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) {
    return bits_of(std::max({as<S32>(a), as<S32>(b), 0}));
  });
  expect_lanes(body("min.relu.s16x2 %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) {
    return by_halves<S16>(a, b, [](int x, int y) { return std::max(std::min(x, y), 0); });
  });
  expect_lanes(body("max.s16x2.relu %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) {
    return by_halves<S16>(a, b, [](int x, int y) { return std::max({x, y, 0}); });
  });
}

TEST(IntegerArithmetic, MultipliesLowHighAndWide) {
  expect_lanes(body("mul.lo.s32 %out, %a, %b;", 4),
               [](U64 a, U64 b, U64, U64) { return static_cast<U32>(a * b); });
  expect_lanes(body("mul.lo.u16 %out, %a, %b;", 2),
               [](U64 a, U64 b, U64, U64) { return (a * b) & 0xffff; });
  expect_lanes(body("mul.lo.s64 %out, %a, %b;", 8), [](U64 a, U64 b, U64, U64) { return a * b; });
  expect_lanes(body("mul.hi.u32 %out, %a, %b;", 4),
               [](U64 a, U64 b, U64, U64) { return (a * b) >> 32; });
  expect_lanes(body("mul.hi.s32 %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) {
    return static_cast<U32>(static_cast<U64>(S64{as<S32>(a)} * as<S32>(b)) >> 32);
  });
  expect_lanes(body("mul.hi.s64 %out, %a, %b;", 8), [](U64 a, U64 b, U64, U64) {
    return static_cast<U64>((static_cast<Int128>(as<S64>(a)) * as<S64>(b)) >> 64);
  });
  expect_lanes(body("mul.hi.u64 %out, %a, %b;", 8), [](U64 a, U64 b, U64, U64) {
    return static_cast<U64>((static_cast<Uint128>(a) * b) >> 64);
  });
  expect_lanes(body("mul.wide.s32 %out, %a, %b;", 4, 8), [](U64 a, U64 b, U64, U64) {
    return static_cast<U64>(S64{as<S32>(a)} * as<S32>(b));
  });
  expect_lanes(body("mul.wide.u32 %out, %a, %b;", 4, 8),
               [](U64 a, U64 b, U64, U64) { return a * b; });
  expect_lanes(body("mul.wide.s16 %out, %a, %b;", 2, 4), [](U64 a, U64 b, U64, U64) {
    return bits_of(S32{as<std::int16_t>(a)} * as<std::int16_t>(b));
  });
}

TEST(IntegerArithmetic, MultipliesAndAdds) {
  expect_lanes(body("mad.lo.s32 %out, %a, %b, %c;", 4),
               [](U64 a, U64 b, U64 c, U64) { return static_cast<U32>(a * b + c); });
  expect_lanes(body("mad.hi.u32 %out, %a, %b, %c;", 4),
               [](U64 a, U64 b, U64 c, U64) { return static_cast<U32>(((a * b) >> 32) + c); });
  expect_lanes({"mad.wide.u32 %out, %a, %b, %c;", 8, 4, 4, 8, 4},
               [](U64 a, U64 b, U64 c, U64) { return a * b + c; });
  expect_lanes({"mad.wide.s32 %out, %a, %b, %c;", 8, 4, 4, 8, 4}, [](U64 a, U64 b, U64 c, U64) {
    return static_cast<U64>(S64{as<S32>(a)} * as<S32>(b)) + c;
  });
}

TEST(IntegerArithmetic, MultipliesTwentyFourBits) {
  const auto low = [](U64 x) { return static_cast<S64>(static_cast<S32>(x << 8) >> 8); };
  expect_lanes(body("mul24.lo.s32 %out, %a, %b;", 4),
               [&](U64 a, U64 b, U64, U64) { return static_cast<U32>(low(a) * low(b)); });
  expect_lanes(body("mul24.hi.u32 %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) {
    return static_cast<U32>(((a & 0xffffff) * (b & 0xffffff)) >> 16);
  });
  expect_lanes(body("mad24.lo.u32 %out, %a, %b, %c;", 4), [](U64 a, U64 b, U64 c, U64) {
    return static_cast<U32>((a & 0xffffff) * (b & 0xffffff) + c);
  });
}

TEST(IntegerArithmetic, OrdersBySign) {
  expect_lanes(body("min.s32 %out, %a, %b;", 4),
               [](U64 a, U64 b, U64, U64) { return bits_of(std::min(as<S32>(a), as<S32>(b))); });
  expect_lanes(body("min.u32 %out, %a, %b;", 4),
               [](U64 a, U64 b, U64, U64) { return std::min(a, b); });
  expect_lanes(body("max.s64 %out, %a, %b;", 8),
               [](U64 a, U64 b, U64, U64) { return bits_of(std::max(as<S64>(a), as<S64>(b))); });
  expect_lanes(body("max.u16 %out, %a, %b;", 2),
               [](U64 a, U64 b, U64, U64) { return std::max(a, b); });
}

TEST(IntegerArithmetic, NegatesAndTakesMagnitudes) {
  expect_lanes(body("neg.s32 %out, %a;", 4),
               [](U64 a, U64, U64, U64) { return static_cast<U32>(0 - a); });
  expect_lanes(body("neg.s64 %out, %a;", 8), [](U64 a, U64, U64, U64) { return 0 - a; });
  expect_lanes(body("abs.s32 %out, %a;", 4), [](U64 a, U64, U64, U64) {
    return as<S32>(a) < 0 ? static_cast<U32>(0 - a) : static_cast<U32>(a);
  });
  expect_lanes(body("sad.s32 %out, %a, %b, %c;", 4), [](U64 a, U64 b, U64 c, U64) {
    const S64 x = as<S32>(a), y = as<S32>(b);
    return static_cast<U32>(c + static_cast<U64>(x < y ? y - x : x - y));
  });
  expect_lanes(body("sad.u32 %out, %a, %b, %c;", 4), [](U64 a, U64 b, U64 c, U64) {
    return static_cast<U32>(c + (a < b ? b - a : a - b));
  });
}

TEST(IntegerArithmetic, DividesAsTheHardwareDoesByZeroToo) {
  expect_lanes(body("div.u32 %out, %a, %b;", 4),
               [](U64 a, U64 b, U64, U64) { return b == 0 ? 0xffffffffu : a / b; });
  expect_lanes(body("rem.u32 %out, %a, %b;", 4),
               [](U64 a, U64 b, U64, U64) { return b == 0 ? a : a % b; });
  expect_lanes(body("div.s32 %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) {
    return b == 0 ? U64{0xffffffff} : static_cast<U32>(S64{as<S32>(a)} / as<S32>(b));
  });
  expect_lanes(body("rem.s32 %out, %a, %b;", 4), [](U64 a, U64 b, U64, U64) {
    return b == 0 ? a : static_cast<U32>(S64{as<S32>(a)} % as<S32>(b));
  });
  expect_lanes(body("div.s64 %out, %a, %b;", 8), [](U64 a, U64 b, U64, U64) {
    if (b == 0) return ~U64{0};
    return static_cast<U64>(static_cast<Int128>(as<S64>(a)) / as<S64>(b));
  });
  expect_lanes(body("rem.u64 %out, %a, %b;", 8),
               [](U64 a, U64 b, U64, U64) { return b == 0 ? a : a % b; });
}

// 128-bit sums and products from 64-bit and 32-bit pieces with the carry flag between them.
TEST(IntegerArithmetic, CarriesIntoTheNextWord) {
  expect_lanes(body("{ add.cc.u64 %u0, %a, %b; addc.u64 %out, %c, %d; }", 8),
               [](U64 a, U64 b, U64 c, U64 d) { return c + d + (a + b < a ? 1 : 0); });
  expect_lanes(
      body("{ sub.cc.u32 %t0, %a, %b; subc.u32 %out, %c, %d; }", 4),
      [](U64 a, U64 b, U64 c, U64 d) { return static_cast<U32>(c - d - (a < b ? 1 : 0)); });
  expect_lanes(
      body("{ mad.lo.cc.u32 %t0, %a, %b, %c; madc.hi.u32 %out, %a, %b, %d; }", 4),
      [](U64 a, U64 b, U64 c, U64 d) { return static_cast<U32>(((a * b + c) >> 32) + d); });
  expect_lanes(body("{ add.cc.u32 %t0, %a, %b; addc.cc.u32 %t1, %c, %d; addc.u32 %out, 0, 0; }", 4),
               [](U64 a, U64 b, U64 c, U64 d) { return (c + d + ((a + b) >> 32)) >> 32; });
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
