// SPDX-License-Identifier: Apache-2.0
// Warp-level matrices: whole products through wmma, and mma's fragments as PTX ISA 9.0 draws them.

#include <gtest/gtest.h>

#include "emulator/exec/half.h"
#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Small whole numbers: exact in every type.
double a_at(unsigned i, unsigned k) {
  return static_cast<double>((i * 3 + k * 5) % 7) - 3;
}
double b_at(unsigned k, unsigned j) {
  return static_cast<double>((k * 2 + j * 11) % 5) - 2;
}
double c_at(unsigned i, unsigned j) {
  return static_cast<double>(i) - static_cast<double>(j);
}

double product(unsigned i, unsigned j, unsigned depth) {
  double sum = c_at(i, j);
  for (unsigned k = 0; k < depth; ++k)
    sum += a_at(i, k) * b_at(k, j);
  return sum;
}

std::string list(const std::string& name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i == 0 ? "%" : ", %") + name + std::to_string(i);
  return text + "}";
}

TEST(Wmma, MultipliesHalvesIntoFloats) {
  std::vector<U16> a(256), b(256);
  std::vector<float> c(256);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      a[i * 16 + j] = to_f16(a_at(i, j));
      b[j * 16 + i] = to_f16(b_at(i, j));  // column by column
      c[i * 16 + j] = static_cast<float>(c_at(i, j));
    }
  Machine machine(R"(.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) {
      .reg .b32 %a<8>, %b<8>, %s; .reg .f32 %c<8>, %d<8>; .reg .b64 %pa, %pb, %pc;
      ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c]; mov.u32 %s, 16;
      wmma.load.a.sync.aligned.row.m16n16k16.global.f16 )" +
                  list("a", 8) + R"(, [%pa], %s;
      wmma.load.b.sync.aligned.col.m16n16k16.global.f16 )" +
                  list("b", 8) + R"(, [%pb], %s;
      wmma.load.c.sync.aligned.row.m16n16k16.global.f32 )" +
                  list("c", 8) + R"(, [%pc], %s;
      wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 )" +
                  list("d", 8) + ", " + list("a", 8) + ", " + list("b", 8) + ", " + list("c", 8) +
                  R"(;
      wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%pc], )" +
                  list("d", 8) + ", %s; ret; }");
  const U64 pc = machine.upload(c);
  const LaunchResult result = machine.run("k", {1}, {32}, machine.upload(a), machine.upload(b), pc);
  ASSERT_FALSE(result.fault) << result.fault->text;
  const auto d = machine.download<float>(pc, 256);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j)
      EXPECT_EQ(d[i * 16 + j], product(i, j, 16)) << i << "," << j;
}

TEST(Wmma, MultipliesDoubles) {
  std::vector<double> a(32), b(32), c(64);
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned k = 0; k < 4; ++k)
      a[i * 4 + k] = a_at(i, k);
    for (unsigned k = 0; k < 4; ++k)
      b[k * 8 + i] = b_at(k, i);
    for (unsigned j = 0; j < 8; ++j)
      c[i * 8 + j] = c_at(i, j);
  }
  Machine machine(R"(.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) {
      .reg .f64 %a<1>, %b<1>, %c<2>; .reg .b64 %pa, %pb, %pc;
      ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c];
      wmma.load.a.sync.aligned.row.m8n8k4.f64 {%a0}, [%pa];
      wmma.load.b.sync.aligned.row.m8n8k4.f64 {%b0}, [%pb];
      wmma.load.c.sync.aligned.row.m8n8k4.f64 {%c0, %c1}, [%pc];
      wmma.mma.sync.aligned.row.row.m8n8k4.f64.f64.f64.f64.rn {%c0, %c1}, {%a0}, {%b0}, {%c0, %c1};
      wmma.store.d.sync.aligned.row.m8n8k4.f64 [%pc], {%c0, %c1}; ret; })");
  const U64 pc = machine.upload(c);
  const LaunchResult result = machine.run("k", {1}, {32}, machine.upload(a), machine.upload(b), pc);
  ASSERT_FALSE(result.fault) << result.fault->text;
  const auto d = machine.download<double>(pc, 64);
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned j = 0; j < 8; ++j)
      EXPECT_EQ(d[i * 8 + j], product(i, j, 4));
}

// Every lane's registers, filled by the tables of the document.
TEST(Mma, UsesTheFragmentsOfTheDocument) {
  std::vector<U32> a(32 * 4), b(32 * 2);
  std::vector<float> c(32 * 4);
  const auto pack = [](double low, double high) {
    return static_cast<U32>(to_f16(low)) | static_cast<U32>(to_f16(high)) << 16;
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane >> 2, in_group = lane % 4;
    for (unsigned i = 0; i < 8; i += 2) {
      const unsigned row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      const unsigned column = in_group * 2 + (i >= 4 ? 8 : 0);
      a[lane * 4 + i / 2] = pack(a_at(row, column), a_at(row, column + 1));
    }
    for (unsigned i = 0; i < 4; i += 2) {
      const unsigned row = in_group * 2 + (i >= 2 ? 8 : 0);
      b[lane * 2 + i / 2] = pack(b_at(row, group), b_at(row + 1, group));
    }
    for (unsigned i = 0; i < 4; ++i)
      c[lane * 4 + i] = static_cast<float>(c_at(i < 2 ? group : group + 8, in_group * 2 + (i & 1)));
  }
  Machine machine(R"(.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) {
      .reg .b32 %a<4>, %b<2>, %i; .reg .f32 %c<4>; .reg .b64 %pa, %pb, %pc, %w;
      ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c]; mov.u32 %i, %laneid;
      mul.wide.u32 %w, %i, 16; add.s64 %pa, %pa, %w; add.s64 %pc, %pc, %w; mul.wide.u32 %w, %i, 8;
      add.s64 %pb, %pb, %w; ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%pa]; ld.global.v2.u32 {%b0, %b1}, [%pb];
      ld.global.v4.f32 {%c0, %c1, %c2, %c3}, [%pc];
      mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
      st.global.v4.f32 [%pc], {%c0, %c1, %c2, %c3}; ret; })");
  const U64 pc = machine.upload(c);
  const LaunchResult result = machine.run("k", {1}, {32}, machine.upload(a), machine.upload(b), pc);
  ASSERT_FALSE(result.fault) << result.fault->text;
  const auto d = machine.download<float>(pc, 128);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(d[lane * 4 + i],
                product((lane >> 2) + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1), 16));
}

TEST(Ldmatrix, DealsOutRowsAndTheirTransposes) {
  for (const bool transposed : {false, true}) {
    Machine machine(R"(.visible .entry k(.param .u64 out) {
        .reg .b16 %h; .reg .b32 %i, %r<9>; .reg .b64 %out, %w; .shared .align 16 .b8 s[512];
        ld.param.u64 %out, [out]; mov.u32 %i, %laneid; mov.u32 %r1, s; mov.u32 %r2, 0;
        FILL: mad.lo.u32 %r3, %r2, 32, %i; cvt.u16.u32 %h, %r3; shl.b32 %r3, %r3, 1; add.u32 %r3, %r3, %r1;
        st.shared.u16 [%r3], %h; add.u32 %r2, %r2, 1; .reg .pred %p; setp.lt.u32 %p, %r2, 8; @%p bra FILL;
        bar.sync 0; shl.b32 %r4, %i, 4; add.u32 %r4, %r4, %r1;
        ldmatrix.sync.aligned.m8n8.x4)" +
                    std::string(transposed ? ".trans" : "") +
                    R"(.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];
        mul.wide.u32 %w, %i, 16; add.s64 %out, %out, %w; st.global.v4.u32 [%out], {%r5, %r6, %r7, %r8}; ret; })");
    const U64 out = machine.upload(std::vector<U32>(128));
    const LaunchResult result = machine.run("k", {1}, {32}, out);
    ASSERT_FALSE(result.fault) << result.fault->text;
    const auto words = machine.download<U32>(out, 128);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned j = 0; j < 4; ++j) {
        // Half at row r, column c of matrix j is 64 j + 8 r + c.
        const unsigned first = lane / 4, second = lane % 4 * 2;
        const U32 low = 64 * j + (transposed ? 8 * second + first : 8 * first + second);
        const U32 high = low + (transposed ? 8 : 1);
        EXPECT_EQ(words[lane * 4 + j], low | high << 16) << lane << " " << j;
      }
  }
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
