// SPDX-License-Identifier: Apache-2.0
#include "offline/order/memory_timeline.h"

#include "tests/support/judged.h"
#include "tests/support/random_program.h"

namespace drgpum {
namespace {

std::string peaks_of(std::string_view text, std::size_t count = 3,
                     MemoryLevel level = MemoryLevel::kAllocation) {
  const Evidence evidence = evidence_from_text(text);
  const char* words[] = {"used", "idle", "unused", "leaked", "unknown"};
  std::string out;
  for (const Peak& peak : top_peaks(evidence, level, count)) {
    out += std::to_string(peak.bytes) + " at " + std::to_string(peak.api) + ":";
    for (const LiveObject& live : peak.objects)
      out += " " + evidence.names[evidence.objects[live.object].name] + "=" +
             words[static_cast<int>(live.state)];
    out += "\n";
  }
  return out;
}

TEST(Timeline, ListsTheHighestPeaksAndTheirObjects) {
  EXPECT_EQ(
      peaks_of("alloc A 100; alloc B 50; launch k reads A; free B; alloc C 10; "
               "launch k reads C; free A; free C; alloc D 120; launch k reads D; free D; end"),
      "150 at 1: A=used B=unused\n120 at 8: D=used\n110 at 4: A=idle C=used\n");
}

TEST(Timeline, TellsLeakedFromIdleObjects) {
  EXPECT_EQ(peaks_of("alloc A 100; launch k reads A; alloc B 50; launch k reads B; free B; end", 1),
            "150 at 2: A=leaked B=used\n");
}

TEST(Timeline, HoldsTheCompilersTablesAgainstNobody) {
  EXPECT_EQ(peaks_of("global __cudart_i2opi_f 24; global table 8; launch k; end", 1),
            "32 at 0: __cudart_i2opi_f=used table=unused\n");
}

TEST(Timeline, SaysNothingOfWhatKernelsReadUnseen) {
  EXPECT_EQ(peaks_of("alloc A 100 opaque; alloc B 50; launch k reads B; free B; free A; end", 1),
            "150 at 1: A=unknown B=used\n");
}

TEST(Timeline, CountsWhatEndsAtACallBeforeWhatBeginsThere) {
  EXPECT_EQ(
      peaks_of("alloc A 100; launch k reads A; free A; alloc B 100; launch k reads B; free B", 1),
      "100 at 0: A=used\n");
}

TEST(Timeline, KeepsPinnedMemoryApart) {
  const Evidence evidence = evidence_from_text("alloc P 500 pinned; alloc A 100; free A; free P");
  EXPECT_EQ(live_curve(evidence, 0, MemoryLevel::kAllocation).front().bytes, 100u);
  EXPECT_EQ(pinned_curve(evidence).front().bytes, 500u);
}

TEST(Timeline, CountsPoolsOrTheTensorsInThem) {
  const char* text = "alloc P 1000; alloc t 300 sub parent=P; launch k writes t; free t; free P";
  EXPECT_EQ(peaks_of(text, 1), "1000 at 0: P=used\n");
  EXPECT_EQ(peaks_of(text, 1, MemoryLevel::kTensor), "300 at 1: t=used\n");
}

TEST(Timeline, TakesTheMostThatOneLaunchTouchesForTheLowerBound) {
  EXPECT_EQ(lower_bound_bytes(evidence_from_text("alloc A 100; alloc B 50; alloc C 70; "
                                                 "launch k reads A writes B; launch l updates C; "
                                                 "free A; free B; free C"),
                              MemoryLevel::kAllocation),
            150u);
}

TEST(Timeline, CountsForTheLowerBoundWhatExactMapsSayIsTouched) {
  const auto bound = [](const std::string& map) {
    return lower_bound_bytes(
        evidence_from_text("alloc A 100\nalloc B 50\nlaunch k updates A writes B\n" + map +
                           "\nfree A\nfree B"),
        MemoryLevel::kAllocation);
  };
  EXPECT_EQ(bound("map A cell=4 exact reads=0:20,40:48 writes=12:24"), 50u + 24 + 8);
  EXPECT_EQ(bound("map A cell=4 reads=0:20"), 150u) << "coarse cells say at most";
  EXPECT_EQ(bound("map A cell=4 exact blocks=2 reads=0:20"), 150u) << "half of the blocks";
}

TEST(Timeline, SaturatesInsteadOfWrappingRound) {
  std::string text;
  for (int i = 0; i < 3; ++i)
    text += "alloc o" + std::to_string(i) + " " + std::to_string(UINT64_MAX / 2) + "\n";
  const auto curve = live_curve(evidence_from_text(text), 0, MemoryLevel::kAllocation);
  EXPECT_EQ(curve.at(2).bytes, UINT64_MAX);
}

// The curve by definition; a byte that was freed twice would show as a difference.
std::vector<std::uint64_t> slow_curve(const Evidence& e, std::uint16_t device, MemoryLevel level) {
  std::vector<std::uint64_t> live(e.api_count() + 1, 0);
  for (std::uint32_t call = 0; call < live.size(); ++call)
    for (const Object& o : e.objects)
      if (o.device == device && holds_memory(o, level))
        live[call] += o.alloc <= call && call < o.end ? o.size : 0;
  return live;
}

TEST(Timeline, EqualsASumOverLiveObjectsOnRandomPrograms) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Evidence e = evidence_from_text(RandomProgram(seed, seed % 2 == 0).text());
    for (const MemoryLevel level : {MemoryLevel::kAllocation, MemoryLevel::kTensor}) {
      for (const std::uint16_t device : {std::uint16_t{0}, std::uint16_t{1}}) {
        const std::vector<std::uint64_t> live = slow_curve(e, device, level);
        const auto curve = live_curve(e, device, level);
        std::size_t point = 0;
        std::uint64_t shown = 0;
        for (std::uint32_t call = 0; call < live.size(); ++call) {
          while (point < curve.size() && curve[point].api <= call)
            shown = curve[point++].bytes;
          ASSERT_EQ(shown, live[call]) << seed << " " << call;
        }
      }
    }
  }
}

TEST(Timeline, PeaksAreTheHighestCallsAndTheirLiveObjectsAddUp) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Evidence e = evidence_from_text(RandomProgram(seed, true).text());
    const auto peaks = top_peaks(e, MemoryLevel::kAllocation, 4);
    std::uint64_t highest = 0;
    for (const std::uint16_t device : {std::uint16_t{0}, std::uint16_t{1}})
      for (const std::uint64_t bytes : slow_curve(e, device, MemoryLevel::kAllocation))
        highest = std::max(highest, bytes);
    ASSERT_EQ(peaks.empty() ? 0 : peaks.front().bytes, highest) << seed;
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      if (i > 0) {
        ASSERT_LE(peaks[i].bytes, peaks[i - 1].bytes) << seed;
      }
      std::uint64_t sum = 0;
      for (const LiveObject& live : peaks[i].objects)
        sum += e.objects[live.object].size;
      ASSERT_EQ(sum, peaks[i].bytes) << seed;
      ASSERT_EQ(slow_curve(e, peaks[i].device, MemoryLevel::kAllocation)[peaks[i].api], sum);
    }
  }
}

}  // namespace
}  // namespace drgpum
