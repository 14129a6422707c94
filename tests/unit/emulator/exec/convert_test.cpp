// SPDX-License-Identifier: Apache-2.0
// cvt: widths, signs, saturation, rounding, NaN; halves against an exhaustive search.

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/exec/half.h"
#include "emulator/exec/op.h"
#include "tests/unit/emulator/exec/lanes.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U64 = std::uint64_t;
using S64 = std::int64_t;

TEST(Conversion, ExtendsAndTruncatesIntegers) {
  expect_lanes({"cvt.s64.s32 %out, %a;", 8, 4},
               [](U64 a, U64, U64, U64) { return static_cast<U64>(S64{as<std::int32_t>(a)}); });
  expect_lanes({"cvt.u64.u32 %out, %a;", 8, 4}, [](U64 a, U64, U64, U64) { return a; });
  expect_lanes({"cvt.u32.u64 %out, %a;", 4, 8},
               [](U64 a, U64, U64, U64) { return a & 0xffffffffu; });
  expect_lanes({"cvt.u16.u32 %out, %a;", 2, 4}, [](U64 a, U64, U64, U64) { return a & 0xffffu; });
  expect_lanes({"cvt.s32.s8 %out, %a;", 4, 4},
               [](U64 a, U64, U64, U64) { return bits_of(std::int32_t{as<std::int8_t>(a)}); });
  expect_lanes({"cvt.u32.u8 %out, %a;", 4, 2}, [](U64 a, U64, U64, U64) { return a & 0xff; });
  expect_lanes({"cvt.s8.s32 %out, %a;", 4, 4},
               [](U64 a, U64, U64, U64) { return bits_of(std::int32_t{as<std::int8_t>(a)}); });
  expect_lanes({"cvt.u8.u32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) { return a & 0xff; });
}

TEST(Conversion, SaturatesIntegers) {
  expect_lanes({"cvt.sat.u8.s32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) {
    return static_cast<U64>(std::clamp(as<std::int32_t>(a), 0, 255));
  });
  expect_lanes({"cvt.sat.s16.u32 %out, %a;", 4, 4},
               [](U64 a, U64, U64, U64) { return std::min<U64>(a, 32767); });
  expect_lanes({"cvt.sat.s32.s64 %out, %a;", 4, 8}, [](U64 a, U64, U64, U64) {
    return bits_of(static_cast<std::int32_t>(std::clamp<S64>(as<S64>(a), INT32_MIN, INT32_MAX)));
  });
  expect_lanes({"cvt.sat.u64.s32 %out, %a;", 8, 4}, [](U64 a, U64, U64, U64) {
    return static_cast<U64>(std::max(as<std::int32_t>(a), 0));
  });
}

TEST(Conversion, MakesFloatsOfIntegers) {
  expect_lanes({"cvt.rn.f32.s32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) {
    return bits_of(static_cast<float>(as<std::int32_t>(a)));
  });
  expect_lanes({"cvt.rn.f32.u64 %out, %a;", 4, 8},
               [](U64 a, U64, U64, U64) { return bits_of(static_cast<float>(a)); });
  expect_lanes({"cvt.rn.f64.s64 %out, %a;", 8, 8},
               [](U64 a, U64, U64, U64) { return bits_of(static_cast<double>(as<S64>(a))); });
  expect_lanes({"cvt.rn.f32.u8 %out, %a;", 4, 2},
               [](U64 a, U64, U64, U64) { return bits_of(static_cast<float>(a & 0xff)); });
  expect_lanes({"cvt.rz.f32.u32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) {
    const int drop = std::max(0, 8 - std::countl_zero(static_cast<std::uint32_t>(a)));
    return bits_of(static_cast<float>(a >> drop << drop));
  });
  expect_lanes({"cvt.rp.f32.s32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) {
    const float near = static_cast<float>(as<std::int32_t>(a));
    const bool below = static_cast<double>(near) < as<std::int32_t>(a);
    return bits_of(below ? std::nextafter(near, INFINITY) : near);
  });
}

// What PTX ISA 9.0 says of NaN: zero between narrow types, the top bit alone otherwise.
template <typename D, typename S>
U64 clamped(S x) {
  if (std::isnan(x)) return sizeof(S) == 4 && sizeof(D) < 8 ? 0 : U64{1} << (8 * sizeof(D) - 1);
  const long double wide = x;
  const long double low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
  return bits_of(static_cast<D>(std::clamp(wide, low, high)));
}

TEST(Conversion, RoundsAndClampsFloatsToIntegers) {
  expect_lanes({"cvt.rzi.s32.f32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) {
    return clamped<std::int32_t>(std::trunc(as<float>(a)));
  });
  expect_lanes({"cvt.rni.s32.f32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) {
    return clamped<std::int32_t>(std::nearbyint(as<float>(a)));
  });
  expect_lanes({"cvt.rmi.u32.f32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) {
    return clamped<std::uint32_t>(std::floor(as<float>(a)));
  });
  expect_lanes({"cvt.rzi.u64.f32 %out, %a;", 8, 4}, [](U64 a, U64, U64, U64) {
    return clamped<std::uint64_t>(std::trunc(as<float>(a)));
  });
  expect_lanes({"cvt.rpi.s64.f64 %out, %a;", 8, 8}, [](U64 a, U64, U64, U64) {
    return clamped<std::int64_t>(std::ceil(as<double>(a)));
  });
  expect_lanes({"cvt.rzi.s32.f64 %out, %a;", 4, 8}, [](U64 a, U64, U64, U64) {
    return clamped<std::int32_t>(std::trunc(as<double>(a)));
  });
}

U64 canonical(float x) {
  return std::isnan(x) ? 0x7fffffffu : bits_of(x);
}

TEST(Conversion, ChangesFloatsWidthAndRoundsToIntegralValues) {
  expect_lanes({"cvt.f64.f32 %out, %a;", 8, 4},
               [](U64 a, U64, U64, U64) { return bits_of(static_cast<double>(as<float>(a))); });
  expect_lanes({"cvt.rn.f32.f64 %out, %a;", 4, 8},
               [](U64 a, U64, U64, U64) { return canonical(static_cast<float>(as<double>(a))); });
  expect_lanes({"cvt.rni.f32.f32 %out, %a;", 4, 4},
               [](U64 a, U64, U64, U64) { return canonical(std::nearbyint(as<float>(a))); });
  expect_lanes({"cvt.rmi.f32.f32 %out, %a;", 4, 4},
               [](U64 a, U64, U64, U64) { return canonical(std::floor(as<float>(a))); });
  expect_lanes({"cvt.sat.f32.f32 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) {
    const float x = as<float>(a);
    return bits_of(x > 0 ? std::min(x, 1.0f) : 0.0f);
  });
}

// The value of a binary16 or bfloat16 word, from its fields.
double value_of(std::uint16_t h, int exponent_bits, int fraction_bits) {
  const int field = h >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = h & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = h >> 15 != 0 ? -1 : 1;
  if (field == (1 << exponent_bits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
  const double significand = field == 0 ? fraction : fraction + (1 << fraction_bits);
  return sign * std::ldexp(significand, std::max(field, 1) - bias - fraction_bits);
}

// Nearest by bisection over the positive finite words; ties to the even one; past the largest
// finite word's half step, infinity.
std::uint16_t nearest_half(double x, int exponent_bits, int fraction_bits) {
  if (std::isnan(x)) return 0x7fff;
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  const auto value = [&](int h) {
    // The step above the largest finite word stands where infinity would.
    return h == infinity ? std::ldexp(1.0, 1 << (exponent_bits - 1))
                         : value_of(static_cast<std::uint16_t>(h), exponent_bits, fraction_bits);
  };
  if (magnitude >= value(infinity)) return sign | infinity;
  int low = 0, high = infinity;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (value(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - value(low), above = value(high) - magnitude;
  const bool up = above < below || (above == below && low % 2 != 0);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

TEST(Conversion, RoundsToHalvesAndBack) {
  expect_lanes({"cvt.rn.f16.f32 %out, %a;", 2, 4},
               [](U64 a, U64, U64, U64) { return U64{nearest_half(as<float>(a), 5, 10)}; });
  expect_lanes({"cvt.rn.bf16.f32 %out, %a;", 2, 4},
               [](U64 a, U64, U64, U64) { return U64{nearest_half(as<float>(a), 8, 7)}; });
  expect_lanes({"cvt.rn.f16.f64 %out, %a;", 2, 8},
               [](U64 a, U64, U64, U64) { return U64{nearest_half(as<double>(a), 5, 10)}; });
  expect_lanes({"cvt.rn.f16.s32 %out, %a;", 2, 4},
               [](U64 a, U64, U64, U64) { return U64{nearest_half(as<std::int32_t>(a), 5, 10)}; });
  expect_lanes({"cvt.f32.f16 %out, %a;", 4, 2}, [](U64 a, U64, U64, U64) {
    return canonical(static_cast<float>(value_of(as<std::uint16_t>(a), 5, 10)));
  });
  expect_lanes({"cvt.rzi.s32.f16 %out, %a;", 4, 2}, [](U64 a, U64, U64, U64) {
    return clamped<std::int32_t>(
        static_cast<float>(std::trunc(value_of(as<std::uint16_t>(a), 5, 10))));
  });
  expect_lanes({"cvt.rn.f16x2.f32 %out, %a, %b;", 4, 4}, [](U64 a, U64 b, U64, U64) {
    return U64{nearest_half(as<float>(a), 5, 10)} << 16 | nearest_half(as<float>(b), 5, 10);
  });
}

TEST(Conversion, RoundsHalvesOverTheirWholeRange) {
  // Around every finite f16: itself, and the ties to its neighbour.
  for (int h = 0; h < 0x7c00; ++h) {
    const double x = value_of(static_cast<std::uint16_t>(h), 5, 10);
    ASSERT_EQ(to_f16(x), h);
    ASSERT_EQ(f16_to_float(static_cast<std::uint16_t>(h)), x);
    const double next = h == 0x7bff ? 65536.0 : value_of(static_cast<std::uint16_t>(h + 1), 5, 10);
    const double middle = (x + next) / 2;
    ASSERT_EQ(to_f16(middle), h % 2 == 0 ? h : h + 1);
    ASSERT_EQ(to_f16(middle, HalfRounding::kZero), h);
    ASSERT_EQ(to_f16(middle, HalfRounding::kUp), h + 1);
    ASSERT_EQ(to_f16(-middle, HalfRounding::kDown), 0x8000 | (h + 1));
    ASSERT_EQ(to_f16(std::nextafter(middle, INFINITY)), h + 1);
  }
}

template <typename F>
void expect_half(const std::string& operation, F&& exact) {
  for (const auto& [type, e, f] :
       std::vector<std::tuple<std::string, int, int>>{{"f16", 5, 10}, {"bf16", 8, 7}}) {
    expect_lanes({operation + "." + type + " %out, %a, %b;", 2, 2, 2, 2, 2},
                 [&, e = e, f = f](U64 a, U64 b, U64, U64) {
                   return U64{nearest_half(exact(value_of(as<std::uint16_t>(a), e, f),
                                                 value_of(as<std::uint16_t>(b), e, f)),
                                           e, f)};
                 });
    expect_lanes({operation + "." + type + "x2 %out, %a, %b;", 4, 4, 4, 4, 4},
                 [&, e = e, f = f](U64 a, U64 b, U64, U64) {
                   U64 result = 0;
                   for (const unsigned shift : {0u, 16u})
                     result |=
                         U64{nearest_half(exact(value_of(as<std::uint16_t>(a >> shift), e, f),
                                                value_of(as<std::uint16_t>(b >> shift), e, f)),
                                          e, f)}
                         << shift;
                   return result;
                 });
  }
}

TEST(HalfArithmetic, RoundsEachResultOnce) {
  expect_half("add.rn", [](double a, double b) { return a + b; });
  expect_half("sub.rn", [](double a, double b) { return a - b; });
  expect_half("mul.rn", [](double a, double b) { return a * b; });
}

TEST(HalfArithmetic, FusesMultiplyAndAdd) {
  expect_lanes({"fma.rn.f16 %out, %a, %b, %c;", 2, 2, 2, 2, 2}, [](U64 a, U64 b, U64 c, U64) {
    const auto v = [](U64 x) { return value_of(as<std::uint16_t>(x), 5, 10); };
    return U64{nearest_half(std::fma(v(a), v(b), v(c)), 5, 10)};
  });
}

TEST(HalfArithmetic, NegatesAndOrders) {
  expect_lanes({"neg.f16x2 %out, %a;", 4, 4}, [](U64 a, U64, U64, U64) { return a ^ 0x80008000u; });
  expect_lanes({"{ setp.lt.f16 %p, %a, %b; selp.b32 %out, 1, 0, %p; }", 4, 2, 2}, [](U64 a, U64 b,
                                                                                     U64, U64) {
    return U64{value_of(as<std::uint16_t>(a), 5, 10) < value_of(as<std::uint16_t>(b), 5, 10) ? 1u
                                                                                             : 0u};
  });
}

// An 8-bit float without its sign, by its definition.
double value_of_fp8(unsigned code, int fraction_bits, int bias) {
  const int exponent = static_cast<int>(code >> fraction_bits);
  const double fraction = code % (1u << fraction_bits) / static_cast<double>(1 << fraction_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

// The nearest by search; of two, the even one.
U64 nearest_fp8(float x, int fraction_bits, int bias, unsigned largest) {
  if (x != x) return 0x7f;
  const double magnitude = std::fabs(static_cast<double>(x));
  unsigned best = 0;
  for (unsigned code = 1; code <= largest; ++code) {
    const double distance = std::fabs(value_of_fp8(code, fraction_bits, bias) - magnitude);
    const double least = std::fabs(value_of_fp8(best, fraction_bits, bias) - magnitude);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  if (std::isinf(x)) best = largest;
  return best | (std::signbit(x) ? 0x80u : 0);
}

TEST(Conversion, RoundsToPairsOf8BitFloats) {
  const auto e4m3 = [](U64 half) {
    return nearest_fp8(f16_to_float(static_cast<std::uint16_t>(half)), 3, 7, 0x7e);
  };
  const auto e5m2 = [](U64 half) {
    return nearest_fp8(f16_to_float(static_cast<std::uint16_t>(half)), 2, 15, 0x7b);
  };
  const Body halves{"cvt.rn.satfinite.e4m3x2.f16x2 %out, %a;", 2, 4};
  expect_lanes(halves,
               [&](U64 a, U64, U64, U64) { return e4m3(a >> 16) << 8 | e4m3(a & 0xffff); });
  expect_lanes({"cvt.rn.satfinite.e5m2x2.f16x2 %out, %a;", 2, 4},
               [&](U64 a, U64, U64, U64) { return e5m2(a >> 16) << 8 | e5m2(a & 0xffff); });
  const Body floats{"cvt.rn.satfinite.e4m3x2.f32 %out, %a, %b;", 2, 4, 4};
  Operands operands = random_operands(floats);
  for (auto* row : {&operands.a, &operands.b})
    for (U64& x : *row)
      x = bits_of(f16_to_float(static_cast<std::uint16_t>(x)));
  const auto of_float = [](U64 x) { return nearest_fp8(as<float>(x), 3, 7, 0x7e); };
  expect_lanes(floats, operands,
               [&](U64 a, U64 b, U64, U64) { return of_float(a) << 8 | of_float(b); });
  expect_lanes({"cvt.rn.satfinite.relu.e4m3x2.f16x2 %out, %a;", 2, 4}, [&](U64 a, U64, U64, U64) {
    const auto relu = [](U64 code) { return code >= 0x80 ? 0 : code; };
    return relu(e4m3(a >> 16)) << 8 | relu(e4m3(a & 0xffff));
  });
}

TEST(Conversion, WidensPairsOf8BitFloats) {
  const auto half = [](U64 code, int fraction_bits, int bias, U64 infinity) -> U64 {
    const U64 magnitude = code & 0x7f;
    if (magnitude > infinity || magnitude == 0x7f) return 0x7fff;
    const double value = value_of_fp8(static_cast<unsigned>(magnitude), fraction_bits, bias);
    const U64 bits = magnitude == infinity ? 0x7c00 : to_f16(value, HalfRounding::kNearest);
    return bits | (code & 0x80) << 8;
  };
  expect_lanes({"cvt.rn.f16x2.e4m3x2 %out, %a;", 4, 2}, [&](U64 a, U64, U64, U64) {
    return half(a >> 8 & 0xff, 3, 7, 0x7f) << 16 | half(a & 0xff, 3, 7, 0x7f);
  });
  expect_lanes({"cvt.rn.f16x2.e5m2x2 %out, %a;", 4, 2}, [&](U64 a, U64, U64, U64) {
    return half(a >> 8 & 0xff, 2, 15, 0x7c) << 16 | half(a & 0xff, 2, 15, 0x7c);
  });
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
