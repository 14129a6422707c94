// SPDX-License-Identifier: Apache-2.0
// Loads and stores in every space, width and pattern of addresses.

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/lanes.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Kernel (in, out): each thread loads by `load` from %in into a register that `store` puts to %out;
// %i is the thread's number.
std::string copy_kernel(const std::string& body) {
  return R"(.visible .entry copy(.param .u64 in, .param .u64 out) {
    .reg .pred %p; .reg .b16 %h<9>; .reg .b32 %i, %j, %r<9>; .reg .f32 %f<9>; .reg .b64 %in, %out, %w, %rd<9>;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x;
    )" + body +
         "\n ret; }";
}

std::vector<U32> counting(std::size_t n) {
  std::vector<U32> values(n);
  std::iota(values.begin(), values.end(), 0x01020304u);
  return values;
}

std::vector<U32> copy(const std::string& body, std::size_t out_words, U32 threads = 64) {
  Machine machine(copy_kernel(body));
  const U64 in = machine.upload(counting(4096)), out = machine.upload(std::vector<U32>(out_words));
  const LaunchResult result = machine.run("copy", {1}, {threads}, in, out);
  EXPECT_FALSE(result.fault) << result.fault->text;
  return machine.download<U32>(out, out_words);
}

TEST(Memory, MovesContiguousWords) {
  EXPECT_EQ(copy(R"(mul.wide.u32 %w, %i, 4; add.s64 %rd1, %in, %w; add.s64 %rd2, %out, %w;
                    ld.global.u32 %r1, [%rd1+8]; st.global.u32 [%rd2], %r1;)",
                 64)[63],
            0x01020304u + 65);
}

TEST(Memory, BroadcastsOneWord) {
  const auto out = copy(R"(mul.wide.u32 %w, %i, 4; add.s64 %rd2, %out, %w;
                           ld.global.nc.u32 %r1, [%in+40]; st.global.u32 [%rd2], %r1;)",
                        64);
  EXPECT_EQ(out, std::vector<U32>(64, 0x01020304u + 10));
}

TEST(Memory, GathersAndScatters) {
  // out[i * 37 % 64] = in[i * 53 % 64]
  const auto out = copy(R"(mul.lo.u32 %r1, %i, 53; and.b32 %r1, %r1, 63; mul.wide.u32 %rd1, %r1, 4;
                           mul.lo.u32 %r2, %i, 37; and.b32 %r2, %r2, 63; mul.wide.u32 %rd2, %r2, 4;
                           add.s64 %rd1, %rd1, %in; add.s64 %rd2, %rd2, %out;
                           ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd2], %r3;)",
                        64);
  for (U32 i = 0; i < 64; ++i)
    EXPECT_EQ(out[i * 37 % 64], 0x01020304u + i * 53 % 64);
}

TEST(Memory, KeepsTheLastLaneOfStoresToOneWord) {
  EXPECT_EQ(copy("st.global.u32 [%out], %i;", 1, 32)[0], 31u);
}

TEST(Memory, ExtendsNarrowLoads) {
  const auto out = copy(R"(mul.wide.u32 %w, %i, 4; add.s64 %rd2, %out, %w; cvt.u64.u32 %rd3, %i;
                           add.s64 %rd1, %in, %rd3; ld.global.s8 %r1, [%rd1]; ld.global.u8 %h1, [%rd1];
                           cvt.u32.u16 %r2, %h1; shl.b32 %r1, %r1, 8; or.b32 %r1, %r1, %r2;
                           st.global.u32 [%rd2], %r1;)",
                        64);
  const auto in = counting(16);
  for (U32 i = 0; i < 64; ++i) {
    const auto byte = static_cast<std::uint8_t>(in[i / 4] >> (8 * (i % 4)));
    EXPECT_EQ(out[i], static_cast<U32>(std::int32_t{std::bit_cast<std::int8_t>(byte)} << 8) | byte);
  }
}

TEST(Memory, StoresNarrowParts) {
  const auto out = copy(R"(cvt.u64.u32 %rd1, %i; add.s64 %rd1, %rd1, %out; add.u32 %r1, %i, 300;
                           st.global.u8 [%rd1], %r1; mul.wide.u32 %w, %i, 2; add.s64 %rd2, %out, %w;
                           cvt.u16.u32 %h1, %i; st.global.u16 [%rd2+64], %h1;)",
                        64);
  for (U32 i = 0; i < 64; ++i)
    EXPECT_EQ(out[i / 4] >> (8 * (i % 4)) & 0xff, (i + 300) & 0xff);
  for (U32 i = 0; i < 64; ++i)
    EXPECT_EQ(out[16 + i / 2] >> (16 * (i % 2)) & 0xffff, i);
}

TEST(Memory, MovesVectors) {
  const std::string body =
      R"(mul.wide.u32 %w, %i, 16; add.s64 %rd1, %in, %w; add.s64 %rd2, %out, %w;
         ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]; st.global.v4.u32 [%rd2], {%r4, %r3, %r2, %r1};
         ld.global.v2.u64 {%rd3, %rd4}, [%rd1]; st.global.v2.b64 [%rd2+1024], {%rd4, %rd3};)";
  const auto out = copy(body, 512), in = counting(256);
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(out[i], in[i - i % 4 + 3 - i % 4]) << i;
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(out[256 + i], in[i ^ 2]) << i;
}

TEST(Memory, LoadsVectorsFromOneAddressAndFromMany) {
  const auto out = copy(R"(mul.wide.u32 %w, %i, 8; add.s64 %rd2, %out, %w;
                           mul.lo.u32 %r5, %i, 3; and.b32 %r5, %r5, 63; mul.wide.u32 %rd3, %r5, 8; add.s64 %rd1, %in, %rd3;
                           ld.global.v2.u32 {%r1, %r2}, [%rd1]; ld.global.v2.u32 {%r3, %r4}, [%in+16];
                           add.u32 %r1, %r1, %r3; add.u32 %r2, %r2, %r4;
                           st.global.v2.u32 [%rd2], {%r1, %r2};)",
                        128);
  const auto in = counting(256);
  for (U32 i = 0; i < 64; ++i) {
    EXPECT_EQ(out[2 * i], in[2 * (i * 3 % 64)] + in[4]);
    EXPECT_EQ(out[2 * i + 1], in[2 * (i * 3 % 64) + 1] + in[5]);
  }
}

TEST(Memory, SharesWordsWithinABlock) {
  const auto out = copy(R"(.shared .align 4 .b8 buffer[256];
      mov.u32 %r1, buffer; shl.b32 %r2, %i, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %i;
      bar.sync 0; sub.u32 %r4, 252, %r2; add.u32 %r4, %r4, %r1; ld.shared.u32 %r5, [%r4];
      mul.wide.u32 %w, %i, 4; add.s64 %rd2, %out, %w; st.global.u32 [%rd2], %r5;)",
                        64);
  for (U32 i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 63 - i);
}

TEST(Memory, WrapsSharedAddressesAt32Bits) {
  const auto out = copy(R"(.shared .align 4 .b8 buffer[256];
      mov.u32 %r1, buffer; shl.b32 %r2, %i, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %i;
      sub.u32 %r3, %r3, 400; ld.shared.u32 %r5, [%r3+400];
      mul.wide.u32 %w, %i, 4; add.s64 %rd2, %out, %w; st.global.u32 [%rd2], %r5;)",
                        64);
  for (U32 i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i);
}

TEST(Memory, KeepsLocalVariablesPerThread) {
  const auto out = copy(R"(.local .align 8 .b8 depot[32];
      mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; st.local.u32 [%rd1+4], %i;
      and.b32 %r1, %i, 3; mul.wide.u32 %w, %r1, 4; add.s64 %rd3, %rd1, %w; add.u32 %r2, %i, 100;
      st.local.u32 [%rd3+16], %r2;
      ld.u32 %r3, [%rd2+4]; add.s64 %rd4, %rd2, %w; ld.u32 %r4, [%rd4+16]; add.u32 %r3, %r3, %r4;
      mul.wide.u32 %w, %i, 4; add.s64 %rd5, %out, %w; st.global.u32 [%rd5], %r3;)",
                        64);
  for (U32 i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 2 * i + 100);
}

TEST(Memory, ResolvesGenericAddressesLaneByLane) {
  // Even threads write to shared memory, odd ones to global memory, by the same instruction.
  const auto out = copy(R"(.shared .align 4 .b8 buffer[256];
      mov.u32 %r1, buffer; cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd2, %rd1;
      mul.wide.u32 %w, %i, 4; add.s64 %rd3, %rd2, %w; add.s64 %rd4, %out, %w;
      and.b32 %r2, %i, 1; setp.eq.u32 %p, %r2, 1; selp.b64 %rd5, %rd4, %rd3, %p;
      add.u32 %r3, %i, 1; st.u32 [%rd5], %r3;
      isspacep.shared %p, %rd5; @!%p bra DONE;
      cvta.to.shared.u64 %rd6, %rd5; ld.shared.u32 %r4, [%rd6]; st.global.u32 [%rd4], %r4; DONE:)",
                        64);
  for (U32 i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i + 1);
}

TEST(Memory, ReadsConstantsAndInitialisedGlobals) {
  Machine machine(R"(
    .const .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};
    .global .align 4 .u32 scale = 10;
    .visible .entry k(.param .u64 out) {
      .reg .b32 %r<9>; .reg .b64 %rd<9>;
      ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
      mov.u64 %rd3, table; add.s64 %rd4, %rd3, %rd2; ld.const.u32 %r2, [%rd4]; ld.const.u32 %r3, [table+4];
      ld.global.u32 %r4, [scale]; mul.lo.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r3;
      add.s64 %rd5, %rd1, %rd2; st.global.u32 [%rd5], %r2; ret; })");
  const U64 out = machine.upload(std::vector<U32>(4));
  const LaunchResult result = machine.run("k", {1}, {4}, out);
  ASSERT_FALSE(result.fault) << result.fault->text;
  EXPECT_EQ(machine.download<U32>(out, 4), (std::vector<U32>{12, 22, 32, 42}));
}

TEST(Memory, ReadsStructParametersAtVaryingOffsets) {
  Machine machine(R"(.visible .entry k(.param .align 4 .b8 s[16], .param .u64 out) {
      .reg .b32 %r<9>; .reg .b64 %rd<9>;
      ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
      mov.b64 %rd3, s; add.s64 %rd4, %rd3, %rd2; ld.param.u32 %r2, [%rd4]; ld.param.u32 %r3, [s+12];
      add.u32 %r2, %r2, %r3; add.s64 %rd5, %rd1, %rd2; st.global.u32 [%rd5], %r2; ret; })");
  const U64 out = machine.upload(std::vector<U32>(4));
  std::vector<std::byte> parameters(24);
  const U32 values[4] = {1, 2, 3, 100};
  std::memcpy(parameters.data(), values, 16);
  std::memcpy(parameters.data() + 16, &out, 8);
  const LaunchResult result = machine.launch_packed("k", {1}, {4}, parameters);
  ASSERT_FALSE(result.fault) << result.fault->text;
  EXPECT_EQ(machine.download<U32>(out, 4), (std::vector<U32>{101, 102, 103, 200}));
}

TEST(Memory, GivesDynamicSharedMemoryAfterTheStaticOne) {
  Machine machine(R"(.extern .shared .align 16 .b8 dynamic[];
    .visible .entry k(.param .u64 out) {
      .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 fixed[20];
      ld.param.u64 %rd1, [out]; mov.u32 %r1, dynamic; mov.u32 %r2, fixed;
      mov.u32 %r3, 7; st.shared.u32 [fixed+16], %r3; st.shared.u32 [dynamic+60], %r1;
      mov.u32 %r4, %dynamic_smem_size; ld.shared.u32 %r5, [%r2+16]; ld.shared.u32 %r6, [%r1+60];
      st.global.v4.u32 [%rd1], {%r4, %r5, %r6, %r2}; ret; })");
  const U64 out = machine.upload(std::vector<U32>(4));
  machine.config.dynamic_shared_bytes = 64;
  const LaunchResult result = machine.run("k", {1}, {1}, out);
  ASSERT_FALSE(result.fault) << result.fault->text;
  EXPECT_EQ(machine.download<U32>(out, 4), (std::vector<U32>{64, 7, 32, 0}));
  EXPECT_EQ(machine.executable->static_shared_bytes(0), 20u);
}

TEST(Memory, CopiesAsynchronouslyIntoSharedMemory) {
  const auto out = copy(R"(.shared .align 16 .b8 buffer[1024];
      mov.u32 %r1, buffer; shl.b32 %r2, %i, 4; add.u32 %r3, %r1, %r2; mul.wide.u32 %w, %i, 16;
      add.s64 %rd1, %in, %w; and.b32 %r4, %i, 1; shl.b32 %r4, %r4, 3; add.u32 %r4, %r4, 8;
      cp.async.cg.shared.global [%r3], [%rd1], 16, %r4; cp.async.commit_group; cp.async.wait_group 0;
      bar.sync 0; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3]; add.s64 %rd2, %out, %w;
      st.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8};)",
                        256);
  const auto in = counting(256);
  for (std::size_t i = 0; i < 256; ++i) {
    const bool copied = i % 4 < 2 || (i / 4) % 2 == 1;
    EXPECT_EQ(out[i], copied ? in[i] : 0) << i;
  }
}

TEST(Memory, PacksAndUnpacksRegisters) {
  expect_lanes({"{ mov.b64 {%t0, %t1}, %a; mov.b64 %out, {%t1, %t0}; }", 8, 8},
               [](U64 a, U64, U64, U64) { return a << 32 | a >> 32; });
  expect_lanes({"{ mov.b32 {%h0, %h1}, %a; mov.b32 %out, {%h1, %h0}; }", 4, 4},
               [](U64 a, U64, U64, U64) { return (a << 16 & 0xffff0000u) | a >> 16; });
  expect_lanes({"{ mov.b64 {_, %t1}, %a; mov.b32 %out, %t1; }", 4, 8},
               [](U64 a, U64, U64, U64) { return a >> 32; });
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
