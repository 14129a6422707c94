// SPDX-License-Identifier: Apache-2.0
// A snapshot that was written, read again as any other is.

#include <map>

#include "offline/import/read_snapshot.h"
#include "offline/import/trace_records.h"
#include "tests/support/random_program.h"
#include "tests/unit/offline/export/exported.h"

namespace drgpum {
namespace {

struct Reimported {
  AllocatorHistory history;
  Evidence evidence;

  explicit Reimported(const std::string& bytes) {
    auto read = read_snapshot(ByteStream::from_bytes(bytes));
    EXPECT_TRUE(read) << read.error().message;
    if (!read) return;
    history = *std::move(read);
    EvidenceBuilder builder;
    const Status status =
        write_history(history, [&](const trace::Record& r) { return builder.add(r); });
    EXPECT_TRUE(status) << status.error().message;
    evidence = std::move(builder).finish();
  }
};

// The bytes of a curve as they change, without the calls.
std::vector<std::uint64_t> bytes_of(const std::vector<LivePoint>& curve, std::uint32_t end) {
  std::vector<std::uint64_t> bytes;
  for (const LivePoint& point : curve)
    if (point.api < end) bytes.push_back(point.bytes);
  return bytes;
}

struct Totals {
  std::uint64_t peak = 0;
  std::uint64_t end = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
  friend void PrintTo(const Totals& t, std::ostream* out) {
    *out << "peak " << t.peak << " end " << t.end;
  }
};

Totals totals_of(const std::vector<LivePoint>& curve, std::uint32_t end) {
  Totals totals;
  for (const std::uint64_t bytes : bytes_of(curve, end)) {
    totals.peak = std::max(totals.peak, bytes);
    totals.end = bytes;
  }
  return totals;
}

Totals live_totals(const Evidence& e, std::uint16_t device) {
  return totals_of(live_curve(e, device, MemoryLevel::kTensor), e.api_count());
}
Totals pinned_totals(const Evidence& e) {
  return totals_of(pinned_curve(e), e.api_count());
}

// By the stream of the allocation, as its handle; what is on none counts as on 0.
std::map<std::string, Totals> stream_totals(const Evidence& e) {
  std::map<std::string, Totals> totals;
  std::map<std::string, std::vector<bool>> members;
  const auto handle_of = [&](const Object& o) -> std::string {
    const std::uint32_t stream = o.alloc < e.api_count() ? e.apis[o.alloc].stream : kNone;
    if (stream == kNone || e.streams[stream].kind == trace::StreamKind::kLegacyDefault) return "0";
    const std::string& name = e.names[e.streams[stream].name];
    return name.empty() ? std::to_string(e.streams[stream].id) : name;
  };
  for (const Object& o : e.objects)
    if (holds_memory(o, MemoryLevel::kTensor) && o.alloc < o.end && o.size != 0)
      totals[handle_of(o)];
  for (auto& [handle, of] : totals)
    of = totals_of(curve_where(e,
                               [&, name = handle](const Object& o) {
                                 return holds_memory(o, MemoryLevel::kTensor) &&
                                        handle_of(o) == name;
                               }),
                   e.api_count());
  return totals;
}

TEST(Torch, AProgramsAllocationsAreSegmentsWithOneBlock) {
  const Exported exported(
      "path P 0x10\nalloc x 1M at=0x7000000000 path=P\nlaunch k writes x\nlaunch k writes x\nfree "
      "x\n"
      "alloc y 2M at=0x7000100000\nend exit=0\n");
  const Reimported again(exported.as("torch"));
  std::vector<AllocatorAction> actions;
  for (const AllocatorEvent& event : again.history.events)
    actions.push_back(event.action);
  using enum AllocatorAction;
  EXPECT_EQ(actions,
            (std::vector<AllocatorAction>{kSegmentAlloc, kAlloc, kFreeRequested, kFreeCompleted,
                                          kSegmentFree, kSegmentAlloc, kAlloc}));
  EXPECT_EQ(again.history.events[1].address, 0x7000000000u);
  ASSERT_EQ(again.history.segments.size(), 1u);
  EXPECT_EQ(again.history.segments[0].address, 0x7000100000u);
  EXPECT_EQ(again.history.segments[0].size, 2u << 20);
  const auto note_of = [&](std::size_t event) {
    return std::string(
        again.history.texts[again.history.notes[again.history.events[event].note].text]);
  };
  EXPECT_EQ(note_of(1), "x");
  EXPECT_TRUE(note_of(6).starts_with("y, ")) << note_of(6);
  EXPECT_NE(note_of(6).find("memory_leak"), std::string::npos);
  // Innermost first, as PyTorch has them.
  const std::uint32_t stack = again.history.events[1].stack;
  const HistoryFrame& frame =
      again.history.frames[again.history.stack_frames[again.history.stack_begin[stack]]];
  EXPECT_EQ(again.history.texts[frame.function], "make1");
  EXPECT_EQ(frame.line, 11u);
  EXPECT_TRUE(again.history.faults.empty());
  EXPECT_EQ(live_totals(again.evidence, 0), (Totals{2u << 20, 2u << 20}));
}

TEST(Torch, RandomProgramsKeepTheirTotals) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomProgram program(seed, seed % 3 != 0);
    const Exported exported(program.text());
    const Evidence& before = exported.report.evidence;
    const Reimported again(exported.as("torch"));
    for (const std::uint16_t device : {std::uint16_t{0}, std::uint16_t{1}}) {
      EXPECT_EQ(live_totals(again.evidence, device), live_totals(before, device));
      EXPECT_EQ(bytes_of(live_curve(again.evidence, device, MemoryLevel::kTensor),
                         again.evidence.api_count()),
                bytes_of(live_curve(before, device, MemoryLevel::kTensor), before.api_count()));
    }
    EXPECT_EQ(pinned_totals(again.evidence), pinned_totals(before));
    EXPECT_EQ(stream_totals(again.evidence), stream_totals(before));
    EXPECT_TRUE(again.evidence.coverage.empty()) << again.evidence.coverage.front().text;
    EXPECT_EQ(again.evidence.failed.size(), before.failed.size());
  }
}

// Two objects at one address at once, and one without an address: each gets a place of its own.
TEST(Torch, WhatLivesAtOnceLiesApart) {
  const Exported exported(
      "alloc a 1M at=0x1000\nalloc b 1M at=0x1800\nalloc c 4096 at=0\nalloc d 4096 at=0\nend\n");
  const Reimported again(exported.as("torch"));
  EXPECT_EQ(live_totals(again.evidence, 0), (Totals{(2u << 20) + 8192, (2u << 20) + 8192}));
  EXPECT_TRUE(again.evidence.coverage.empty());
}

TEST(Torch, BlocksLieInTheSegmentsOfTheirPools) {
  const Exported exported(
      "alloc pool 4M at=0x7000000000\nalloc t 1M sub parent=pool at=0x7000100000\nlaunch k writes "
      "t\n"
      "alloc u 512K sub parent=pool at=0x7000200000\nfree t\nend\n");
  const Reimported again(exported.as("torch"));
  EXPECT_EQ(live_totals(again.evidence, 0), live_totals(exported.report.evidence, 0));
  const auto pools = pool_use(again.evidence, 0, 0);
  ASSERT_TRUE(pools);
  EXPECT_EQ(pools->reserved_peak_bytes, 4u << 20);
  ASSERT_EQ(again.history.segments.size(), 1u);
  // A hole, the block, a hole.
  EXPECT_EQ(again.history.segments[0].block_count, 3u);
}

TEST(Torch, FailedAllocationsArePartOfTheHistory) {
  const Exported exported("alloc a 1M\nalloc-failed 4G\nend\n");
  const Reimported again(exported.as("torch"));
  ASSERT_EQ(again.evidence.failed.size(), 1u);
  EXPECT_EQ(again.evidence.failed[0].requested, std::uint64_t{4} << 30);
}

TEST(Torch, NamesAreCleanText) {
  const Reimported again(Exported(evil_records(), kEvilName).as("torch"));
  EXPECT_TRUE(again.history.faults.empty());
  std::size_t long_texts = 0;
  for (std::uint32_t t = 0; t < again.history.texts.size(); ++t) {
    EXPECT_TRUE(is_clean(again.history.texts[t])) << again.history.texts[t];
    long_texts += again.history.texts[t].size() > 20;
  }
  EXPECT_GT(long_texts, 2u);
}

TEST(Torch, AnEmptyTraceIsASnapshot) {
  const Reimported again(Exported("end exit=0\n").as("torch"));
  EXPECT_TRUE(again.history.events.empty());
  EXPECT_TRUE(again.history.segments.empty());
}

}  // namespace
}  // namespace drgpum
