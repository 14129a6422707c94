// SPDX-License-Identifier: Apache-2.0
// atom and red: each operation and type, old values, contention among threads of the host.

#include <algorithm>
#include <bit>
#include <functional>

#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// All 64 threads apply `op` to one word with their number + 1; old values go to out[i].
template <typename T>
struct Outcome {
  T word;
  std::vector<T> old;
};

template <typename T>
Outcome<T> apply(const std::string& op, const std::string& type, T start) {
  const std::string bits = std::to_string(8 * sizeof(T));
  const bool is_float = type[0] == 'f';
  const std::string value = is_float         ? "cvt.rn." + type + ".u32 %v, %r2;"
                            : sizeof(T) == 8 ? "cvt.u64.u32 %v, %r2;"
                                             : "mov.b32 %v, %r2;";
  Machine machine(
      ".visible .entry k(.param .u64 word, .param .u64 out) {\n .reg .b32 %r<9>; .reg .b64 %rd<9>; "
      ".reg ." +
      std::string(is_float ? "f" : "b") + bits + " %v, %old;\n" + R"(
      ld.param.u64 %rd1, [word]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1;
      )" +
      value + "\n atom.global." + op + "." + type +
      " %old, [%rd1], %v;\n mul.wide.u32 %rd3, %r1, " + std::to_string(sizeof(T)) +
      "; add.s64 %rd4, %rd2, %rd3; st.global.b" + bits + " [%rd4], %old; ret; }");
  const U64 word = machine.upload(std::vector<T>{start}), out = machine.upload(std::vector<T>(64));
  const LaunchResult result = machine.run("k", {1}, {64}, word, out);
  EXPECT_FALSE(result.fault) << result.fault->text;
  return {machine.download<T>(word, 1)[0], machine.download<T>(out, 64)};
}

// The same one thread after the other.
template <typename T>
void expect_sequence(const std::string& op, const std::string& type, T start,
                     const std::function<T(T, T)>& step) {
  const Outcome<T> outcome = apply<T>(op, type, start);
  T word = start;
  for (U32 i = 0; i < 64; ++i) {
    EXPECT_EQ(outcome.old[i], word) << op << "." << type << " thread " << i;
    word = step(word, static_cast<T>(i + 1));
  }
  EXPECT_EQ(outcome.word, word) << op << "." << type;
}

TEST(Atomics, ApplyIntegerOperationsInLaneOrder) {
  expect_sequence<U32>("add", "u32", 5, [](U32 a, U32 b) { return a + b; });
  expect_sequence<U64>("add", "u64", ~U64{0} - 3, [](U64 a, U64 b) { return a + b; });
  expect_sequence<std::int32_t>("min", "s32", 50, [](auto a, auto b) { return std::min(a, b); });
  expect_sequence<std::int32_t>("max", "s32", -7, [](auto a, auto b) { return std::max(a, b); });
  expect_sequence<U32>("min", "u32", 0x80000000u, [](U32 a, U32 b) { return std::min(a, b); });
  expect_sequence<U64>("max", "u64", 9, [](U64 a, U64 b) { return std::max(a, b); });
  expect_sequence<U32>("and", "b32", 0xff, [](U32 a, U32 b) { return a & b; });
  expect_sequence<U32>("or", "b32", 0, [](U32 a, U32 b) { return a | b; });
  expect_sequence<U64>("xor", "b64", 77, [](U64 a, U64 b) { return a ^ b; });
  expect_sequence<U32>("exch", "b32", 1, [](U32, U32 b) { return b; });
  expect_sequence<U32>("inc", "u32", 3, [](U32 a, U32 b) { return a >= b ? 0 : a + 1; });
  expect_sequence<U32>("dec", "u32", 9, [](U32 a, U32 b) { return a == 0 || a > b ? b : a - 1; });
}

TEST(Atomics, AddFloats) {
  expect_sequence<float>("add", "f32", 0.5f, [](float a, float b) { return a + b; });
  expect_sequence<double>("add", "f64", 0.5, [](double a, double b) { return a + b; });
}

TEST(Atomics, AddPairsOfHalves) {
  Machine machine(R"(.visible .entry k(.param .u64 word) { .reg .b32 %r<4>; .reg .b64 %rd<4>;
      ld.param.u64 %rd1, [word]; mov.b32 %r1, 0x3c004000; red.global.add.noftz.f16x2 [%rd1], %r1; ret; })");
  const U64 word = machine.upload(std::vector<U32>{0});
  ASSERT_FALSE(machine.run("k", {1}, {32}, word).fault);
  EXPECT_EQ(machine.download<U32>(word, 1)[0], 0x50005400u);  // 32.0 and 64.0
}

TEST(Atomics, CompareAndSwapOnlyEqualWords) {
  // Each thread swaps its number for its successor: only an unbroken chain gets to 64.
  for (const std::string bits : {"32", "64"}) {
    Machine machine(
        ".visible .entry k(.param .u64 word) { .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b" + bits +
        " %c, %v, %o;\n ld.param.u64 %rd1, [word]; mov.u32 %r1, %tid.x; cvt.u" + bits +
        ".u32 %c, %r1; add.u" + bits + " %v, %c, 1;\n atom.global.cas.b" + bits +
        " %o, [%rd1], %c, %v; ret; }");
    const U64 word = machine.upload(std::vector<U64>{0});
    ASSERT_FALSE(machine.run("k", {1}, {64}, word).fault);
    EXPECT_EQ(machine.download<U64>(word, 1)[0], 64u) << bits;
  }
}

TEST(Atomics, WorkInSharedMemoryAndThroughGenericPointers) {
  Machine machine(R"(.visible .entry k(.param .u64 out) {
      .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 bins[16];
      ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; shl.b32 %r2, %r2, 2;
      mov.u32 %r3, bins; add.u32 %r4, %r3, %r2; atom.shared.add.u32 %r5, [%r4], 1;
      cvt.u64.u32 %rd2, %r4; cvta.shared.u64 %rd3, %rd2; red.add.u32 [%rd3], 10;
      bar.sync 0; setp.gt.u32 %p, %r1, 3; @%p bra DONE;
      shl.b32 %r6, %r1, 2; add.u32 %r7, %r3, %r6; ld.shared.u32 %r8, [%r7];
      cvt.u64.u32 %rd4, %r6; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], %r8; DONE: ret; })");
  const U64 out = machine.upload(std::vector<U32>(4));
  const LaunchResult result = machine.run("k", {1}, {128}, out);
  ASSERT_FALSE(result.fault) << result.fault->text;
  EXPECT_EQ(machine.download<U32>(out, 4), std::vector<U32>(4, 32 * 11));
}

TEST(Atomics, AreAtomicAmongWorkerThreads) {
  Machine machine(R"(.visible .entry k(.param .u64 word) { .reg .b64 %rd<4>; .reg .f64 %fd<2>;
      ld.param.u64 %rd1, [word]; red.global.add.u32 [%rd1], 1; mov.f64 %fd1, 0d3FF0000000000000;
      red.global.add.f64 [%rd1+8], %fd1; ret; })");
  machine.config.workers = 4;
  const U64 word = machine.upload(std::vector<U64>(2));
  ASSERT_FALSE(machine.run("k", {200}, {128}, word).fault);
  EXPECT_EQ(machine.download<U32>(word, 1)[0], 25600u);
  EXPECT_EQ(machine.download<double>(word, 2)[1], 25600.0);
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
