// SPDX-License-Identifier: Apache-2.0
// What observers hear, in which order, and device functions that they run in the warp.

#include <new>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using ptx::Space;

constexpr U32 bit(Space space) {
  return 1u << static_cast<unsigned>(space);
}

// One line per event.
struct Recorder : AccessHook {
  void on_access(WarpContext& warp, const WarpAccess& access) override {
    const WarpPlace place = place_of(warp);
    const U64* a = access.addresses;
    const unsigned first = static_cast<unsigned>(std::countr_zero(access.mask));
    log += fmt::format("{}.{} {:x} flags {} size {} space {} first {:x} pattern {}{}\n",
                       place.block.x, place.warp, access.mask, access.flags, access.size,
                       static_cast<int>(access.space), a[first], static_cast<int>(access.pattern),
                       access.kind == AccessKind::kAsyncCopy ? " async" : "");
    for (unsigned i = 0; i < 32; ++i)
      if ((access.mask >> i & 1) != 0) addresses.push_back(a[i]);
  }
  void on_block_enter(WarpContext& warp, U64, U32 mask) override {
    log += fmt::format("enter {}.{} {:x}\n", place_of(warp).block.x, place_of(warp).warp, mask);
  }
  void on_block_exit(WarpContext& warp, U64, U32 mask) override {
    log += fmt::format("exit {}.{} {:x}\n", place_of(warp).block.x, place_of(warp).warp, mask);
  }
  void on_device_malloc(WarpContext&, U64, U32 mask, const U64*, const U64* sizes) override {
    log += fmt::format("malloc {:x} {}\n", mask, sizes[0]);
  }
  void on_device_free(WarpContext&, U64, U32 mask, const U64*) override {
    log += fmt::format("free {:x}\n", mask);
  }
  [[nodiscard]] U32 wanted_spaces() const override { return wanted; }
  [[nodiscard]] bool wants_blocks() const override { return blocks; }

  std::string log;
  std::vector<U64> addresses;
  U32 wanted = bit(Space::kGlobal);
  bool blocks = false;
};

std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 out) {
      .reg .pred %p; .reg .b32 %i, %r<12>; .reg .b64 %out, %at, %rd<9>; .shared .align 16 .b8 s[1024];
      ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.s64 %at, %at, %out;
      )" +
         body + " ret; }";
}

std::string log_of(const std::string& body, Recorder& recorder, U32 threads = 32, U32 grid = 1) {
  Machine machine(kernel(body));
  machine.config.hook = &recorder;
  const U64 out = machine.upload(std::vector<U32>(256));
  const LaunchResult result = machine.run("k", {grid}, {threads}, out);
  EXPECT_FALSE(result.fault) << result.fault->text;
  return recorder.log;
}

TEST(Hooks, HearOfReadsWritesAndAtomicsWithTheirPatterns) {
  Recorder recorder;
  EXPECT_EQ(
      log_of(R"(ld.global.u32 %r1, [%at+8]; ld.global.u64 %rd1, [%out]; st.global.u8 [%at], %r1;
      atom.global.add.u32 %r2, [%at], 1; st.shared.u32 [s], %r1; setp.lt.u32 %p, %i, 4;
      @%p st.global.v2.u32 [%out+16], {%r1, %r2}; prefetch.global.L2 [%out];)",
             recorder),
      "0.0 ffffffff flags 1 size 4 space 1 first 700000000008 pattern 2\n"
      "0.0 ffffffff flags 1 size 8 space 1 first 700000000000 pattern 1\n"
      "0.0 ffffffff flags 2 size 1 space 1 first 700000000000 pattern 0\n"
      "0.0 ffffffff flags 7 size 4 space 1 first 700000000000 pattern 0\n"
      "0.0 f flags 2 size 8 space 1 first 700000000010 pattern 0\n"
      "0.0 ffffffff flags 8 size 128 space 1 first 700000000000 pattern 0\n");
  EXPECT_EQ(recorder.addresses[5], 0x700000000008u + 20);
}

TEST(Hooks, HearOfGenericAccessesByTheSpaceTheyHit) {
  Recorder recorder;
  recorder.wanted = bit(Space::kGlobal) | bit(Space::kShared);
  EXPECT_EQ(
      log_of(
          R"(mov.u32 %r1, s; cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd2, %rd1; setp.lt.u32 %p, %i, 8;
      selp.b64 %rd3, %rd2, %at, %p; st.u32 [%rd3], %i;)",
          recorder),
      "0.0 ff flags 2 size 4 space 2 first 0 pattern 0\n"
      "0.0 ffffff00 flags 2 size 4 space 1 first 700000000020 pattern 0\n");
}

TEST(Hooks, HearOfAsynchronousCopiesAsReads) {
  Recorder recorder;
  EXPECT_EQ(log_of("mov.u32 %r1, s; cp.async.ca.shared.global [%r1], [%out], 16;", recorder, 1),
            "0.0 1 flags 1 size 16 space 1 first 700000000000 pattern 0 async\n");
}

// The warp that opens the barrier goes on at once.
TEST(Hooks, HearOfWarpsThatEnterAndLeaveBlocks) {
  Recorder recorder;
  recorder.blocks = true;
  recorder.wanted = 0;
  EXPECT_EQ(log_of("bar.sync 0; setp.lt.u32 %p, %i, 4; @%p exit;", recorder, 40, 2),
            "enter 0.0 ffffffff\nenter 0.1 ff\nexit 0.1 ff\nexit 0.0 f\nexit 0.0 fffffff0\n"
            "enter 1.0 ffffffff\nenter 1.1 ff\nexit 1.1 ff\nexit 1.0 f\nexit 1.0 fffffff0\n");
}

TEST(Hooks, HearOfTheDeviceHeap) {
  Machine machine(R"(
    .extern .func (.param .b64 r) malloc(.param .b64 s); .extern .func free(.param .b64 p);
    .visible .entry k() { .reg .b64 %rd<3>;
      { .param .b64 s; .param .b64 r; st.param.b64 [s], 24; call.uni (r), malloc, (s); ld.param.b64 %rd1, [r]; }
      { .param .b64 p; st.param.b64 [p], %rd1; call.uni free, (p); } ret; })");
  Recorder recorder;
  recorder.wanted = 0;
  machine.config.hook = &recorder;
  machine.config.device_malloc = [&](U64 size) { return machine.memory.allocate(size); };
  machine.config.device_free = [&](U64 pointer) {
    machine.memory.free(pointer);
    return true;
  };
  ASSERT_FALSE(machine.run("k", {1}, {4}).fault);
  EXPECT_EQ(recorder.log, "malloc f 24\nfree f\n");
}

TEST(Hooks, HearBeforeTheAccessHappens) {
  struct Peek final : Recorder {
    void on_access(WarpContext&, const WarpAccess&) override {
      std::memcpy(&seen, host, sizeof seen);
    }
    const std::byte* host = nullptr;
    U32 seen = 0;
  } peek;
  Machine machine(kernel("mov.u32 %r1, 9; st.global.u32 [%out], %r1;"));
  machine.config.hook = &peek;
  const U64 out = machine.upload(std::vector<U32>{5});
  peek.host = machine.memory.host(out);
  ASSERT_FALSE(machine.run("k", {1}, {1}, out).fault);
  EXPECT_EQ(peek.seen, 5u);
  EXPECT_EQ(machine.download<U32>(out, 1)[0], 9u);
}

// A kernel of four instructions with a pattern each: rounds 0 and 1 lie within 512 bytes, rounds 2
// and 3 reach or lie beyond them.
constexpr std::string_view kRounds = R"(
    mov.u32 %r1, 0; ROUND: mul.lo.u32 %r2, %r1, 200; cvt.u64.u32 %rd1, %r2;
    add.s64 %rd2, %at, %rd1; ld.global.u32 %r3, [%rd2]; add.s64 %rd3, %out, %rd1;
    st.global.u64 [%rd3], %rd1; xor.b32 %r4, %i, 5; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd4, %rd4, %rd3;
    atom.global.add.u32 %r5, [%rd4], 1; setp.lt.u32 %p, %i, 3; @%p ld.global.u8 %r6, [%rd2];
    add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 4; @%p bra ROUND;)";

struct WithPath : Recorder {
  void on_access(WarpContext&, const WarpAccess& access) override {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(access.mask));
    log += fmt::format("{} at {:x}\n", access.size, access.addresses[lane]);
    ASSERT_NE(access.short_path, nullptr);
    access.short_path->range = {base, base + 512};
    set_functions(access.short_path);
  }
  virtual void set_functions(ShortPath*) {}
  U64 base = 0x7000'0000'0000;
};

// An observer that has heard enough of an instruction's accesses to a range hears no more of them,
// whatever their pattern, but of all others.
TEST(Hooks, MaySettleARange) {
  WithPath settling;
  EXPECT_EQ(log_of(std::string(kRounds), settling),
            "4 at 700000000000\n8 at 700000000000\n4 at 700000000014\n1 at 700000000000\n"
            "4 at 700000000190\n"  // round 2: the last lanes of two of them are beyond
            "4 at 7000000001a4\n"
            "4 at 700000000258\n8 at 700000000258\n4 at 70000000026c\n1 at 700000000258\n");
}

// What is settled otherwise goes to the function for its pattern, with the path's own state.
TEST(Hooks, MayTakeAShortPath) {
  struct Taking final : WithPath {
    void set_functions(ShortPath* path) override {
      ::new (path->state.data()) Taking*(this);
      path->contiguous = [](const ShortPath& p, U64 first) { note(p, "row", first); };
      path->uniform = [](const ShortPath& p, U64 first) { note(p, "one", first); };
      path->scattered = [](const ShortPath& p, U32 mask, const U64* all) {
        note(p, fmt::format("{:x}", mask), all[std::countr_zero(mask)]);
      };
    }
    static void note(const ShortPath& path, const std::string& what, U64 address) {
      Taking& self = **std::launder(reinterpret_cast<Taking* const*>(path.state.data()));
      self.log += fmt::format("{} {:x}\n", what, address - self.base);
    }
  } taking;
  EXPECT_EQ(log_of(std::string(kRounds), taking),
            "4 at 700000000000\n8 at 700000000000\n4 at 700000000014\n1 at 700000000000\n"
            "row c8\none c8\nffffffff dc\n7 c8\n"
            "4 at 700000000190\none 190\n4 at 7000000001a4\n7 190\n"
            "4 at 700000000258\n8 at 700000000258\n4 at 70000000026c\n1 at 700000000258\n");
}

// A hook that wants nothing hears nothing.
TEST(Hooks, MayWantNothing) {
  struct Idle final : Recorder {
    [[nodiscard]] bool wants_heap() const override { return false; }
  } idle;
  idle.wanted = 0;
  EXPECT_EQ(log_of(std::string(kRounds), idle), "");
}

// A tool's patch: counts accesses per lane in a table of its own, with a branch and a loop.
constexpr std::string_view kPatch = R"(
  .global .align 4 .b8 table[128];
  .visible .func (.param .b32 r) patch(.param .b64 user, .param .b64 pc, .param .b64 address, .param .b32 size) {
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [user]; ld.param.u64 %rd2, [address];
    ld.param.u32 %r1, [size]; mov.u32 %r2, %laneid; mul.wide.u32 %rd3, %r2, 4; mov.u64 %rd4, table;
    cvta.global.u64 %rd5, %rd4; add.s64 %rd5, %rd5, %rd3; and.b64 %rd6, %rd2, 4; setp.eq.u64 %p, %rd6, 0; @%p bra EVEN;
    atom.add.u32 %r3, [%rd5], 100; bra.uni END; EVEN: atom.add.u32 %r3, [%rd5], %r1; END: cvt.u32.u64 %r4, %rd1;
    st.param.b32 [r], %r4; ret; })";

struct Patching final : Recorder {
  void on_access(WarpContext& warp, const WarpAccess& access) override {
    std::array<std::array<U64, 32>, 4> arguments{};
    for (unsigned i = 0; i < 32; ++i) {
      arguments[0][i] = 7 + i;
      arguments[1][i] = access.pc;
      arguments[2][i] = access.addresses[i];
      arguments[3][i] = access.size;
    }
    results = call_device_function(warp, *tool->executable, *tool->executable->find("patch"),
                                   access.mask, arguments);
  }
  Machine* tool = nullptr;
  std::array<U32, 32> results{};
};

TEST(Hooks, RunDeviceFunctionsInTheStoppedWarp) {
  Machine machine(
      kernel("ld.global.u32 %r1, [%at]; add.u32 %r1, %r1, 1; st.global.u32 [%at], %r1;"));
  // The tool's table has to lie in the launch's memory.
  auto program = std::make_shared<ptx::Program>(Machine(kPatch).executable->program());
  const U64 table = machine.upload(std::vector<U32>(32));
  auto made = make_executable(program, {table}, 0x900000);
  ASSERT_TRUE(made);
  Machine tool(kPatch);
  tool.executable = *std::move(made);
  Patching hook;
  hook.tool = &tool;
  machine.config.hook = &hook;
  std::vector<U32> values(32);
  for (U32 i = 0; i < 32; ++i)
    values[i] = i * 3;
  const U64 out = machine.upload(values);
  const LaunchResult result = machine.run("k", {1}, {32}, out);
  ASSERT_FALSE(result.fault) << result.fault->text;
  const auto counted = machine.download<U32>(table, 32);
  const auto changed = machine.download<U32>(out, 32);
  for (U32 i = 0; i < 32; ++i) {
    EXPECT_EQ(counted[i], i % 2 == 0 ? 8u : 200u) << i;  // a load and a store of four bytes
    EXPECT_EQ(hook.results[i], 7 + i);
    EXPECT_EQ(changed[i], 3 * i + 1);
  }
  // The patch's own work is not the kernel's.
  EXPECT_EQ(result.stats.warp_instructions, 8u);
}

}  // namespace
}  // namespace drgpum::emulator::exec::testing
