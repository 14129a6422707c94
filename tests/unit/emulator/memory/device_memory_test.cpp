// SPDX-License-Identifier: Apache-2.0
// Device memory: where it lies, how much there is, and who may touch it.

#include "emulator/memory/device_memory.h"

#include <cstring>

#include <gtest/gtest.h>

namespace drgpum::emulator {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

// The regions have fixed addresses: one for all tests, with two devices of 16 MiB.
DeviceMemory& memory() {
  static DeviceMemory* const shared = [] {
    auto reserved = DeviceMemory::reserve(2, 16 * kMiB);
    return reserved ? reserved->release() : nullptr;
  }();
  return *shared;
}

BlockRequest request(std::uint64_t size, BlockKind kind = BlockKind::kDevice, int device = 0) {
  BlockRequest made;
  made.size = size;
  made.kind = kind;
  made.device = device;
  return made;
}

// Freed at the end of the test.
class Held {
 public:
  explicit Held(const BlockRequest& asked) : block_(memory().allocate(asked)) {}
  ~Held() {
    if (block_ != nullptr) memory().free(block_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Block* operator->() const { return block_; }
  [[nodiscard]] Block* get() const { return block_; }

 private:
  Block* block_;
};

TEST(DeviceMemory, StartsAtTheSameAddressInEveryRun) {
  const Held first(request(100));
  EXPECT_EQ(first->range.begin, 0x2000'0000'0000u);
  const Held second(request(100));
  EXPECT_EQ(second->range.begin % kAllocationUnit, 0u);
}

// With vm.mmap_rnd_bits at its most, libraries and buffers lie from 0x6fff'0000'0000 up and programs from
// 0x5555'0000'0000: device addresses there would clash with theirs in some runs.
TEST(DeviceMemory, LiesWhereTheKernelPutsNothing) {
  for (const BlockKind kind : {BlockKind::kDevice, BlockKind::kManaged, BlockKind::kPinned}) {
    const Held held(request(kMiB, kind, 0));
    ASSERT_NE(held.get(), nullptr);
    EXPECT_GE(held->range.begin, 0x0020'0000'0000u);
    EXPECT_LT(held->range.end, 0x5555'0000'0000u);
  }
}

TEST(DeviceMemory, OfToolsDoesNotMoveTheProgramsAddresses) {
  const Held tool(request(100, BlockKind::kTool));
  const Held program(request(100));
  EXPECT_EQ(program->range.begin, 0x2000'0000'0000u);
  EXPECT_EQ(memory().used(0), 2 * kAllocationUnit);
}

TEST(DeviceMemory, EndsExactlyWhereTheProgramAskedFor) {
  const Held block(request(100));
  EXPECT_EQ(memory().find(block->range.begin + 99), &block->range);
  EXPECT_EQ(memory().find(block->range.begin + 100), nullptr);
  EXPECT_EQ(memory().find(block->range.begin - 1), nullptr);
}

TEST(DeviceMemory, LeavesAGapBetweenBlocksOfWholeUnits) {
  const Held first(request(kAllocationUnit));
  const Held second(request(kAllocationUnit));
  EXPECT_EQ(memory().find(first->range.end), nullptr);
}

TEST(DeviceMemory, KeepsBytesWhereTheAliasSays) {
  const Held block(request(16));
  const auto view = memory().host_view(block->range.begin, 16);
  ASSERT_EQ(view.size(), 16u);
  std::memset(view.data(), 0x5a, 16);
  const auto* alias = reinterpret_cast<const unsigned char*>(
      block->range.begin + static_cast<std::uint64_t>(block->range.alias_offset));
  EXPECT_EQ(alias[15], 0x5a);
}

TEST(DeviceMemoryDeathTest, AHostAccessToADevicePointerFaults) {
  const Held block(request(16));
  volatile char* pointer = reinterpret_cast<char*>(block->range.begin);
  EXPECT_DEATH((void)*pointer, "");
}

TEST(DeviceMemory, IsFullAtItsSizeAndNotBefore) {
  const Held most(request(15 * kMiB));
  EXPECT_EQ(memory().allocate(request(kMiB + 1)), nullptr);
  const Held rest(request(kMiB));
  EXPECT_NE(rest.get(), nullptr);
  EXPECT_EQ(memory().used(0), 16 * kMiB);
  EXPECT_EQ(memory().used(1), 0u);
}

TEST(DeviceMemory, RefusesSizesThatOverflow) {
  EXPECT_EQ(memory().allocate(request(~std::uint64_t{0})), nullptr);
  EXPECT_EQ(memory().allocate(request(~std::uint64_t{0} - 511)), nullptr);
}

TEST(DeviceMemory, GivesBackWhatIsFreed) {
  for (int round = 0; round < 100; ++round) {
    Block* block = memory().allocate(request(10 * kMiB));
    ASSERT_NE(block, nullptr);
    memory().free(block);
  }
  EXPECT_EQ(memory().used(0), 0u);
}

TEST(DeviceMemory, ReadsAsZeroAfterALargeBlockWasFreed) {
  Block* block = memory().allocate(request(kMiB));
  const std::uint64_t address = block->range.begin;
  std::memset(memory().host_view(address, kMiB).data(), 1, kMiB);
  memory().free(block);
  const Held again(request(kMiB));
  ASSERT_EQ(again->range.begin, address);
  EXPECT_EQ(memory().host_view(address + kMiB / 2, 1)[0], std::byte{0});
}

TEST(DeviceMemory, SharesManagedAndPinnedMemoryWithTheHost) {
  for (const BlockKind kind : {BlockKind::kManaged, BlockKind::kPinned}) {
    const Held block(request(4096, kind));
    EXPECT_EQ(block->range.alias_offset, 0);
    *reinterpret_cast<int*>(block->range.begin) = 42;
    int seen = 0;
    std::memcpy(&seen, memory().host_view(block->range.begin, 4).data(), 4);
    EXPECT_EQ(seen, 42);
  }
  EXPECT_EQ(memory().used(0), 0u);
}

TEST(DeviceMemory, RegistersHostMemoryOnce) {
  static char bytes[256];
  Block* block = memory().register_host(bytes, request(256, BlockKind::kRegistered));
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(memory().register_host(bytes + 128, request(16, BlockKind::kRegistered)), nullptr);
  EXPECT_EQ(memory().block_at(reinterpret_cast<std::uint64_t>(bytes) + 255), block);
  memory().free(block);
}

TEST(DeviceMemory, ShowsOneMemoryAtTwoMappings) {
  const auto physical = memory().create_physical(0, kVirtualPage);
  ASSERT_TRUE(physical);
  const auto range = memory().reserve_virtual(2 * kVirtualPage, 0, 0);
  Block* low = memory().map(*range, kVirtualPage, *physical, 0, request(0, BlockKind::kMapped));
  Block* high = memory().map(*range + kVirtualPage, kVirtualPage, *physical, 0,
                             request(0, BlockKind::kMapped));
  memory().host_view(*range + 5, 1)[0] = std::byte{7};
  EXPECT_EQ(memory().host_view(*range + kVirtualPage + 5, 1)[0], std::byte{7});
  EXPECT_EQ(memory().host_view(*range, 2 * kVirtualPage).size(), kVirtualPage);
  memory().free(low);
  memory().free(high);
  memory().release_virtual(*range, 2 * kVirtualPage);
  memory().destroy_physical(*physical);
  EXPECT_EQ(memory().used(0), 0u);
}

TEST(DeviceMemory, HasNoViewOfDeviceAddressesOutsideBlocks) {
  EXPECT_TRUE(memory().host_view(0x2000'0000'0000 + 8 * kMiB, 1).empty());
  int local = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&local);
  EXPECT_EQ(reinterpret_cast<int*>(memory().host_view(address, 4).data()), &local);
}

TEST(DeviceMemory, NamesTheNearestBlockAndWhetherItWasFreed) {
  Block* gone = memory().allocate(request(64));
  const std::uint64_t address = gone->range.begin;
  memory().free(gone);
  const Allocation* nearest = memory().nearest(address + 10);
  ASSERT_NE(nearest, nullptr);
  EXPECT_EQ(nearest->begin, address);
  EXPECT_TRUE(nearest->freed);
  const Held again(request(64));
  nearest = memory().nearest(again->range.end + 3);
  EXPECT_EQ(nearest->end, again->range.end);
}

TEST(DeviceMemory, RaisesTheEpochWithEveryChange) {
  const std::uint64_t before = memory().epoch();
  Block* block = memory().allocate(request(8));
  const std::uint64_t between = memory().epoch();
  memory().free(block);
  EXPECT_LT(before, between);
  EXPECT_LT(between, memory().epoch());
}

TEST(DeviceMemory, KeepsRecordsReadableWhileSomeoneReads) {
  const AllocationTable::Reader reader(memory());
  Block* block = memory().allocate(request(8));
  const Allocation* found = memory().find(block->range.begin);
  memory().free(block);
  for (int i = 0; i < 200; ++i)
    memory().free(memory().allocate(request(8)));
  EXPECT_TRUE(found->freed);
}

}  // namespace
}  // namespace drgpum::emulator
