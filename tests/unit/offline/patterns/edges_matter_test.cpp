// SPDX-License-Identifier: Apache-2.0
// For each kind of edge the finding that would be wrong without it, and for each edge that CUDA
// does not promise the finding that would be wrong with it.

#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

constexpr const char* kTwoStreams = "stream s non-blocking; stream t non-blocking\n";

// Whether B, used on stream t, may take the memory of A, used on stream s before it.
std::string reuse(const std::string& streams, const std::string& between) {
  const std::string line =
      findings_in(Pattern::kRedundantAllocation,
                  streams + "alloc A 1K; alloc B 1K; alloc C 64; alloc D 64 async on=s\n" +
                      "launch k writes A on=s\n" + between + "\nlaunch l writes B on=t\n" +
                      "free A; free B\n");
  if (line.starts_with("redundant_allocation B->A proven")) return "proven";
  return line.starts_with("redundant_allocation B->A possible") ? "possible" : line;
}

struct Case {
  const char* what;
  const char* between;
  const char* expected;
};

TEST(EdgesMatter, ToAReuseAcrossTwoStreams) {
  const Case cases[] = {
      {"nothing", "", "possible"},
      {"an event's record and the wait for it", "record e on=s; wait e on=t", "proven"},
      {"a wait before the record", "wait e on=t; record e on=s", "possible"},
      {"the host waits for the stream", "sync stream s", "proven"},
      {"the host waits for another stream", "sync stream t", "possible"},
      {"another thread waits for the stream", "sync stream s thread=1", "possible"},
      {"the host waits for an event", "record e on=s; sync event e", "proven"},
      {"an event's query succeeds", "record e on=s; query event e", "proven"},
      {"a stream's query succeeds", "query stream s", "proven"},
      {"the host waits for the context", "sync context", "proven"},
      {"the host waits for the device", "sync device", "proven"},
      {"a blocking copy", "memcpy d2h A on=s", "proven"},
      {"an asynchronous copy", "memcpy d2h A async on=s", "possible"},
      {"a set, which does not block", "memset C on=s", "possible"},
      {"cudaMalloc, which waits for nothing", "alloc E 64", "possible"},
      {"cudaFree, which waits for the device", "free C", "proven"},
      {"cudaFreeAsync, which waits for its stream only", "free D async on=s", "possible"},
      {"a launch in the legacy default stream", "launch z", "possible"},
      {"a host function in the stream", "host-function on=s", "possible"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(reuse(kTwoStreams, one.between), one.expected) << one.what;
}

TEST(EdgesMatter, TheLegacyDefaultStreamOrdersStreamsThatSynchroniseWithIt) {
  EXPECT_EQ(reuse("stream s; stream t\n", ""), "possible");
  EXPECT_EQ(reuse("stream s; stream t\n", "launch z"), "proven");
  EXPECT_EQ(reuse("stream s per-thread; stream t per-thread\n", ""), "possible");
  EXPECT_EQ(reuse("stream s per-thread; stream t per-thread\n", "launch z"), "proven");
  EXPECT_EQ(reuse("stream s; stream t non-blocking\n", "launch z"), "possible");
}

TEST(EdgesMatter, AGraphOrdersItsNodesAndNoOthers) {
  const auto in_graph = [](const std::string& after) {
    return findings_in(Pattern::kRedundantAllocation,
                       "stream s; alloc A 1K; alloc B 1K; graph g on=s\n"
                       "launch k writes A on=s node; launch l writes B on=s node" +
                           after + "\nfree A; free B");
  };
  EXPECT_EQ(in_graph(" after=3"),
            "redundant_allocation B->A proven distance=0 wasted=1024 alone=1024 joint=1024\n");
  EXPECT_EQ(in_graph(""), "redundant_allocation B->A possible distance=0 wasted=1024 superseded\n")
      << "branches of one graph may run at once";
}

// The copy is in the streams of both contexts, so that it carries order from one to the other.
TEST(EdgesMatter, ACopyBetweenDevicesWaitsForBothItsStreams) {
  const auto across = [](const std::string& peer) {
    return findings_in(Pattern::kRedundantAllocation,
                       "device; device\n"
                       "context b device=1; stream p non-blocking; alloc Y 64\n"
                       "context a device=0; stream s non-blocking; stream t non-blocking\n"
                       "alloc A 1K; alloc B 1K; alloc X 64\n"
                       "launch k writes A on=s\n"
                       "memcpy d2d X Y on=p" +
                           peer +
                           "\nrecord e on=p; wait e on=t\n"
                           "launch l writes B on=t; free A; free B; free X\n"
                           "context b; free Y");
  };
  EXPECT_TRUE(across(" peer=s").starts_with("redundant_allocation B->A proven"));
  EXPECT_TRUE(across("").starts_with("redundant_allocation B->A possible"));
}

TEST(EdgesMatter, ACopyToAnotherDeviceIsAUseOnThisOne) {
  EXPECT_EQ(findings_in(Pattern::kLateDeallocation,
                        "device; device\ncontext b device=1; alloc Y 1K\n"
                        "context a device=0; alloc A 1K; launch k writes A; launch x\n"
                        "memcpy d2d A Y; launch y; sync device; free A\n"
                        "context b; launch z reads Y; free Y\nend"),
            "late_deallocation A proven distance=1 wasted=1024\n")
      << "one launch after the copy, not two after the kernel";
}

// A free that takes effect in stream order may come before a write of another stream.
TEST(EdgesMatter, AFreeIsAUse) {
  const auto freed = [](const std::string& order) {
    return findings_in(Pattern::kDeadWrite, std::string(kTwoStreams) +
                                                "alloc A 1K async on=s; launch k reads A on=s; "
                                                "memset A on=s\n" +
                                                order + "\nfree A async on=t\nend");
  };
  EXPECT_EQ(freed(""), "dead_write A possible count=1 wasted=1024\n");
  EXPECT_EQ(freed("record e on=s; wait e on=t"), "dead_write A proven count=1 wasted=1024\n");
}

TEST(EdgesMatter, ASynchronisationMakesALateFreeProvable) {
  const auto late = [](const std::string& order) {
    return findings_in(Pattern::kLateDeallocation, std::string(kTwoStreams) +
                                                       "alloc A 1K; launch k reads A on=s\n" +
                                                       order + "\nlaunch x on=t; free A");
  };
  EXPECT_EQ(late(""), "late_deallocation A possible distance=1 wasted=1024\n");
  EXPECT_EQ(late("sync stream s"), "late_deallocation A proven distance=1 wasted=1024\n");
  EXPECT_EQ(late("record e on=s; query event e"),
            "late_deallocation A proven distance=1 wasted=1024\n");
}

// A launch that was not recorded may use anything, whichever stream it runs in.
TEST(EdgesMatter, ALaunchThatWasNotRecordedMayStillRun) {
  const auto late = [](const std::string& order) {
    return findings_in(Pattern::kLateDeallocation,
                       std::string(kTwoStreams) +
                           "alloc A 1K; launch hidden uninstrumented on=t; launch k reads A on=s\n" +
                           order + "\nsync stream s; launch x; free A");
  };
  EXPECT_EQ(late(""), "late_deallocation A possible distance=1 wasted=1024\n");
  EXPECT_EQ(late("sync stream t"), "late_deallocation A proven distance=1 wasted=1024\n");
}

}  // namespace
}  // namespace drgpum
