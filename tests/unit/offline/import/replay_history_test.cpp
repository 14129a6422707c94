// SPDX-License-Identifier: Apache-2.0
#include "offline/import/replay_history.h"

#include <gtest/gtest.h>

namespace drgpum {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class HistoryText {
 public:
  HistoryText& event(AllocatorAction action, std::uint64_t address, std::uint64_t size) {
    AllocatorEvent event;
    event.action = action;
    event.address = address;
    event.size = size;
    history.events.push_back(event);
    return *this;
  }
  HistoryText& segment(std::uint64_t address, std::uint64_t size,
                       std::vector<HistoryBlock> blocks = {}) {
    HistorySegment segment;
    segment.address = address;
    segment.size = size;
    segment.first_block = static_cast<std::uint32_t>(history.blocks.size());
    segment.block_count = static_cast<std::uint32_t>(blocks.size());
    for (const HistoryBlock& block : blocks)
      history.blocks.push_back(block);
    history.segments.push_back(segment);
    return *this;
  }
  DeviceLives replay() const {
    return replay_part(history, {0, false, 0, history.events.size()});
  }

  // Bytes of blocks, or of segments, behind each event; [0] before the first.
  std::vector<std::uint64_t> curve(bool segments) const {
    const DeviceLives lives = replay();
    std::vector<std::uint64_t> bytes(history.events.size() + 1, 0);
    for (const Life& life : lives.lives) {
      if ((life.kind != LifeKind::kBlock) != segments) continue;
      const std::size_t begin = life.begin == kNoEvent ? 0 : life.begin + 1;
      const std::size_t end = life.end == kNoEvent ? bytes.size() : life.end + 1;
      for (std::size_t i = begin; i < end; ++i)
        bytes[i] += life.size;
    }
    return bytes;
  }

  AllocatorHistory history;
};

using Bytes = std::vector<std::uint64_t>;
using enum AllocatorAction;

TEST(ReplayHistoryTest, PendingBlocksHoldTheirMemory) {
  HistoryText text;
  text.event(kAlloc, 0x1000, 512).event(kFreeRequested, 0x1000, 512).event(kFreeCompleted, 0x1000, 512);
  EXPECT_EQ(text.curve(false), (Bytes{0, 512, 512, 0}));
}

TEST(ReplayHistoryTest, FreesOfUnknownBlocksTellOfBlocksBefore) {
  HistoryText text;
  text.event(kFreeCompleted, 0x10, 512).event(kFreeCompleted, 0x10, 512).event(kFreeCompleted, 0x10, 512);
  text.event(kAlloc, 0x4000, 512);
  EXPECT_EQ(text.curve(false), (Bytes{512, 512, 512, 0, 512}));
  EXPECT_EQ(text.replay().unmatched_frees, 3u);
}

TEST(ReplayHistoryTest, ABlockOfTheEndStateWasThereBefore) {
  HistoryText text;
  HistoryBlock block;
  block.address = 0x1000;
  block.size = 1024;
  block.state = BlockState::kActive;
  text.event(kAlloc, 0x2000, 512).segment(0x1000, 2 * kMiB, {block});
  EXPECT_EQ(text.curve(false), (Bytes{1024, 1536}));
  EXPECT_EQ(text.curve(true), (Bytes{2 * kMiB, 2 * kMiB}));
  EXPECT_EQ(text.replay().unmatched_blocks, 1u);
  EXPECT_EQ(text.replay().unseen_ends, 1u);  // the other lives by its event only
}

TEST(ReplayHistoryTest, AnAllocationEndsWhatLivesInItsBytes) {
  HistoryText text;
  text.event(kAlloc, 0x1000, 1024).event(kAlloc, 0x1200, 512);
  EXPECT_EQ(text.curve(false), (Bytes{0, 1024, 512}));
  EXPECT_EQ(text.replay().unrecorded_ends, 1u);
}

TEST(ReplayHistoryTest, PagesAreUnmappedFromTheMiddle) {
  HistoryText text;
  const std::uint64_t base = std::uint64_t{1} << 40;
  text.event(kSegmentMap, base, 20 * kMiB)
      .event(kAlloc, base, kMiB)
      .event(kSegmentMap, base + 20 * kMiB, 20 * kMiB)
      .event(kSegmentUnmap, base + 19 * kMiB, 2 * kMiB)
      .event(kFreeCompleted, base, kMiB);
  EXPECT_EQ(text.curve(true), (Bytes{0, 20 * kMiB, 20 * kMiB, 40 * kMiB, 38 * kMiB, 38 * kMiB}));
  EXPECT_EQ(text.curve(false), (Bytes{0, 0, kMiB, kMiB, kMiB, 0}));
}

TEST(ReplayHistoryTest, ASegmentThatIsOnlyFreedWasThereBefore) {
  HistoryText text;
  text.event(kSegmentFree, 0x100000, 2 * kMiB).event(kSegmentAlloc, 0x100000, 2 * kMiB);
  EXPECT_EQ(text.curve(true), (Bytes{2 * kMiB, 0, 2 * kMiB}));
}

TEST(ReplayHistoryTest, AddressesAtTheEndOfTheirRangeWork) {
  HistoryText text;
  text.event(kAlloc, UINT64_MAX - 511, 511).event(kFreeCompleted, UINT64_MAX - 511, 511);
  EXPECT_EQ(text.curve(false), (Bytes{0, 511, 0}));
}

}  // namespace
}  // namespace drgpum
