// SPDX-License-Identifier: Apache-2.0
// setp, set, selp, slct.

#include <cmath>

#include "tests/unit/emulator/exec/lanes.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U64 = std::uint64_t;

std::string into_out(const std::string& comparison) {
  return "{ " + comparison + " selp.b32 %out, 1, 0, %p; }";
}

// Bit 0: less, 1: equal, 2: greater, 3: unordered; `wanted` says for which the word holds.
template <typename T>
void expect_relation(const std::string& word, const std::string& type, unsigned wanted) {
  const unsigned n = sizeof(T);
  expect_lanes({into_out("setp." + word + "." + type + " %p, %a, %b;"), 4, n, n, 4, 4},
               [=](U64 a, U64 b, U64, U64) {
                 const T x = as<T>(a), y = as<T>(b);
                 const unsigned relation = x < y ? 1 : x == y ? 2 : x > y ? 4 : 8;
                 return U64{(wanted & relation) != 0 ? 1u : 0u};
               });
}

TEST(Comparison, OrdersIntegersBySign) {
  expect_relation<std::int32_t>("lt", "s32", 1);
  expect_relation<std::uint32_t>("lt", "u32", 1);
  expect_relation<std::uint32_t>("ge", "u32", 6);
  expect_relation<std::int64_t>("gt", "s64", 4);
  expect_relation<std::uint64_t>("le", "u64", 3);
  expect_relation<std::int16_t>("le", "s16", 3);
  expect_relation<std::uint16_t>("ne", "u16", 5);
  expect_relation<std::uint32_t>("eq", "b32", 2);
  expect_relation<std::uint32_t>("hi", "u32", 4);
  expect_relation<std::uint32_t>("ls", "u32", 3);
}

TEST(Comparison, TreatsNanAsTheWordSays) {
  for (const auto& [word, wanted] : std::vector<std::pair<std::string, unsigned>>{{"eq", 2},
                                                                                  {"ne", 5},
                                                                                  {"lt", 1},
                                                                                  {"le", 3},
                                                                                  {"gt", 4},
                                                                                  {"ge", 6},
                                                                                  {"equ", 10},
                                                                                  {"neu", 13},
                                                                                  {"ltu", 9},
                                                                                  {"leu", 11},
                                                                                  {"gtu", 12},
                                                                                  {"geu", 14},
                                                                                  {"num", 7},
                                                                                  {"nan", 8}}) {
    expect_relation<float>(word, "f32", wanted);
    expect_relation<double>(word, "f64", wanted);
  }
}

TEST(Comparison, CombinesWithAPredicateAndGivesTheComplement) {
  expect_lanes({"{ setp.gt.s32 %q, %c, 0; setp.lt.and.s32 %p|%q, %a, %b, !%q;"
                " selp.b32 %t0, 1, 0, %p; selp.b32 %t1, 2, 0, %q; or.b32 %out, %t0, %t1; }",
                4, 4, 4, 4, 4},
               [](U64 a, U64 b, U64 c, U64) {
                 const bool q = as<std::int32_t>(c) > 0;
                 const bool less = as<std::int32_t>(a) < as<std::int32_t>(b);
                 return U64{(less && !q ? 1u : 0u) | (!less && !q ? 2u : 0u)};
               });
  expect_lanes({"{ setp.gt.s32 %q, %c, 0; setp.eq.xor.u32 %p, %a, %b, %q;"
                " selp.b32 %out, 1, 0, %p; }",
                4, 4, 4, 4, 4},
               [](U64 a, U64 b, U64 c, U64) {
                 return U64{(a == b) != (as<std::int32_t>(c) > 0) ? 1u : 0u};
               });
}

TEST(Comparison, SetsWordsAndFloats) {
  expect_lanes({"set.lt.u32.s32 %out, %a, %b;", 4, 4, 4, 4, 4}, [](U64 a, U64 b, U64, U64) {
    return U64{as<std::int32_t>(a) < as<std::int32_t>(b) ? 0xffffffffu : 0};
  });
  expect_lanes({"set.gtu.f32.f32 %out, %a, %b;", 4, 4, 4, 4, 4}, [](U64 a, U64 b, U64, U64) {
    return U64{!(as<float>(a) <= as<float>(b)) ? 0x3f800000u : 0};
  });
}

TEST(Comparison, SelectsByPredicateAndBySign) {
  expect_lanes({"{ setp.ne.u32 %p, %c, 0; selp.b64 %out, %a, %b, %p; }", 8, 8, 8, 4, 4},
               [](U64 a, U64 b, U64 c, U64) { return c != 0 ? a : b; });
  expect_lanes({"slct.u32.s32 %out, %a, %b, %c;", 4, 4, 4, 4, 4},
               [](U64 a, U64 b, U64 c, U64) { return as<std::int32_t>(c) >= 0 ? a : b; });
  expect_lanes({"slct.b32.f32 %out, %a, %b, %c;", 4, 4, 4, 4, 4},
               [](U64 a, U64 b, U64 c, U64) { return as<float>(c) >= 0 ? a : b; });
}

TEST(Comparison, CombinesPredicatesByLogic) {
  expect_lanes({"{ setp.lt.u32 %p, %a, %b; setp.lt.u32 %q, %c, %d; and.pred %p, %p, %q;"
                " not.pred %p, %p; selp.b32 %out, 1, 0, %p; }",
                4, 4, 4, 4, 4},
               [](U64 a, U64 b, U64 c, U64 d) { return U64{!(a < b && c < d) ? 1u : 0u}; });
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
