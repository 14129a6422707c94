// SPDX-License-Identifier: Apache-2.0
// What a faulting kernel says of itself.

#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

std::string kernel(const std::string& body) {
  return R"(.file 1 "src/bad.cu"
    .visible .entry bad(.param .u64 out) {
      .reg .pred %p; .reg .b32 %i, %r<12>; .reg .b64 %out, %at, %rd<9>; .reg .f32 %f<4>; .shared .align 4 .b8 s[64];
      ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.s64 %at, %at, %out;
      .loc 1 42 7
      )" +
         body + " ret; }";
}

// Runs 64 threads as 2 blocks of (16, 2) over 8 allocated words.
Fault fault_of(const std::string& body, bool freed = false) {
  Machine machine(kernel(body));
  const U64 out = machine.upload(std::vector<U32>(8));
  if (freed) machine.memory.free(out);
  const LaunchResult result = machine.run("bad", {2}, {16, 2}, out);
  EXPECT_TRUE(result.fault);
  return result.fault.value_or(Fault{});
}

TEST(Faults, NameTheKernelAsItsSourceDoes) {
  std::string text = kernel("trap;");
  text.replace(text.find("bad("), 4, "_Z3badPKjPj(");
  Machine machine(text);
  const U64 out = machine.upload(std::vector<U32>(8));
  const LaunchResult result = machine.run("_Z3badPKjPj", {1}, {1}, out);
  ASSERT_TRUE(result.fault);
  EXPECT_NE(result.fault->text.find(" at bad(unsigned int const*, unsigned int*) in src/bad.cu:"),
            std::string::npos)
      << result.fault->text;
}

TEST(Faults, NameTheAllocationThatWasMissedAndByHowMuch) {
  const Fault fault = fault_of("st.global.u32 [%at], %i;");
  EXPECT_EQ(fault.kind, FaultKind::kIllegalAddress);
  EXPECT_EQ(
      fault.text,
      "Invalid __global__ write of size 4 bytes at bad in src/bad.cu:42, block (0,0,0), thread "
      "(8,0,0): address 0x700000000020 is out of bounds and is 1 bytes after the nearest "
      "allocation at 0x700000000000 of size 32 bytes");
  EXPECT_EQ(fault.address, 0x700000000020u);
  EXPECT_EQ(fault.size, 4u);
  EXPECT_EQ(fault.thread.x, 8u);
  EXPECT_EQ(fault.kernel, "bad");
  EXPECT_EQ(fault.pc % 16, 0u);
}

TEST(Faults, TellBeforeFromWithinAndFreed) {
  EXPECT_NE(fault_of("ld.global.u32 %r1, [%at+-64];").text.find("64 bytes before the nearest"),
            std::string::npos);
  EXPECT_NE(fault_of("ld.global.u64 %rd1, [%out+24]; st.global.v4.u32 [%out+32], {%i, %i, %i, %i};")
                .text.find("of size 16 bytes"),
            std::string::npos);
  EXPECT_NE(fault_of("ld.global.u32 %r1, [%out];", true).text.find("already freed"),
            std::string::npos);
  EXPECT_NE(fault_of("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1];").text.find("address 0x0 "),
            std::string::npos);
}

TEST(Faults, FindMisalignedAddresses) {
  const Fault fault = fault_of("ld.global.u32 %r1, [%out+2];");
  EXPECT_EQ(fault.kind, FaultKind::kMisalignedAddress);
  EXPECT_NE(fault.text.find("misaligned"), std::string::npos) << fault.text;
}

TEST(Faults, KeepReadOnlyMemory) {
  Machine machine(kernel("st.global.u32 [%out], %i;"));
  const U64 out = machine.memory.allocate(32, true);
  const LaunchResult result = machine.run("bad", {1}, {1}, out);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kReadOnly);
}

TEST(Faults, BoundSharedAndLocalMemory) {
  const Fault shared = fault_of("mov.u32 %r1, s; st.shared.u32 [%r1+64], %i;");
  EXPECT_EQ(shared.kind, FaultKind::kSharedOutOfRange);
  EXPECT_NE(shared.text.find("__shared__ write"), std::string::npos) << shared.text;
  const Fault local =
      fault_of(".local .align 4 .b8 d[16]; mov.u64 %rd1, d; ld.local.u32 %r1, [%rd1+100000];");
  EXPECT_EQ(local.kind, FaultKind::kLocalOutOfRange);
}

TEST(Faults, StopAtTrap) {
  const Fault fault = fault_of("setp.eq.u32 %p, %i, 3; @%p trap;");
  EXPECT_EQ(fault.kind, FaultKind::kTrap);
  EXPECT_EQ(fault.thread.x, 3u);
}

TEST(Faults, NameUnsupportedInstructionsWhenTheyAreReached) {
  const Fault fault = fault_of("setmaxnreg.inc.sync.aligned.u32 64;");
  EXPECT_EQ(fault.kind, FaultKind::kUnsupported);
  EXPECT_NE(fault.text.find("setmaxnreg.inc.sync.aligned.u32"), std::string::npos) << fault.text;
  EXPECT_NE(fault.text.find("bad in src/bad.cu:42"), std::string::npos) << fault.text;
}

TEST(Faults, LetUnsupportedInstructionsBeThatNoLaneReaches) {
  Machine machine(
      kernel("setp.gt.u32 %p, %i, 99; @!%p bra END; setmaxnreg.inc.sync.aligned.u32 64; END:"));
  const LaunchResult result = machine.run("bad", {1}, {32}, machine.upload(std::vector<U32>(8)));
  EXPECT_FALSE(result.fault);
}

TEST(Faults, NameFunctionsThatNobodyDefines) {
  Machine machine(".extern .func nowhere();\n" + kernel("call.uni nowhere;"));
  const LaunchResult result = machine.run("bad", {1}, {32}, machine.upload(std::vector<U32>(8)));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kUnsupported);
  EXPECT_NE(result.fault->text.find("nowhere"), std::string::npos) << result.fault->text;
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
