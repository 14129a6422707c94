// SPDX-License-Identifier: Apache-2.0
// Every kind of edge, and the absence of those that CUDA does not promise.

#include "offline/order/happens_before.h"

#include <map>
#include <random>

#include "tests/support/judged.h"
#include "tests/support/random_program.h"
#include "tests/support/slow_order.h"

namespace drgpum {
namespace {

// Calls are named by their place in the text, from 0; declarations are no calls.
bool before(std::string_view text, std::uint32_t a, std::uint32_t b) {
  const Evidence evidence = evidence_from_text(text);
  EXPECT_LT(b, evidence.api_count());
  return HappensBefore(evidence).before(a, b);
}

TEST(HappensBefore, OrdersTheCallsOfOneStream) {
  EXPECT_TRUE(before("stream s\nlaunch a on=s; launch b on=s", 0, 1));
  EXPECT_FALSE(before("stream s\nlaunch a on=s; launch b on=s", 1, 0));
  EXPECT_FALSE(before("stream s\nlaunch a on=s", 0, 0));
}

TEST(HappensBefore, DoesNotOrderTwoStreams) {
  EXPECT_FALSE(before("stream s; stream t\nlaunch a on=s; launch b on=t", 0, 1));
}

TEST(HappensBefore, OrdersStreamsThroughAnEvent) {
  const char* text = R"(
    stream s; stream t
    launch a on=s
    record e on=s
    launch late on=s
    launch early on=t
    wait e on=t
    launch b on=t
  )";
  EXPECT_TRUE(before(text, 0, 5));
  EXPECT_FALSE(before(text, 0, 3)) << "issued before the wait";
  EXPECT_FALSE(before(text, 2, 5)) << "issued after the record";
}

TEST(HappensBefore, PassesAlongChainsOfEvents) {
  EXPECT_TRUE(before(R"(
    stream s; stream t; stream u
    launch a on=s; record e on=s
    wait e on=t; record f on=t
    wait f on=u; launch b on=u
  )",
                     0, 5));
}

TEST(HappensBefore, WaitingForAnEventNeverRecordedOrdersNothing) {
  EXPECT_FALSE(before("stream s; stream t\nlaunch a on=s; wait e on=t; launch b on=t", 0, 2));
}

TEST(HappensBefore, LegacyDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  const char* text = "stream s; stream t\nlaunch a on=s; launch b; launch c on=t";
  EXPECT_TRUE(before(text, 0, 1));
  EXPECT_TRUE(before(text, 1, 2));
  EXPECT_TRUE(before(text, 0, 2));
}

TEST(HappensBefore, LegacyDefaultStreamIgnoresNonBlockingStreams) {
  const char* text =
      "stream s non-blocking; stream t non-blocking\nlaunch a on=s; launch b; launch c on=t";
  EXPECT_FALSE(before(text, 0, 1));
  EXPECT_FALSE(before(text, 1, 2));
}

TEST(HappensBefore, LegacyDefaultStreamOrdersPerThreadDefaultStreams) {
  const char* text =
      "stream p per-thread; stream q per-thread\n"
      "launch a on=p; launch b on=q; launch c; launch d on=q";
  EXPECT_FALSE(before(text, 0, 1));
  EXPECT_TRUE(before(text, 0, 2));
  EXPECT_TRUE(before(text, 0, 3));
}

TEST(HappensBefore, LegacyDefaultStreamStaysWithinItsContext) {
  const char* text = R"(
    device; device
    context c device=0
    stream s
    context d device=1
    stream t
    launch a on=s
    launch b on=t
  )";
  EXPECT_FALSE(before(text, 0, 1));
}

TEST(HappensBefore, HostOrdersWhatItWaitedFor) {
  EXPECT_TRUE(before("stream s; stream t\nlaunch a on=s; sync stream s; launch b on=t", 0, 2));
  EXPECT_TRUE(before("stream s; stream t\nlaunch a on=s; sync device; launch b on=t", 0, 2));
  EXPECT_TRUE(before("stream s; stream t\nlaunch a on=s; sync context; launch b on=t", 0, 2));
  EXPECT_TRUE(before("stream s; stream t\nlaunch a on=s; query stream s; launch b on=t", 0, 2));
  EXPECT_FALSE(before("stream s; stream t\nlaunch a on=s; sync stream t; launch b on=t", 0, 2));
}

TEST(HappensBefore, HostWaitsForAnEventAndNotForWhatCameAfterIt) {
  const char* text =
      "stream s; stream t\n"
      "launch a on=s; record e on=s; launch c on=s; sync event e; launch b on=t";
  EXPECT_TRUE(before(text, 0, 4));
  EXPECT_FALSE(before(text, 2, 4));
}

TEST(HappensBefore, BlockingCopyOrdersTheHostAnAsyncOneDoesNot) {
  const char* blocking = "stream s non-blocking; alloc A 1K; memcpy h2d A; launch b on=s";
  const char* async = "stream s non-blocking; alloc A 1K; memcpy h2d A async; launch b on=s";
  EXPECT_TRUE(before(blocking, 1, 2));
  EXPECT_FALSE(before(async, 1, 2));
}

TEST(HappensBefore, MemsetDoesNotOrderTheHost) {
  EXPECT_FALSE(before("stream s non-blocking; alloc A 1K; memset A; launch b on=s", 1, 2));
}

TEST(HappensBefore, CudaFreeWaitsForTheDeviceCudaMallocDoesNot) {
  EXPECT_TRUE(before("stream s; stream t; alloc A 1K; launch a on=s; free A; launch b on=t", 1, 3));
  EXPECT_FALSE(before("stream s; stream t\nlaunch a on=s; alloc A 1K; launch b on=t", 0, 2));
}

TEST(HappensBefore, StreamOrderedFreeWaitsForItsStreamOnly) {
  const char* text =
      "stream s; stream t; alloc A 1K async on=s\n"
      "launch a on=s; launch b on=t; free A async on=s; launch c on=t";
  EXPECT_TRUE(before(text, 1, 3));
  EXPECT_FALSE(before(text, 2, 3));
  EXPECT_FALSE(before(text, 3, 4));
}

TEST(HappensBefore, AllocationHappensBeforeEveryAccess) {
  const char* other_thread =
      "stream s non-blocking\nalloc A 1K thread=0; launch a writes A on=s thread=1";
  EXPECT_TRUE(before(other_thread, 0, 1));
  const char* other_stream =
      "stream s non-blocking; stream t non-blocking\n"
      "alloc A 1K async on=s; launch a writes A on=t";
  EXPECT_TRUE(before(other_stream, 0, 1));
}

TEST(HappensBefore, DoesNotOrderHostThreads) {
  const char* text =
      "stream s; stream t\n"
      "launch a on=s thread=0; sync stream s thread=0; launch b on=t thread=1";
  EXPECT_FALSE(before(text, 0, 2));
}

TEST(HappensBefore, SynchronisingTheDeviceFromTwoThreadsOrdersBoth) {
  const char* text =
      "stream s; stream t\n"
      "launch a on=s; sync device; sync device thread=1; launch b on=t thread=1";
  EXPECT_TRUE(before(text, 0, 3));
}

TEST(HappensBefore, FollowsTheEdgesOfAGraphAndNoOthers) {
  const char* text = R"(
    stream s
    launch first on=s
    graph g on=s
    launch root on=s node
    launch left on=s node after=2
    launch right on=s node after=2
    launch join on=s node after=3,4
    launch last on=s
  )";
  EXPECT_TRUE(before(text, 0, 2));
  EXPECT_TRUE(before(text, 2, 3));
  EXPECT_FALSE(before(text, 3, 4)) << "branches";
  EXPECT_TRUE(before(text, 3, 5));
  EXPECT_TRUE(before(text, 4, 6));
}

TEST(HappensBefore, WorkAfterAGraphWaitsForAllItsBranches) {
  const char* text = R"(
    stream s
    graph g on=s
    launch a on=s node
    launch b on=s node
    launch after on=s
    graph g on=s
    launch a on=s node
    launch b on=s node
    sync stream s
    alloc A 1K
  )";
  EXPECT_FALSE(before(text, 1, 2));
  for (const std::uint32_t node : {1u, 2u})
    EXPECT_TRUE(before(text, node, 3));
  for (const std::uint32_t node : {5u, 6u})
    EXPECT_TRUE(before(text, node, 8));
  EXPECT_TRUE(before(text, 2, 5)) << "launches of one stream follow each other";
}

TEST(HappensBefore, MarksAreInNoOrder) {
  EXPECT_FALSE(before("launch a; mark m; launch b", 0, 1));
  EXPECT_TRUE(before("launch a; mark m; launch b", 0, 2));
}

// Reference: reachability over the edges of the sweep, by closure.
std::vector<std::vector<bool>> closure(const Evidence& evidence) {
  const std::uint32_t n = evidence.api_count();
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
  OrderSweep sweep(evidence);
  OrderSweep::Step step;
  while (sweep.next(step)) {
    for (const Edge& edge : step.edges) {
      reach[edge.from][step.api] = true;
      for (std::uint32_t a = 0; a < edge.from; ++a)
        if (reach[a][edge.from]) reach[a][step.api] = true;
    }
  }
  return reach;
}

std::string random_trace(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::string text;
  const char* kinds[] = {"blocking", "non-blocking", "per-thread", "legacy"};
  const std::uint32_t streams = 1 + pick(12);
  for (std::uint32_t s = 0; s < streams; ++s)
    text += "stream s" + std::to_string(s) + " " + kinds[pick(3)] + "\n";
  bool recorded = false;
  const auto on = [&] {
    return pick(6) == 0 ? std::string() : " on=s" + std::to_string(pick(streams));
  };
  const auto thread = [&] { return " thread=" + std::to_string(pick(3)); };
  for (int i = 0; i < 60; ++i) {
    switch (pick(9)) {
      case 0:
        text += "record e" + on() + thread();
        recorded = true;
        break;
      case 1:
        text += (recorded ? "wait e" + on() : "mark m") + thread();
        break;
      case 2:
        text += "sync stream s" + std::to_string(pick(streams)) + thread();
        break;
      case 3:
        text += (pick(3) == 0 ? "sync device" : "mark m") + thread();
        break;
      case 4:
        text += "alloc o" + std::to_string(i) + " 1K" + thread();
        break;
      default:
        text += "launch k" + on() + thread();
    }
    text += "\n";
  }
  return text;
}

TEST(HappensBefore, EqualsReachabilityOverTheEdgesOnRandomTraces) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Evidence evidence = evidence_from_text(random_trace(seed));
    const HappensBefore order(evidence);
    const auto reach = closure(evidence);
    for (std::uint32_t a = 0; a < evidence.api_count(); ++a)
      for (std::uint32_t b = 0; b < evidence.api_count(); ++b)
        ASSERT_EQ(order.before(a, b), reach[a][b]) << "seed " << seed << ": " << a << ", " << b;
  }
}

TEST(HappensBefore, EqualsItsDefinitionOnRandomPrograms) {
  std::map<trace::ApiKind, int> kinds;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Evidence evidence = evidence_from_text(RandomProgram(seed, true).text());
    const HappensBefore order(evidence);
    const SlowOrder slow(evidence);
    for (std::uint32_t b = 0; b < evidence.api_count(); ++b) {
      ++kinds[evidence.apis[b].kind];
      for (std::uint32_t a = 0; a < b; ++a)
        ASSERT_EQ(order.before(a, b), slow.before(a, b)) << "seed " << seed << ": " << a << ", " << b;
    }
  }
  using trace::ApiKind;
  for (const ApiKind kind : {ApiKind::kAlloc, ApiKind::kFree, ApiKind::kMemcpy, ApiKind::kMemset,
                             ApiKind::kLaunch, ApiKind::kEventRecord, ApiKind::kStreamWait,
                             ApiKind::kSynchronize, ApiKind::kGraphLaunch})
    EXPECT_GT(kinds[kind], 50) << static_cast<int>(kind);
}

TEST(HappensBefore, FindsTheLaunchesThatWereNotRecordedChainByChain) {
  const char* text =
      "stream s non-blocking; stream t non-blocking\n"
      "launch a uninstrumented on=s; launch b on=s; launch c uninstrumented on=t; "
      "launch d uninstrumented on=s; launch e uninstrumented on=t";
  const Evidence evidence = evidence_from_text(text);
  const HappensBefore order(evidence);
  using Calls = std::vector<std::uint32_t>;
  EXPECT_EQ(order.first_unseen_per_chain(0, 5), (Calls{0, 2}));
  EXPECT_EQ(order.last_unseen_per_chain(0, 5), (Calls{3, 4}));
  EXPECT_EQ(order.last_unseen_per_chain(0, 4), (Calls{3, 2}));
  EXPECT_EQ(order.first_unseen_per_chain(1, 3), (Calls{2}));
  EXPECT_EQ(order.last_unseen_per_chain(1, 2), Calls());
}

TEST(HappensBefore, FirstCallAfterAndLastLaunchBeforeEqualASearch) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Evidence evidence = evidence_from_text(random_trace(seed));
    const HappensBefore order(evidence);
    const std::uint32_t n = evidence.api_count();
    const auto is_launch = [&](std::uint32_t api) {
      return evidence.apis[api].kind == trace::ApiKind::kLaunch;
    };
    for (std::uint32_t a = 0; a + 1 < n; ++a) {
      const std::uint32_t b = std::min(a + 1 + seed % 7, n - 1);
      const std::uint32_t from[] = {a, b};
      std::uint32_t first = kNone, launch = kNone, last = kNone;
      for (std::uint32_t c = b + 1; c < n; ++c) {
        if (!order.before(a, c) || !order.before(b, c)) continue;
        if (first == kNone) first = c;
        if (launch == kNone && is_launch(c)) launch = c;
      }
      for (std::uint32_t c = a; c < b; ++c)
        if (is_launch(c) && order.before(c, b)) last = c;
      ASSERT_EQ(order.first_after(from, n, false), first) << seed;
      ASSERT_EQ(order.first_after(from, n, true), launch) << seed;
      if (evidence.apis[b].kind == trace::ApiKind::kMark) continue;
      ASSERT_EQ(order.last_launch_before(b, a), last) << seed;
    }
  }
}

TEST(HappensBefore, MemoryIsReleasedOnceNoStreamMayStillRunBeside) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Evidence evidence = evidence_from_text(random_trace(seed));
    const HappensBefore order(evidence);
    const std::uint32_t n = evidence.api_count();
    const auto runs_on_a_stream = [&](std::uint32_t call) {
      const Api& api = evidence.apis[call];
      return api.stream != kNone && api.kind != trace::ApiKind::kSynchronize &&
             api.kind != trace::ApiKind::kMark;
    };
    for (std::uint32_t a = 0; a + 1 < n; ++a) {
      const std::uint32_t limit = std::min(n, a + 2 + seed % 20);
      std::uint32_t expected = kNone;
      for (std::uint32_t p = a + 1; p < limit && expected == kNone; ++p) {
        bool free = true;
        for (std::uint32_t q = p; q < limit; ++q)
          free = free && (!runs_on_a_stream(q) || order.before(a, q));
        if (free) expected = p;
      }
      ASSERT_EQ(order.released_after(std::span(&a, 1), limit), expected) << seed << " " << a;
    }
  }
}

}  // namespace
}  // namespace drgpum
