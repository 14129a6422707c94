// SPDX-License-Identifier: Apache-2.0
// A loaded trace answers with what the records said.
#include "offline/trace/trace.h"

#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "proto/trace/trace_text.h"
#include "proto/trace/trace_writer.h"

namespace drgpum {
namespace {

using namespace trace;

std::vector<Record> records_of(std::string_view text) {
  auto records = trace_from_text(text);
  EXPECT_TRUE(records) << records.error().message;
  return *records;
}

Trace load(std::string_view text) {
  auto loaded = load_trace(records_of(text));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return *std::move(loaded);
}

constexpr std::string_view kProgram = R"(
  stream S
  alloc A 1K; alloc P 8K pitched pitch=512 width=400; alloc-failed 1G
  memcpy h2d A[0:512)
  memcpy h2d P[0:400)x16/512 async on=S
  memcpy d2d A[0:16) A[512:528)
  memset A[0:64) value=7
  launch k reads A[0:16) writes P on=S grid=2,3 block=64 access=4,8 time=5,9
  launch k uninstrumented grid=2,3 block=64
  record E on=S; wait E; sync event E; query stream S
  graph G; launch n node; launch m node after=14
  host-function; push phase
  map A api=7 cell=4 reads=0:16; site A k 0x40 api=7 reads=3
  name A weights
  free A; free P error=1
  coverage slots-full count=2
  end exit=0)";

TEST(TraceTest, EveryPayloadComesBackAsRecorded) {
  const auto records = records_of(kProgram);
  const Trace loaded = load(kProgram);
  std::size_t calls = 0;
  for (const Record& record : records) {
    const auto* api = std::get_if<GpuApi>(&record);
    if (api == nullptr) continue;
    const TraceCall& call = loaded.calls()[calls++];
    EXPECT_EQ(loaded.payload(api->id), api->payload) << to_text(record);
    EXPECT_EQ(call.kind, api->kind);
    EXPECT_EQ(call.stream, api->stream);
    EXPECT_EQ(call.host_begin_ns, api->host_begin_ns);
    EXPECT_EQ(call.host_end_ns, api->host_end_ns);
    EXPECT_EQ(call.blocks_host, api->blocks_host);
    EXPECT_EQ(loaded.name(call), api->name);
    EXPECT_EQ(loaded.graph_launch(call), api->graph_launch);
    const auto after = loaded.depends_on(call);
    EXPECT_EQ(std::vector<ApiId>(after.begin(), after.end()), api->depends_on);
  }
  EXPECT_EQ(calls, loaded.calls().size());
  EXPECT_EQ(loaded.problems().count, 0u) << loaded.problems().first.at(0).message;
}

TEST(TraceTest, TablesAreFoundById) {
  const Trace loaded = load(kProgram);
  EXPECT_EQ(loaded.objects().size(), 2u);
  EXPECT_EQ(loaded.objects().find({0})->name, "weights");
  EXPECT_EQ(loaded.objects().find({0})->freed_by, ApiId{18});
  EXPECT_EQ(loaded.objects().find({1})->freed_by, std::nullopt);  // the free was refused
  EXPECT_EQ(loaded.objects().find({2}), nullptr);
  EXPECT_EQ(loaded.streams().find({1})->kind, StreamKind::kBlocking);
  EXPECT_EQ(loaded.kernels().find({0})->name, "k");
  EXPECT_EQ(loaded.coverage().size(), 1u);
  EXPECT_EQ(loaded.end()->exit_code, 0);
  EXPECT_EQ(loaded.counts().calls[static_cast<std::size_t>(ApiKind::kLaunch)], 4u);
}

TEST(TraceTest, IdsNeedNotBePlaces) {
  std::vector<Record> records = records_of("");
  for (const std::uint32_t id : {7u, 0u, 900000000u}) {
    KernelRecord kernel;
    kernel.id = {id};
    kernel.name = std::to_string(id);
    records.push_back(kernel);
  }
  const auto loaded = load_trace(records);
  ASSERT_TRUE(loaded);
  for (const std::uint32_t id : {7u, 0u, 900000000u})
    EXPECT_EQ(loaded->kernels().find({id})->name, std::to_string(id));
  EXPECT_EQ(loaded->kernels().find({1}), nullptr);
}

TEST(TraceTest, FactsAreFoundByTheirLaunch) {
  const Trace loaded = load(kProgram);
  const auto accesses = loaded.accesses({7});
  ASSERT_EQ(accesses.size(), 2u);
  EXPECT_TRUE(accesses[0].reads);
  EXPECT_FALSE(accesses[0].writes);
  EXPECT_EQ(accesses[0].min_access_bytes, 4);
  EXPECT_EQ(accesses[0].max_access_bytes, 8);
  EXPECT_EQ(loaded.bounds(accesses[0]), (ByteRange{0, 16}));
  EXPECT_EQ(loaded.bounds(accesses[1]), std::nullopt);
  EXPECT_TRUE(loaded.accesses({8}).empty());
  EXPECT_EQ(loaded.access_map({7}, {0})->cell_bytes, 4u);
  EXPECT_EQ(loaded.access_map({7}, {1}), nullptr);
  EXPECT_EQ(loaded.access_sites({7}).size(), 1u);
  EXPECT_EQ(loaded.device_time({7})->end_ns, 9u);
  EXPECT_EQ(loaded.device_time({8}), std::nullopt);
}

TEST(TraceTest, FactsMayComeLaterThanTheNextCalls) {
  auto records = records_of("alloc A 64; launch a; launch b");
  for (const std::uint64_t api : {2u, 1u}) {
    AccessRecord access;
    access.api = {api};
    access.object = {0};
    access.writes = api == 2;
    records.push_back(access);
  }
  const auto loaded = load_trace(records);
  EXPECT_FALSE(loaded->accesses({1}).front().writes);
  EXPECT_TRUE(loaded->accesses({2}).front().writes);
}

TEST(TraceTest, ACallThatWasSkippedKeepsItsPlace) {
  auto records = records_of("alloc A 64; launch a; free A");
  std::erase_if(records, [](const Record& record) {
    const auto* api = std::get_if<GpuApi>(&record);
    return api != nullptr && api->id == ApiId{1};
  });
  const auto loaded = load_trace(records);
  ASSERT_EQ(loaded->calls().size(), 3u);
  EXPECT_TRUE(loaded->calls()[1].lost);
  EXPECT_EQ(loaded->calls()[2].kind, ApiKind::kFree);
  EXPECT_EQ(loaded->problems().count, 1u);
}

TEST(TraceTest, AnAbsurdCallNumberIsRefusedWithoutMemory) {
  auto records = records_of("mark a");
  std::get<GpuApi>(records.back()).id = {std::uint64_t{1} << 40};
  EXPECT_EQ(load_trace(records).error().code, ErrorCode::kUnsupported);
  std::get<GpuApi>(records.back()).id = {std::uint64_t{1} << 31};
  EXPECT_EQ(load_trace(records).error().code, ErrorCode::kUnsupported);
}

TEST(TraceTest, WithoutCallsTheTablesStay) {
  LoadOptions options;
  options.calls = false;
  std::size_t seen = 0;
  options.also = [&](const Record&) -> Status { return ++seen, Ok{}; };
  const auto records = records_of(kProgram);
  const auto loaded = load_trace(records, options);
  EXPECT_TRUE(loaded->calls().empty());
  EXPECT_EQ(loaded->objects().size(), 2u);
  EXPECT_EQ(loaded->counts().calls[static_cast<std::size_t>(ApiKind::kLaunch)], 4u);
  EXPECT_EQ(seen, records.size());
}

TEST(TraceTest, AddressesFallIntoTheModuleOfTheirTime) {
  const Trace loaded = load(R"(
    module one 0x1000 0x2000 path="/lib/one.so"
    path P 0x1010
    alloc A 64 path=P
    end-module one
    module two 0x1800 0x2800 path="/lib/two.so"
    alloc B 64 path=P)");
  EXPECT_EQ(loaded.module_at(0x1900, {0})->path, "/lib/one.so");
  EXPECT_EQ(loaded.module_at(0x1900, {1})->path, "/lib/two.so");
  EXPECT_EQ(loaded.module_at(0x1100, {1}), nullptr);
  EXPECT_EQ(loaded.module_at(0x2000, {0}), nullptr);
  EXPECT_EQ(loaded.call_paths().find({1})->first_use, ApiId{0});
  EXPECT_EQ(loaded.call_paths().find({1})->used_by, 1u << static_cast<unsigned>(ApiKind::kAlloc));
  ASSERT_EQ(loaded.frames({1}).size(), 1u);
  EXPECT_EQ(loaded.frames({1})[0], 0x1010u);
  EXPECT_TRUE(loaded.frames({9}).empty());
}

TEST(TraceTest, AFileLoadsAsItsRecordsDo) {
  const std::string path = "/tmp/drgpum-load-" + std::to_string(::getpid()) + ".drgp";
  const auto records = records_of(kProgram);
  {
    auto writer =
        TraceWriter::create(path, std::get<ProcessRecord>(records.front()), {.replace = true});
    for (std::size_t k = 1; k < records.size(); ++k)
      (*writer)->append(records[k]);
    (*writer)->finish();
  }
  const auto loaded = load_trace(path);
  std::remove(path.c_str());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->summary().completeness, Completeness::kComplete);
  EXPECT_EQ(loaded->calls().size(), load(kProgram).calls().size());
  EXPECT_EQ(loaded->path(), path);
  EXPECT_EQ(load_trace(path).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace drgpum
