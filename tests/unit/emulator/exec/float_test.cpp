// SPDX-License-Identifier: Apache-2.0
// f32 and f64 arithmetic against the host's, and directed rounding against exact products.

#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/unit/emulator/exec/lanes.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U64 = std::uint64_t;

Body singles(const std::string& text) {
  return {text, 4, 4, 4, 4, 4};
}
Body doubles(const std::string& text) {
  return {text, 8, 8, 8, 8, 8};
}

std::uint64_t canonical(float x) {
  return std::isnan(x) ? 0x7fffffffu : bits_of(x);
}

// f64 results that are NaN keep no particular bits: one stands for all.
std::vector<U64> without_nan_bits(std::vector<U64> values) {
  for (U64& v : values)
    if (std::isnan(as<double>(v))) v = 0x7ff8000000000000u;
  return values;
}

template <typename F>
void expect_doubles(const std::string& text, F&& expect) {
  const Body b = doubles(text);
  const Operands o = random_operands(b);
  std::vector<U64> want;
  for (std::size_t i = 0; i < kThreads; ++i)
    want.push_back(bits_of(expect(as<double>(o.a[i]), as<double>(o.b[i]), as<double>(o.c[i]))));
  EXPECT_EQ(without_nan_bits(run_body(b, o)), without_nan_bits(want)) << text;
}

template <typename F>
void expect_singles(const std::string& text, F&& expect) {
  expect_lanes(singles(text), [&](U64 a, U64 b, U64 c, U64) {
    return canonical(expect(as<float>(a), as<float>(b), as<float>(c)));
  });
}

TEST(FloatArithmetic, RoundsToNearest) {
  expect_singles("add.f32 %out, %a, %b;", [](float a, float b, float) { return a + b; });
  expect_singles("sub.f32 %out, %a, %b;", [](float a, float b, float) { return a - b; });
  expect_singles("mul.f32 %out, %a, %b;", [](float a, float b, float) { return a * b; });
  expect_singles("fma.rn.f32 %out, %a, %b, %c;",
                 [](float a, float b, float c) { return std::fma(a, b, c); });
  expect_singles("div.rn.f32 %out, %a, %b;", [](float a, float b, float) { return a / b; });
  expect_singles("rcp.rn.f32 %out, %a;", [](float a, float, float) { return 1.0f / a; });
  expect_singles("sqrt.rn.f32 %out, %a;", [](float a, float, float) { return std::sqrt(a); });
  expect_doubles("add.f64 %out, %a, %b;", [](double a, double b, double) { return a + b; });
  expect_doubles("mul.f64 %out, %a, %b;", [](double a, double b, double) { return a * b; });
  expect_doubles("fma.rn.f64 %out, %a, %b, %c;",
                 [](double a, double b, double c) { return std::fma(a, b, c); });
  expect_doubles("div.rn.f64 %out, %a, %b;", [](double a, double b, double) { return a / b; });
  expect_doubles("sqrt.rn.f64 %out, %a;", [](double a, double, double) { return std::sqrt(a); });
}

// Exact sums and products in long double (64-bit significand), rounded by the mode's definition.
float round_toward(long double exact, int mode) {
  const float near = static_cast<float>(exact);
  const float lowest = -std::numeric_limits<float>::infinity();
  const float highest = std::numeric_limits<float>::infinity();
  if (mode == FE_DOWNWARD || (mode == FE_TOWARDZERO && exact > 0))
    return static_cast<long double>(near) > exact ? std::nextafter(near, lowest) : near;
  return static_cast<long double>(near) < exact ? std::nextafter(near, highest) : near;
}

TEST(FloatArithmetic, RoundsInEveryDirection) {
  // Products of two floats are exact in long double; operands are kept finite and moderate.
  const Body probe = singles("mul.rz.f32 %out, %a, %b;");
  Operands operands = random_operands(probe);
  for (auto* list : {&operands.a, &operands.b})
    for (U64& x : *list)
      x = (x & 0x807fffffu) | ((100 + x % 50) << 23 & 0x7f800000u);
  const auto check = [&](const std::string& word, int mode) {
    expect_lanes(
        singles("mul." + word + ".f32 %out, %a, %b;"), operands, [&](U64 a, U64 b, U64, U64) {
          return bits_of(round_toward(static_cast<long double>(as<float>(a)) * as<float>(b), mode));
        });
  };
  check("rz", FE_TOWARDZERO);
  check("rm", FE_DOWNWARD);
  check("rp", FE_UPWARD);
}

TEST(FloatArithmetic, FlushesSubnormalsWhenAsked) {
  const auto flush = [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  };
  expect_singles("mul.ftz.f32 %out, %a, %b;",
                 [&](float a, float b, float) { return flush(flush(a) * flush(b)); });
  expect_singles("add.ftz.f32 %out, %a, %b;",
                 [&](float a, float b, float) { return flush(flush(a) + flush(b)); });
  expect_lanes(singles("{ setp.lt.ftz.f32 %p, %a, %b; selp.b32 %out, 1, 0, %p; }"),
               [&](U64 a, U64 b, U64, U64) {
                 return U64{flush(as<float>(a)) < flush(as<float>(b)) ? 1u : 0u};
               });
}

TEST(FloatArithmetic, SaturatesToTheUnitInterval) {
  const auto sat = [](float x) { return x > 0 ? std::min(x, 1.0f) : 0.0f; };
  expect_singles("add.sat.f32 %out, %a, %b;", [&](float a, float b, float) { return sat(a + b); });
  expect_singles("fma.rn.sat.f32 %out, %a, %b, %c;",
                 [&](float a, float b, float c) { return sat(std::fma(a, b, c)); });
}

TEST(FloatArithmetic, PrefersNumbersAndKnowsSignedZeros) {
  const auto min = [](float a, float b, float) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  expect_singles("min.f32 %out, %a, %b;", min);
  expect_singles("max.f32 %out, %a, %b;", [&](float a, float b, float) { return -min(-a, -b, 0); });
  expect_singles("max.NaN.f32 %out, %a, %b;", [&](float a, float b, float) {
    return std::isnan(a) || std::isnan(b) ? NAN : -min(-a, -b, 0);
  });
  expect_doubles("min.f64 %out, %a, %b;", [](double a, double b, double) {
    if (a == b) return std::signbit(a) ? a : b;
    return std::fmin(a, b);
  });
}

TEST(FloatArithmetic, WorksOnSignBits) {
  expect_lanes(singles("neg.f32 %out, %a;"), [](U64 a, U64, U64, U64) { return a ^ 0x80000000u; });
  expect_lanes(singles("abs.f32 %out, %a;"), [](U64 a, U64, U64, U64) { return a & 0x7fffffffu; });
  expect_lanes(singles("copysign.f32 %out, %a, %b;"),
               [](U64 a, U64 b, U64, U64) { return (a & 0x80000000u) | (b & 0x7fffffffu); });
  expect_lanes(doubles("neg.f64 %out, %a;"),
               [](U64 a, U64, U64, U64) { return a ^ 0x8000000000000000u; });
}

TEST(FloatArithmetic, ClassifiesNumbers) {
  const auto test = [](const char* word, bool (*holds)(float)) {
    expect_lanes(
        singles("{ testp." + std::string(word) + ".f32 %p, %a; selp.b32 %out, 1, 0, %p; }"),
        [&](U64 a, U64, U64, U64) { return U64{holds(as<float>(a)) ? 1u : 0u}; });
  };
  test("finite", [](float x) { return std::isfinite(x); });
  test("infinite", [](float x) { return std::isinf(x); });
  test("notanumber", [](float x) { return std::isnan(x); });
  test("normal", [](float x) { return std::isnormal(x); });
  test("subnormal", [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

// The bounds of PTX ISA 9.0 for the approximations, in units in the last place or absolutely.
TEST(FloatArithmetic, ApproximatesWithinTheBoundsOfPtx) {
  const auto check = [](const std::string& text, double (*exact)(double), double low, double high,
                        double relative, double absolute) {
    const Body b = singles(text);
    Operands o = random_operands(b);
    for (std::size_t i = 0; i < kThreads; ++i) {
      const double at = low + (high - low) * static_cast<double>(i) / (kThreads - 1);
      o.a[i] = bits_of(static_cast<float>(at));
    }
    const auto got = run_body(b, o);
    ASSERT_EQ(got.size(), kThreads);
    for (std::size_t i = 0; i < kThreads; ++i) {
      const double want = exact(static_cast<double>(as<float>(o.a[i])));
      ASSERT_NEAR(as<float>(got[i]), want, std::fabs(want) * relative + absolute) << text;
    }
  };
  check(
      "ex2.approx.f32 %out, %a;", [](double x) { return std::exp2(x); }, -126, 127, 0x1p-22, 0);
  check(
      "ex2.approx.ftz.f32 %out, %a;", [](double x) { return std::exp2(x); }, -1, 1, 0x1p-22, 0);
  check(
      "lg2.approx.f32 %out, %a;", [](double x) { return std::log2(x); }, 0.25, 900, 0x1p-22,
      0x1p-22);
  check(
      "sin.approx.f32 %out, %a;", [](double x) { return std::sin(x); }, -3.1, 3.1, 0, 0x1p-20);
  check(
      "cos.approx.f32 %out, %a;", [](double x) { return std::cos(x); }, -3.1, 3.1, 0, 0x1p-20);
  check(
      "tanh.approx.f32 %out, %a;", [](double x) { return std::tanh(x); }, -5, 5, 0x1p-11, 0);
  check(
      "rsqrt.approx.f32 %out, %a;", [](double x) { return 1 / std::sqrt(x); }, 0.01, 1e6, 0x1p-22,
      0);
  check(
      "rcp.approx.ftz.f32 %out, %a;", [](double x) { return 1 / x; }, 0.01, 1e6, 0x1p-22, 0);
  check(
      "sqrt.approx.f32 %out, %a;", [](double x) { return std::sqrt(x); }, 0, 1e6, 0x1p-22, 0);
}

TEST(FloatArithmetic, ApproximatesSpecialValuesAsPtxTables) {
  Body b = singles("ex2.approx.ftz.f32 %out, %a;");
  Operands o = random_operands(b);
  o.a[0] = bits_of(-INFINITY);
  o.a[1] = bits_of(INFINITY);
  o.a[2] = bits_of(-0.0f);
  o.a[3] = bits_of(-200.0f);
  const auto got = run_body(b, o);
  EXPECT_EQ(got[0], bits_of(0.0f));
  EXPECT_EQ(got[1], bits_of(INFINITY));
  EXPECT_EQ(got[2], bits_of(1.0f));
  EXPECT_EQ(got[3], bits_of(0.0f));
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
