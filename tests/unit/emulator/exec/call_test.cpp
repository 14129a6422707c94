// SPDX-License-Identifier: Apache-2.0
// Device functions: arguments, results, recursion, pointers, and what the device runtime provides.

#include <cmath>

#include <gtest/gtest.h>

#include "emulator/exec/builtins.h"
#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr std::string_view kFunctions = R"(
.func (.param .b32 r) triple(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [x]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) negate(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [x]; neg.s32 %r2, %r1; st.param.b32 [r], %r2; ret; }
// The sum of a struct's words, read at varying offsets; early return for half of the lanes.
.func (.param .b32 r) sum(.param .align 4 .b8 s[16], .param .b32 n) {
  .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u32 %r1, [n]; ld.param.u32 %r3, [s]; setp.eq.u32 %p, %r1, 1; @%p bra ONE;
  mov.b64 %rd1, s; mov.u32 %r2, 1;
  LOOP: mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.param.u32 %r4, [%rd3];
  add.u32 %r3, %r3, %r4; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r1; @%p bra LOOP;
  st.param.b32 [r], %r3; ret; ONE: add.u32 %r3, %r3, 1000; st.param.b32 [r], %r3; ret; }
// Recursion to a depth of its own for each lane.
.func (.param .b64 r) factorial(.param .b64 n) {
  .reg .pred %p; .reg .b64 %rd<6>; ld.param.u64 %rd1, [n]; mov.u64 %rd2, 1; setp.lt.u64 %p, %rd1, 2;
  @%p bra DONE; add.s64 %rd3, %rd1, -1;
  { .param .b64 a; .param .b64 v; st.param.b64 [a], %rd3; call.uni (v), factorial, (a); ld.param.b64 %rd4, [v]; }
  mul.lo.s64 %rd2, %rd4, %rd1; DONE: st.param.b64 [r], %rd2; ret; }
.func forever() { call.uni forever; ret; }
)";

std::vector<U32> run(const std::string& body, U32 threads = 32) {
  Machine machine(std::string(kFunctions) + R"(.visible .entry k(.param .u64 out) {
      .reg .pred %p; .reg .b32 %i, %r<12>; .reg .b64 %out, %at, %rd<9>;
      ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.s64 %at, %at, %out;
      )" + body + " st.global.u32 [%at], %r1; ret; }");
  const U64 out = machine.upload(std::vector<U32>(64));
  const LaunchResult result = machine.run("k", {1}, {threads}, out);
  EXPECT_FALSE(result.fault) << result.fault->text;
  return machine.download<U32>(out, 64);
}

TEST(Calls, PassAndReturnScalars) {
  const auto out =
      run(R"({ .param .b32 a; .param .b32 v; st.param.b32 [a], %i; call.uni (v), triple, (a);
      ld.param.b32 %r1, [v]; })");
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 3 * i);
}

TEST(Calls, HappenForTheLanesOfAGuard) {
  const auto out = run(R"(mov.u32 %r1, 1; setp.gt.u32 %p, %i, 20; { .param .b32 a; .param .b32 v;
      st.param.b32 [a], %i; @%p call (v), triple, (a); @%p ld.param.b32 %r1, [v]; })");
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i > 20 ? 3 * i : 1);
}

TEST(Calls, PassStructsAndReturnFromSeveralPlaces) {
  const auto out = run(R"(and.b32 %r2, %i, 3; add.u32 %r2, %r2, 1; mov.u32 %r3, 10; mov.u32 %r4, 20;
      mov.u32 %r5, 30; { .param .align 4 .b8 s[16]; .param .b32 n; .param .b32 v;
      st.param.v2.b32 [s], {%i, %r3}; st.param.b32 [s+8], %r4; st.param.b32 [s+12], %r5;
      st.param.b32 [n], %r2; call.uni (v), sum, (s, n); ld.param.b32 %r1, [v]; })");
  const U32 sums[] = {1000, 10, 30, 60};
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i + sums[i % 4]) << i;
}

TEST(Calls, RecurseToDifferentDepths) {
  const auto out = run(R"(and.b32 %r2, %i, 7; cvt.u64.u32 %rd1, %r2; { .param .b64 a; .param .b64 v;
      st.param.b64 [a], %rd1; call.uni (v), factorial, (a); ld.param.b64 %rd2, [v]; } cvt.u32.u64 %r1, %rd2;
      activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r1, %r1, 100, %r3;)");
  const U32 factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], factorials[i % 8] * 100 + 32) << i;
}

TEST(Calls, GoThroughPointersThatDifferByLane) {
  const auto out =
      run(R"(and.b32 %r2, %i, 1; setp.eq.u32 %p, %r2, 1; mov.u64 %rd1, triple; mov.u64 %rd2, negate;
      selp.b64 %rd3, %rd1, %rd2, %p; { .param .b32 a; .param .b32 v; st.param.b32 [a], %i;
      proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (v), %rd3, (a), proto;
      ld.param.b32 %r1, [v]; } activemask.b32 %r3; popc.b32 %r3, %r3; add.u32 %r1, %r1, %r3;)");
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (i % 2 == 1 ? 3 * i : 0 - i) + 32) << i;
}

TEST(Calls, FaultWhenTheyNestTooDeep) {
  Machine machine(std::string(kFunctions) + ".visible .entry k() { call.uni forever; ret; }");
  const LaunchResult result = machine.run("k", {1}, {32});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kStackOverflow);
}

// printf --------------------------------------------------------------------------------------

struct ListSource final : PrintfSource {
  std::uint64_t next(unsigned) override { return at < values.size() ? values[at++] : 0; }
  std::string text(std::uint64_t address) override { return texts.at(address); }
  std::vector<std::uint64_t> values;
  std::vector<std::string> texts;
  std::size_t at = 0;
};

std::string format(std::string_view text, std::vector<std::uint64_t> values,
                   std::vector<std::string> texts = {}) {
  ListSource source;
  source.values = std::move(values);
  source.texts = std::move(texts);
  std::string out;
  format_printf(text, source, out);
  return out;
}

TEST(Printf, FormatsAsTheHostDoes) {
  const std::uint64_t minus = static_cast<U32>(-5);
  EXPECT_EQ(format("%d|%5d|%-5d|%05d|%+d", {minus, 42, 42, 42, 42}), "-5|   42|42   |00042|+42");
  EXPECT_EQ(format("%u %x %X %#x %o", {minus, 255, 255, 255, 8}), "4294967291 ff FF 0xff 10");
  EXPECT_EQ(format("%lld %ld %llu %lx %zu", {~U64{0}, ~U64{1}, ~U64{0}, 1u << 20, 9}),
            "-1 -2 18446744073709551615 100000 9");
  const auto d = [](double x) { return std::bit_cast<U64>(x); };
  EXPECT_EQ(format("%f %.2f %e %g %8.3f", {d(1.5), d(2.345), d(1e10), d(0.0001), d(-3.14159)}),
            "1.500000 2.35 1.000000e+10 0.0001   -3.142");
  EXPECT_EQ(format("%c%c %s %10s %% %p", {'a', 'b', 0, 1, 0x7000}, {"text", "right"}),
            "ab text      right % 0x7000");
  EXPECT_EQ(format("%*d %.*f %hhd", {6, 42, 1, d(2.25), 300}), "    42 2.2 44");
}

TEST(Printf, PrintsLaneByLaneAndReturnsTheNumberOfArguments) {
  Machine machine(R"(
    .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
    .global .align 1 .b8 text[16] = {116, 32, 37, 100, 32, 37, 46, 49, 102, 10, 0};
    .visible .entry k(.param .u64 out) { .local .align 8 .b8 depot[16]; .reg .b32 %r<4>; .reg .b64 %rd<9>; .reg .f64 %fd<2>;
      ld.param.u64 %rd5, [out]; mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; st.local.u32 [%rd1], %r1;
      cvt.rn.f64.u32 %fd1, %r1; st.local.f64 [%rd1+8], %fd1; mov.u64 %rd3, text; cvta.global.u64 %rd4, %rd3;
      { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd4; st.param.b64 [a], %rd2;
        call.uni (r), vprintf, (f, a); ld.param.b32 %r2, [r]; } st.global.u32 [%rd5], %r2; ret; })");
  const U64 out = machine.upload(std::vector<U32>(1));
  const LaunchResult result = machine.run("k", {1}, {3}, out);
  ASSERT_FALSE(result.fault) << result.fault->text;
  EXPECT_EQ(machine.printed, "t 0 0.0\nt 1 1.0\nt 2 2.0\n");
  EXPECT_EQ(machine.download<U32>(out, 1)[0], 2u);
}

TEST(Assertions, SayWhatFailedWhere) {
  Machine machine(R"(
    .extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
    .global .align 1 .b8 message[8] = {105, 32, 60, 32, 50}; .global .align 1 .b8 file[8] = {97, 46, 99, 117};
    .global .align 1 .b8 name[8] = {102};
    .visible .entry k() { .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<9>; mov.u32 %r1, %tid.y; setp.lt.u32 %p, %r1, 2; @%p bra END;
      mov.u64 %rd1, message; cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, file; cvta.global.u64 %rd4, %rd3; mov.u64 %rd5, name; cvta.global.u64 %rd6, %rd5;
      { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s; st.param.b64 [m], %rd2; st.param.b64 [f], %rd4;
        st.param.b32 [l], 17; st.param.b64 [n], %rd6; st.param.b64 [s], 1; call.uni __assertfail, (m, f, l, n, s); } END: ret; })");
  const LaunchResult result = machine.run("k", {1}, {1, 3});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kAssert);
  EXPECT_EQ(result.fault->text,
            "a.cu:17: f: block: [0,0,0], thread: [0,2,0] Assertion `i < 2` failed.");
}

constexpr std::string_view kHeap = R"(
    .extern .func (.param .b64 r) malloc(.param .b64 s); .extern .func free(.param .b64 p);
    .visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;
      { .param .b64 s; .param .b64 r; st.param.b64 [s], 8; call.uni (r), malloc, (s); ld.param.b64 %rd2, [r]; }
      st.u32 [%rd2], %r1; ld.u32 %r2, [%rd2]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd3, %rd1; st.global.u32 [%rd3], %r2;
      { .param .b64 p; st.param.b64 [p], %rd2; call.uni free, (p); } ret; })";

TEST(DeviceHeap, AllocatesAndFreesThroughTheLaunch) {
  Machine machine(kHeap);
  U32 allocated = 0, freed = 0;
  machine.config.device_malloc = [&](U64 size) {
    ++allocated;
    return machine.memory.allocate(size);
  };
  machine.config.device_free = [&](U64 pointer) {
    ++freed;
    machine.memory.free(pointer);
    return true;
  };
  const U64 out = machine.upload(std::vector<U32>(8));
  const LaunchResult result = machine.run("k", {1}, {8}, out);
  ASSERT_FALSE(result.fault) << result.fault->text;
  EXPECT_EQ(machine.download<U32>(out, 8), (std::vector<U32>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(allocated, 8u);
  EXPECT_EQ(freed, 8u);
}

TEST(DeviceHeap, GivesNullWithoutOne) {
  Machine machine(kHeap);
  const LaunchResult result = machine.run("k", {1}, {8}, machine.upload(std::vector<U32>(8)));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kIllegalAddress);
  EXPECT_EQ(result.fault->address, 0u);
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
