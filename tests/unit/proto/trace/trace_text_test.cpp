// SPDX-License-Identifier: Apache-2.0
// The language of text traces: each statement gives the records that its grammar promises.
#include "proto/trace/trace_text.h"

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "proto/trace/trace_reader.h"
#include "tests/support/random_records.h"

namespace drgpum::trace {
namespace {

std::vector<Record> parse(std::string_view text) {
  auto records = trace_from_text(text);
  EXPECT_TRUE(records) << records.error().message;
  return records ? *records : std::vector<Record>{};
}

std::string error_of(std::string_view text) {
  const auto records = trace_from_text(text);
  return records ? "no error" : records.error().message;
}

template <typename T>
std::vector<T> all_of(const std::vector<Record>& records) {
  std::vector<T> found;
  for (const Record& record : records)
    if (const T* one = std::get_if<T>(&record)) found.push_back(*one);
  return found;
}

template <typename T>
T payload_of(std::string_view text) {
  return std::get<T>(all_of<GpuApi>(parse(text)).back().payload);
}

TEST(TraceTextTest, NothingGivesADeviceAContextAndItsDefaultStream) {
  EXPECT_EQ(to_text(parse("")),
            "process format_version=1 pid=0 parent_pid=0 executable=\"/app\" argv=\"app\" "
            "start_unix_ns=0 mode=\"object\"\n"
            "device id=0 kind=emulated name=\"test device\" memory_bytes=1073741824 "
            "compute_major=0 compute_minor=0\n"
            "context id=0 device=0\n"
            "stream id=0 context=0 kind=legacy\n"
            "cubin id=0 context=0 size=0\n");
}

TEST(TraceTextTest, AnAllocationMakesAnObjectAndACall) {
  const auto records = parse("0 alloc A 1K\n1 free A\n");
  const auto objects = all_of<ObjectRecord>(records);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].name, "A");
  EXPECT_EQ(objects[0].size, 1024u);
  EXPECT_EQ(objects[0].address, 0x7f0000000000u);
  const auto calls = all_of<GpuApi>(records);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].name, "cudaMalloc");
  EXPECT_EQ(calls[0].stream, kNoStream);
  EXPECT_EQ(std::get<AllocApi>(calls[0].payload), (AllocApi{{0}, 1024, 0}));
  EXPECT_EQ(calls[1].kind, ApiKind::kFree);
  EXPECT_TRUE(calls[1].blocks_host);
  EXPECT_EQ(calls[1].host_begin_ns, 1000u);
  EXPECT_EQ(calls[1].host_end_ns, 1500u);
}

TEST(TraceTextTest, EveryKindOfObjectHasItsWord) {
  for (std::size_t k = 0; k < kEnumNames<ObjectKind>.size(); ++k) {
    const auto records = parse("alloc A 64 " + std::string(kEnumNames<ObjectKind>[k]));
    EXPECT_EQ(all_of<ObjectRecord>(records).at(0).kind, static_cast<ObjectKind>(k));
  }
  const auto records = parse(
      "global G 4K\nalloc P 8K pitched pitch=512 width=400\n"
      "alloc T 64 sub parent=P at=0x1000 opaque name=\"tensor 1\"");
  const auto objects = all_of<ObjectRecord>(records);
  EXPECT_EQ(objects[0].kind, ObjectKind::kModuleGlobal);
  EXPECT_EQ(objects[1].pitch, 512u);
  EXPECT_EQ(objects[1].width, 400u);
  EXPECT_EQ(objects[2].parent, ObjectId{1});
  EXPECT_EQ(objects[2].address, 0x1000u);
  EXPECT_TRUE(objects[2].opaque);
  EXPECT_EQ(objects[2].name, "tensor 1");
  EXPECT_EQ(all_of<GpuApi>(parse("alloc A 64 async")).at(0).stream, StreamId{0});
}

TEST(TraceTextTest, FailuresCarryTheirError) {
  EXPECT_EQ(payload_of<AllocApi>("alloc-failed 1G"), (AllocApi{kNoObject, 1 << 30, 2}));
  EXPECT_EQ(payload_of<FreeApi>("free 0x10 error=1"), (FreeApi{kNoObject, false, 16, 1}));
}

TEST(TraceTextTest, CopiesNameTheirBytes) {
  const Region host{.object = kNoObject, .width = 512, .is_host = true};
  Region part;
  part.object = {0};
  part.width = 512;
  auto copy = payload_of<MemcpyApi>("alloc A 1K; memcpy h2d A[0:512)");
  EXPECT_EQ(copy.source, host);
  EXPECT_EQ(copy.destination, part);
  EXPECT_FALSE(copy.async);
  copy = payload_of<MemcpyApi>("alloc A 1K; memcpy d2h A[0:512) async");
  EXPECT_EQ(copy.source, part);
  EXPECT_EQ(copy.destination, host);
  EXPECT_TRUE(copy.async);
  copy = payload_of<MemcpyApi>("alloc A 1K; alloc B 1K; memcpy d2d A[0:512) B[512:1K)");
  EXPECT_EQ(copy.source, part);
  EXPECT_EQ(copy.destination.object, ObjectId{1});
  EXPECT_EQ(copy.destination.offset, 512u);
  EXPECT_EQ(copy.destination.width, 512u);
  copy = payload_of<MemcpyApi>("alloc A 1K; alloc H 1K pinned; memcpy h2d H A");
  EXPECT_EQ(copy.source.object, ObjectId{1});
  EXPECT_EQ(copy.destination.object, ObjectId{0});
  copy = payload_of<MemcpyApi>("alloc A 1K pitched pitch=64 width=40; memcpy h2d A[64:104)x3/64");
  EXPECT_EQ(copy.destination.offset, 64u);
  EXPECT_EQ(copy.destination.width, 40u);
  EXPECT_EQ(copy.destination.height, 3u);
  EXPECT_EQ(copy.destination.pitch, 64u);
}

TEST(TraceTextTest, WhetherTheHostWaitsFollowsTheCall) {
  const auto blocks = [](std::string_view call) {
    return all_of<GpuApi>(parse("alloc A 64; alloc B 64; record E; " + std::string(call)))
        .back()
        .blocks_host;
  };
  EXPECT_TRUE(blocks("memcpy h2d A"));
  EXPECT_FALSE(blocks("memcpy h2d A async"));
  EXPECT_FALSE(blocks("memcpy d2d A B"));
  EXPECT_TRUE(blocks("memcpy d2d A B blocks"));
  EXPECT_FALSE(blocks("memcpy h2d A unblocked"));
  EXPECT_FALSE(blocks("memset A"));
  EXPECT_TRUE(blocks("free A"));
  EXPECT_FALSE(blocks("free A async"));
  EXPECT_TRUE(blocks("sync device"));
  EXPECT_TRUE(blocks("query event E"));
  EXPECT_FALSE(blocks("launch k"));
}

TEST(TraceTextTest, LaunchesSayWhatTheyTouch) {
  const auto records = parse(
      "alloc A 1K; alloc B 1K; alloc C 1K; alloc D 4\n"
      "launch gemm reads A[0:16) B writes C[4:8) reads C[16:20) atomics D grid=2,3 block=128 "
      "access=4,16\n"
      "launch gemm uninstrumented time=10,20\n");
  const auto accesses = all_of<AccessRecord>(records);
  ASSERT_EQ(accesses.size(), 4u);
  EXPECT_EQ(accesses[0], (AccessRecord{{4}, {0}, true, false, false, 4, 16, ByteRange{0, 16}}));
  EXPECT_EQ(accesses[1], (AccessRecord{{4}, {1}, true, false, false, 4, 16, std::nullopt}));
  EXPECT_EQ(accesses[2], (AccessRecord{{4}, {2}, true, true, false, 4, 16, ByteRange{4, 20}}));
  EXPECT_EQ(accesses[3], (AccessRecord{{4}, {3}, true, true, true, 4, 16, std::nullopt}));
  const auto launch = std::get<LaunchApi>(all_of<GpuApi>(records)[4].payload);
  EXPECT_EQ(launch, (LaunchApi{{0}, {2, 3, 1}, {128, 1, 1}, {1, 1, 1}, 0, true}));
  EXPECT_EQ(all_of<KernelRecord>(records).size(), 1u);
  EXPECT_FALSE(std::get<LaunchApi>(all_of<GpuApi>(records)[5].payload).instrumented);
  EXPECT_EQ(all_of<TimeRecord>(records).at(0), (TimeRecord{{5}, 10, 20}));
}

TEST(TraceTextTest, StreamsEventsAndSynchronisationsNameEachOther) {
  const auto records = parse(
      "stream S; stream N non-blocking name=\"copy\"; stream T per-thread\n"
      "launch k on=S thread=3\n"
      "wait E on=N\n"
      "record E on=S\n"
      "wait E on=N\n"
      "sync event E\n"
      "sync stream N\n"
      "query stream S\n"
      "sync context\n"
      "end-stream S\n");
  const auto streams = all_of<StreamRecord>(records);
  EXPECT_EQ(streams.at(1).kind, StreamKind::kBlocking);
  EXPECT_EQ(streams.at(2), (StreamRecord{{2}, {0}, StreamKind::kNonBlocking, "copy"}));
  EXPECT_EQ(streams.at(3).kind, StreamKind::kPerThreadDefault);
  const auto calls = all_of<GpuApi>(records);
  EXPECT_EQ(calls[0].stream, StreamId{1});
  EXPECT_EQ(calls[0].thread, ThreadId{3});
  EXPECT_EQ(std::get<EventApi>(calls[1].payload), (EventApi{{0}, {0}, false}));
  EXPECT_EQ(std::get<EventApi>(calls[3].payload), (EventApi{{0}, {2}, true}));
  EXPECT_EQ(std::get<SynchronizeApi>(calls[4].payload),
            (SynchronizeApi{SyncScope::kEvent, {0}, {2}, true, false}));
  EXPECT_EQ(calls[5].stream, StreamId{2});
  EXPECT_TRUE(std::get<SynchronizeApi>(calls[6].payload).query);
  EXPECT_EQ(std::get<SynchronizeApi>(calls[7].payload).scope, SyncScope::kContext);
  EXPECT_EQ(all_of<StreamEndRecord>(records).at(0), (StreamEndRecord{{1}, {8}}));
}

TEST(TraceTextTest, ContextsHaveTheirOwnDefaultStreamAndKernels) {
  const auto records = parse(
      "device gpu memory=4G; device\n"
      "context X device=0; launch k; context Y device=1; launch k; context X; launch k\n"
      "end-context Y\n");
  EXPECT_EQ(all_of<DeviceRecord>(records).at(1).id, DeviceId{1});
  const auto calls = all_of<GpuApi>(records);
  EXPECT_EQ(calls[0].stream, StreamId{0});
  EXPECT_EQ(calls[1].stream, StreamId{1});
  EXPECT_EQ(calls[1].context, ContextId{1});
  EXPECT_EQ(calls[2].stream, StreamId{0});
  EXPECT_EQ(std::get<LaunchApi>(calls[1].payload).kernel, KernelId{1});
  EXPECT_EQ(std::get<LaunchApi>(calls[2].payload).kernel, KernelId{0});
  EXPECT_EQ(all_of<ContextEndRecord>(records).at(0), (ContextEndRecord{{1}, {3}}));
}

TEST(TraceTextTest, GraphNodesBelongToTheLaunchBeforeThem) {
  const auto calls =
      all_of<GpuApi>(parse("graph G; launch a node; launch b node after=1; launch c"));
  EXPECT_EQ(std::get<GraphLaunchApi>(calls[0].payload), (GraphLaunchApi{0, 1}));
  EXPECT_EQ(calls[1].graph_launch, 1u);
  EXPECT_EQ(calls[2].depends_on, std::vector<ApiId>{{1}});
  EXPECT_FALSE(calls[3].graph_launch.has_value());
}

TEST(TraceTextTest, FactsAreAboutTheCallBefore) {
  const auto records = parse(
      "alloc A 64; launch k reads A\n"
      "map A cell=4 exact reads=0:16,32:48 writes=0:4 counted=9 mean=1.5 variance=0.25 "
      "histogram=1,2 hot=0:8 heat=5,6\n"
      "site A k 0x10 reads=7\n"
      "coverage slots-full api=1 object=A count=3 \"a slot\"; coverage no-counts\n"
      "name A \"weights\"; end-object A; end exit=3\n");
  AccessMapRecord map;
  map.api = {1};
  map.object = {0};
  map.cell_bytes = 4;
  map.exact = true;
  map.read_ranges = {{0, 16}, {32, 48}};
  map.written_ranges = {{0, 4}};
  map.counted_cells = 9;
  map.count_mean = 1.5;
  map.count_variance = 0.25;
  map.count_histogram = {1, 2};
  map.hot_range = {0, 8};
  map.heat_strip = {5, 6};
  EXPECT_EQ(all_of<AccessMapRecord>(records).at(0), map);
  EXPECT_EQ(all_of<AccessSiteRecord>(records).at(0), (AccessSiteRecord{{1}, {0}, {0}, 16, 7, 0}));
  const auto coverage = all_of<CoverageRecord>(records);
  EXPECT_EQ(coverage.at(0), (CoverageRecord{CoverageKind::kSlotsFull, ApiId{1}, {0}, 3, "a slot"}));
  EXPECT_EQ(coverage.at(1).api, std::nullopt);
  EXPECT_EQ(all_of<ObjectNameRecord>(records).at(0).name, "weights");
  EXPECT_EQ(all_of<ObjectEndRecord>(records).at(0).at, ApiId{2});
  EXPECT_EQ(all_of<EndRecord>(records).at(0), (EndRecord{{2}, true, 3}));
}

TEST(TraceTextTest, CallPathsAndModulesAreDeclared) {
  const auto records = parse(
      "module app 0x1000 0x2000 path=\"/bin/my app\" build-id=ab12\n"
      "path P 0x1010 0x1020\nalloc A 64 path=P\nend-module app\n");
  const auto module = all_of<HostModuleRecord>(records).at(0);
  EXPECT_EQ(module.path, "/bin/my app");
  EXPECT_EQ(module.load_bias, 0x1000u);
  EXPECT_EQ(all_of<CallPathRecord>(records).at(0).frames,
            (std::vector<std::uint64_t>{0x1010, 0x1020}));
  EXPECT_EQ(all_of<GpuApi>(records).at(0).call_path, CallPathId{1});
  EXPECT_EQ(all_of<HostModuleEndRecord>(records).at(0).unloaded_at, ApiId{1});
}

TEST(TraceTextTest, CommentsQuotesAndSemicolonsSeparateStatements) {
  const auto records =
      parse("# nothing; alloc X 1\nmark \"a; b # c\"; alloc A 1 # tail\n\n alloc B 2");
  EXPECT_EQ(std::get<MarkApi>(all_of<GpuApi>(records).at(0).payload).name, "a; b # c");
  EXPECT_EQ(all_of<ObjectRecord>(records).size(), 2u);
}

TEST(TraceTextTest, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(error_of("\n\nfrobnicate"), "line 3: no statement is called 'frobnicate'");
  EXPECT_EQ(error_of("free A"), "line 1: there is no object 'A'");
  EXPECT_EQ(error_of("5 alloc A 1"), "line 1: this is call 0");
  EXPECT_EQ(error_of("alloc A"), "line 1: the size is missing");
  EXPECT_EQ(error_of("alloc A 1X"), "line 1: '1X' is no number");
  EXPECT_EQ(error_of("alloc A 99999999999G"), "line 1: '99999999999G' is no number");
  EXPECT_EQ(error_of("alloc A 1 colour=red"), "line 1: 'red' does not belong here");
  EXPECT_EQ(error_of("alloc A 8; memcpy h2d A[4:2)"), "line 1: 'A[4:2)' ends before it begins");
  EXPECT_EQ(error_of("mark \"x"), "line 1: a quote is not closed");
  EXPECT_EQ(error_of("launch k on=S"), "line 1: there is no stream 'S'");
}

TEST(TraceTextTest, ControlBytesAreEscaped) {
  KernelRecord kernel;
  kernel.name = std::string("a\x1b[31m\n\"\0b", 10);
  EXPECT_EQ(to_text(Record(kernel)), "kernel id=0 cubin=0 name=\"a\\x1b[31m\\x0a\\\"\\x00b\"");
}

TEST(TraceTextTest, EveryRecordPrintsOnOneLine) {
  RandomRecords random(9);
  for (int round = 0; round < 2000; ++round) {
    const std::string line = to_text(random.next());
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

// Files of every version that was ever released open and read the same.
TEST(TraceTextTest, TheStoredTraceOfVersionOneReadsAsItDid) {
  const std::string stem = std::string(DRGPUM_TEST_DATA) + "/trace/v1";
  auto reader = TraceReader::open(stem + ".drgp");
  ASSERT_TRUE(reader) << reader.error().message;
  std::string text;
  Record record;
  while (reader->next(record))
    text += to_text(record) + '\n';
  std::ifstream file(stem + ".txt");
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str());
  EXPECT_EQ(reader->summary().completeness, Completeness::kComplete);
}

}  // namespace
}  // namespace drgpum::trace
