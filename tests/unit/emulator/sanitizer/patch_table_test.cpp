// SPDX-License-Identifier: Apache-2.0
// From a tool's requests to the calls of its device functions: which run, with what arguments.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "emulator/sanitizer/library.h"
#include "proto/device/layout.h"
#include "tests/unit/emulator/sanitizer/fake_executor.h"
#include "tests/unit/emulator/sanitizer/fake_machine.h"

namespace drgpum::emulator::sanitizer {
namespace {

using testing::handle;

// An image with device functions of these names, each of six parameters.
class ToolImage final : public exec::Executable {
 public:
  explicit ToolImage(std::vector<std::string> names, std::size_t parameters = 6) {
    for (auto& name : names) {
      ptx::Function function;
      function.name = std::move(name);
      function.has_body = true;
      function.parameters.resize(parameters);
      function.instructions.resize(4);
      program_.functions.push_back(std::move(function));
    }
  }
  [[nodiscard]] const ptx::Program& program() const override { return program_; }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const override {
    for (std::uint32_t i = 0; i < program_.functions.size(); ++i)
      if (program_.functions[i].name == name) return i;
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t pc_base(std::uint32_t function) const override {
    return 0x1000 + 0x100 * std::uint64_t{function};
  }
  [[nodiscard]] std::uint32_t static_shared_bytes(std::uint32_t) const override { return 0; }
  [[nodiscard]] std::uint32_t local_bytes(std::uint32_t) const override { return 0; }
  [[nodiscard]] std::uint32_t registers(std::uint32_t) const override { return 0; }

 private:
  ptx::Program program_;
};

const char kImage[] = ".version 8.0";
const Handle kContext = handle(7);
const Handle kModule = handle(9);
const Handle kFunction = handle(11);
const Handle kLaunch = handle(99);

class Patches : public ::testing::Test {
 protected:
  void load(ToolImage& image) {
    machine_.tool_image = &image;
    ASSERT_EQ(table_.add_image(machine_, kContext, kImage), Code::kSuccess);
    table_.module_loaded(kContext, kModule);
  }

  LaunchEvent launch() const {
    LaunchEvent event;
    event.module = kModule;
    event.function = kFunction;
    event.launch = kLaunch;
    return event;
  }

  static const void* data(std::uintptr_t address) { return handle(address); }

  testing::FakeMachine machine_;
  PatchTable table_{true};
  exec::WarpContext warp_;
  std::array<std::uint64_t, 32> addresses_{4096};
};

TEST_F(Patches, AGlobalAccessGivesAddressSizeAndFlags) {
  ToolImage image({"on_access"});
  load(image);
  EXPECT_EQ(machine_.tool_image_bytes, std::strlen(kImage));
  ASSERT_EQ(table_.request(Instruction::kGlobalAccess, kModule, "on_access"), Code::kSuccess);
  ASSERT_EQ(table_.activate(kModule), Code::kSuccess);
  table_.begin_launch(launch());
  ASSERT_EQ(table_.set_launch_data(kLaunch, data(500)), Code::kSuccess);
  exec::AccessHook* hook = table_.arm_launch(launch());
  ASSERT_NE(hook, nullptr);
  EXPECT_EQ(hook->wanted_spaces(), 1U << static_cast<unsigned>(ptx::Space::kGlobal));
  EXPECT_FALSE(hook->wants_blocks());

  exec::WarpAccess access;
  access.pc = 640;
  access.mask = 5;
  access.size = 8;
  access.addresses = addresses_.data();
  access.flags = exec::kRead;
  hook->on_access(warp_, access);
  access.flags = exec::kRead | exec::kWrite | exec::kAtomic;
  hook->on_access(warp_, access);
  EXPECT_EQ(warp_.calls,
            "on_access 500 640 4096 8 1 0 mask 5\n"
            "on_access 500 640 4096 8 3 0 mask 5\n");
}

TEST_F(Patches, EachKindOfEventCallsItsOwnFunction) {
  ToolImage image({"shared", "local", "copy", "enter", "leave", "get", "give"});
  load(image);
  table_.request(Instruction::kSharedAccess, kModule, "shared");
  table_.request(Instruction::kLocalAccess, kModule, "local");
  table_.request(Instruction::kAsyncCopy, kModule, "copy");
  table_.request(Instruction::kBlockEnter, kModule, "enter");
  table_.request(Instruction::kBlockExit, kModule, "leave");
  table_.request(Instruction::kDeviceMalloc, kModule, "get");
  table_.request(Instruction::kDeviceFree, kModule, "give");
  table_.activate(kModule);
  table_.begin_launch(launch());
  exec::AccessHook* hook = table_.arm_launch(launch());
  ASSERT_NE(hook, nullptr);
  EXPECT_TRUE(hook->wants_blocks());

  std::array<std::uint64_t, 32> other{16};
  exec::WarpAccess access;
  access.pc = 32;
  access.mask = 1;
  access.size = 4;
  access.flags = exec::kWrite;
  access.addresses = addresses_.data();
  hook->on_access(warp_, access);  // global: not asked for
  access.space = ptx::Space::kShared;
  hook->on_access(warp_, access);
  access.space = ptx::Space::kLocal;
  hook->on_access(warp_, access);
  access.space = ptx::Space::kGlobal;
  access.kind = exec::AccessKind::kAsyncCopy;
  access.shared_destinations = other.data();
  hook->on_access(warp_, access);
  hook->on_block_enter(warp_, 0, 1);
  hook->on_block_exit(warp_, 48, 1);
  hook->on_device_malloc(warp_, 16, 1, addresses_.data(), other.data());
  hook->on_device_free(warp_, 24, 1, addresses_.data());
  EXPECT_EQ(warp_.calls,
            "shared 0 32 4096 4 2 0 mask 1\n"
            "local 0 32 4096 4 2 0 mask 1\n"
            "copy 0 32 4096 16 4 mask 1\n"
            "enter 0 0 mask 1\n"
            "leave 0 48 mask 1\n"
            "get 0 16 4096 16 mask 1\n"
            "give 0 24 4096 mask 1\n");
}

TEST_F(Patches, AFunctionMayLeaveTrailingParametersOut) {
  ToolImage image({"on_access"}, 5);
  load(image);
  table_.request(Instruction::kGlobalAccess, kModule, "on_access");
  table_.activate(kModule);
  table_.begin_launch(launch());
  exec::WarpAccess access;
  access.mask = 1;
  access.size = 4;
  access.flags = exec::kRead;
  access.addresses = addresses_.data();
  table_.arm_launch(launch())->on_access(warp_, access);
  EXPECT_EQ(warp_.calls, "on_access 0 0 4096 4 1 mask 1\n");
}

TEST_F(Patches, ALaunchsOwnDataOutranksItsFunctions) {
  ToolImage image({"enter"});
  load(image);
  table_.request(Instruction::kBlockEnter, kModule, "enter");
  table_.activate(kModule);
  table_.set_function_data(kFunction, data(600));
  table_.begin_launch(launch());
  table_.arm_launch(launch())->on_block_enter(warp_, 0, 1);
  table_.end_launch(launch());
  table_.begin_launch(launch());
  exec::AccessHook* hook = table_.arm_launch(launch());
  table_.set_launch_data(kLaunch, data(500));  // as late as after the launch was set up
  hook->on_block_enter(warp_, 0, 1);
  EXPECT_EQ(warp_.calls, "enter 600 0 mask 1\nenter 500 0 mask 1\n");
}

TEST_F(Patches, NothingRunsBeforePatchingNorAfterUnpatching) {
  ToolImage image({"enter"});
  load(image);
  table_.request(Instruction::kBlockEnter, kModule, "enter");
  table_.begin_launch(launch());
  EXPECT_EQ(table_.arm_launch(launch()), nullptr);
  table_.activate(kModule);
  EXPECT_NE(table_.arm_launch(launch()), nullptr);
  table_.deactivate(kModule);
  EXPECT_EQ(table_.arm_launch(launch()), nullptr);
}

TEST_F(Patches, BadRequestsAreRefused) {
  ToolImage image({"enter"});
  load(image);
  EXPECT_EQ(table_.request(Instruction::kBlockEnter, kModule, "leave"), Code::kInvalidParameter);
  EXPECT_EQ(table_.request(static_cast<Instruction>(4000), kModule, "enter"),
            Code::kInvalidParameter);
  EXPECT_EQ(table_.request(Instruction::kBarrier, kModule, "enter"), Code::kNotSupported);
  EXPECT_EQ(table_.activate(handle(1234)), Code::kInvalidParameter);
  EXPECT_EQ(table_.set_launch_data(handle(1234), nullptr), Code::kInvalidParameter);
  std::uint64_t pc = 0;
  std::uint64_t size = 0;
  EXPECT_EQ(table_.find(kContext, "enter", &pc, &size), Code::kSuccess);
  EXPECT_EQ(pc, 0x1000U);
  EXPECT_EQ(size, 64U);
}

// Host memory, seen by the device as it is.
class FlatMemory final : public AddressSpace {
 public:
  FlatMemory(const void* begin, std::size_t size)
      : all_{reinterpret_cast<std::uint64_t>(begin), reinterpret_cast<std::uint64_t>(begin) + size,
             0, false} {}
  [[nodiscard]] const Allocation* find(std::uint64_t address) const noexcept override {
    return address >= all_.begin && address < all_.end ? &all_ : nullptr;
  }
  [[nodiscard]] const Allocation* nearest(std::uint64_t) const noexcept override { return &all_; }

 private:
  Allocation all_;
};

struct Slot {
  device::LaunchSlot slot{};
  device::ObjectRange objects[2]{{4096, 4352}, {8192, 8448}};
  std::uint32_t marks[2]{};

  Slot() {
    slot.version = device::kLayoutVersion;
    slot.object_count = 2;
    slot.objects = reinterpret_cast<std::uint64_t>(objects);
    slot.marks = reinterpret_cast<std::uint64_t>(marks);
  }
};

class Twins : public Patches {
 protected:
  exec::AccessHook* arm(const Slot* slot, PatchTable& table) {
    machine_.tool_image = &image_;
    EXPECT_EQ(table.add_image(machine_, kContext, kImage), Code::kSuccess);
    table.module_loaded(kContext, kModule);
    EXPECT_EQ(table.request(Instruction::kGlobalAccess, kModule, "drgpum_mark_global"),
              Code::kSuccess);
    table.activate(kModule);
    table.begin_launch(launch());
    table.set_launch_data(kLaunch, slot);
    return table.arm_launch(launch());
  }

  exec::ShortPath access(Slot& slot, PatchTable& table) {
    exec::AccessHook* hook = arm(&slot, table);
    FlatMemory memory(&slot, sizeof slot);
    warp_.memory = &memory;
    exec::ShortPath path;
    exec::WarpAccess warp_access;
    warp_access.mask = 1;
    warp_access.size = 4;
    warp_access.flags = exec::kWrite;
    warp_access.addresses = addresses_.data();
    warp_access.short_path = &path;
    hook->on_access(warp_, warp_access);
    return path;
  }

  ToolImage image_{{"drgpum_mark_global"}};
};

TEST_F(Twins, RunInPlaceOfDrgpumsOwnPatch) {
  Slot slot;
  access(slot, table_);
  EXPECT_EQ(warp_.calls, "");
  EXPECT_EQ(slot.marks[0], device::kMarkWrite | 1U << (device::kMarkWidthShift + 2));
  EXPECT_EQ(slot.marks[1], 0U);
}

// Later accesses to the object would leave the same marks.
TEST_F(Twins, HearOfAnObjectOnce) {
  Slot slot;
  const exec::ShortPath path = access(slot, table_);
  EXPECT_EQ(path.range.begin, slot.objects[0].begin);
  EXPECT_EQ(path.range.end, slot.objects[0].end);
  EXPECT_EQ(path.contiguous, nullptr);
  EXPECT_EQ(path.uniform, nullptr);
  EXPECT_EQ(path.scattered, nullptr);
}

TEST_F(Twins, WantNothingOfALaunchWithoutData) {
  exec::AccessHook* hook = arm(nullptr, table_);
  EXPECT_EQ(hook->wanted_spaces(), 0U);
  EXPECT_FALSE(hook->wants_heap());
  EXPECT_FALSE(hook->wants_blocks());
  const Slot slot;
  table_.set_launch_data(kLaunch, &slot);
  EXPECT_NE(hook->wanted_spaces(), 0U);
  PatchTable faithful(false);
  EXPECT_NE(arm(nullptr, faithful)->wanted_spaces(), 0U);
}

TEST_F(Twins, HearNoMoreWhereTheDataSaysThatNothingIsObserved) {
  Slot slot;
  slot.slot.version = 0;
  const exec::ShortPath path = access(slot, table_);
  EXPECT_EQ(warp_.calls, "");
  EXPECT_EQ(slot.marks[0], 0U);
  EXPECT_EQ(path.range.begin, 0U);
  EXPECT_EQ(path.range.end, UINT64_MAX);
}

TEST_F(Twins, GiveWayToThePatchWhenAskedFor) {
  Slot slot;
  PatchTable faithful(false);
  access(slot, faithful);
  EXPECT_NE(warp_.calls.find("drgpum_mark_global"), std::string::npos);
  EXPECT_EQ(slot.marks[0], 0U);
}

TEST_F(Twins, GiveWayToThePatchForAnotherLayout) {
  Slot slot;
  slot.slot.version = device::kLayoutVersion + 1;
  access(slot, table_);
  EXPECT_NE(warp_.calls.find("drgpum_mark_global"), std::string::npos);
}

TEST_F(Twins, GiveWayToThePatchWhenTheDataLiesElsewhere) {
  Slot slot;
  slot.slot.marks = 64;
  access(slot, table_);
  EXPECT_NE(warp_.calls.find("drgpum_mark_global"), std::string::npos);
}

}  // namespace
}  // namespace drgpum::emulator::sanitizer
