// SPDX-License-Identifier: Apache-2.0
// What the program says of itself, and what the trace then holds.

#include <gtest/gtest.h>

#include "proto/device/mark_access.h"
#include "scripted_program.h"

namespace drgpum::profiler {
namespace {

using sanitizer::CopyDirection;
using sanitizer::Domain;

// A context, a patched module, and an allocation of 64 KiB at 0x10000.
struct PoolProgram : ScriptedProgram {
  explicit PoolProgram(Options options = {}) : ScriptedProgram(std::move(options)) {
    create_context();
    load_module(kModule, ".entry add(");
    malloc(0x10000, 0x10000);
  }
  void tell(ToldKind kind, std::uint64_t address, std::uint64_t size = 0, std::string name = "",
            const void* allocator = nullptr) {
    Told told;
    told.kind = kind;
    told.call = "told";
    told.address = address;
    told.size = size;
    told.name = std::move(name);
    told.allocator = allocator;
    session().on_told(std::move(told));
  }
  void record(std::uintptr_t event, std::uintptr_t stream) {
    call("cudaEventRecord", {event, stream},
         [&] { this->event(Domain::kEvents, sanitizer::kEventRecord, event_data(event, stream)); });
  }
  static sanitizer::EventData event_data(std::uintptr_t event, std::uintptr_t stream) {
    return {reinterpret_cast<void*>(event), reinterpret_cast<void*>(kContext),
            reinterpret_cast<void*>(stream), reinterpret_cast<void*>(stream + 0x9000)};
  }
};

TEST(SessionTold, ABlockIsAnObjectWithAParentAndItsAccessesAreItsOwn) {
  PoolProgram program;
  program.tell(ToldKind::kBlock, 0x11000, 0x1000, "weights");
  program.launch("add", {{0x11010, 4, device::kReadAccess},
                         {0x10000, 4, device::kWriteAccess},
                         {0x1fff0, 8, device::kReadAccess}});
  program.copy("cudaMemcpy", 0x11100, 0x99, 16, CopyDirection::kHostToDevice);
  program.copy("cudaMemcpy", 0x11f00, 0x99, 0x200, CopyDirection::kHostToDevice);
  program.tell(ToldKind::kBlockEnd, 0x11000);
  program.synchronize();
  EXPECT_EQ(
      program.lines({"object", "call id=1", "access", "call id=3", "call id=4", "call id=5"}),
      R"(object id=0 kind=device device=0 context=0 address=0x10000 size=65536 pitch=0 width=0 allocated_by=0
object id=1 kind=sub parent=0 device=0 context=0 address=0x11000 size=4096 pitch=0 width=0 allocated_by=1 name="weights"
call id=1 kind=alloc context=0 name="told" {object=1 requested=4096 error=0}
call id=3 kind=memcpy stream=0 context=0 name="cudaMemcpy" {direction=h2d source={offset=153 width=16 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes} destination={object=1 offset=256 width=16 height=1 depth=1 pitch=0 slice_pitch=0}}
call id=4 kind=memcpy stream=0 context=0 name="cudaMemcpy" {direction=h2d source={offset=153 width=512 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes} destination={object=0 offset=7936 width=512 height=1 depth=1 pitch=0 slice_pitch=0}}
call id=5 kind=free context=0 name="told" {object=1 address=0x11000 error=0}
access api=2 object=0 reads=yes writes=yes min_access_bytes=4 max_access_bytes=8
access api=2 object=1 reads=yes min_access_bytes=4 max_access_bytes=4
)");
}

TEST(SessionTold, APoolThatIsAWholeAllocationIsThatAllocation) {
  PoolProgram program;
  program.tell(ToldKind::kPool, 0x10000, 0x10000, "arena");
  program.tell(ToldKind::kBlock, 0x10000, 0x10000, "all");
  program.tell(ToldKind::kPoolReset, 0x10000);
  program.tell(ToldKind::kBlockEnd, 0x10000);
  EXPECT_EQ(
      program.lines({"object", "name", "call", "end-object"}),
      R"(object id=0 kind=device device=0 context=0 address=0x10000 size=65536 pitch=0 width=0 allocated_by=0
call id=0 kind=alloc context=0 name="cudaMalloc" {object=0 requested=65536 error=0}
name id=0 name="arena"
object id=1 kind=sub parent=0 device=0 context=0 address=0x10000 size=65536 pitch=0 width=0 allocated_by=1 name="all"
call id=1 kind=alloc context=0 name="told" {object=1 requested=65536 error=0}
end-object id=1 at=2
)");
}

TEST(SessionTold, APoolInAnAllocationEndsWithItsBlocks) {
  PoolProgram program;
  program.tell(ToldKind::kPool, 0x12000, 0x4000, "arena");
  program.tell(ToldKind::kBlock, 0x12000, 0x100, "first");
  program.tell(ToldKind::kName, 0x12000, 0, "renamed");
  program.tell(ToldKind::kPoolEnd, 0x12000);
  EXPECT_EQ(
      program.lines({"object id=1", "object id=2", "name", "call id=3", "end-object"}),
      R"(object id=1 kind=sub parent=0 device=0 context=0 address=0x12000 size=16384 pitch=0 width=0 allocated_by=1 name="arena"
object id=2 kind=sub parent=1 device=0 context=0 address=0x12000 size=256 pitch=0 width=0 allocated_by=2 name="first"
name id=2 name="renamed"
call id=3 kind=free context=0 name="told" {object=1 address=0x12000 error=0}
end-object id=2 at=4
)");
}

TEST(SessionTold, BlocksEndWithTheirAllocation) {
  PoolProgram program;
  program.tell(ToldKind::kBlock, 0x11000, 0x1000);
  program.free(0x10000, 1);
  program.launch("add", {{0x11010, 4, device::kReadAccess}});
  program.free(0x10000);
  EXPECT_EQ(program.lines({"call id=2", "call id=4", "access", "end-object"}),
            R"(call id=2 kind=free context=0 name="cudaFree" {object=0 address=0x10000 error=1}
call id=4 kind=free context=0 blocks_host=yes name="cudaFree" {object=0 address=0x10000 error=0}
end-object id=1 at=5
access api=3 object=1 reads=yes min_access_bytes=4 max_access_bytes=4
)");
}

TEST(SessionTold, ALabelNamesAnAllocationOrMakesABlock) {
  PoolProgram program;
  program.tell(ToldKind::kLabel, 0x10000, 0x10000 - 128, "view");
  program.tell(ToldKind::kLabel, 0x11000, 64, "piece");
  EXPECT_EQ(program.lines({"name", "object id=1"}),
            "name id=0 name=\"view\"\n"
            "object id=1 kind=sub parent=0 device=0 context=0 address=0x11000 size=64 pitch=0 "
            "width=0 allocated_by=1 name=\"piece\"\n");
}

TEST(SessionTold, WhatIsToldOfUnknownMemoryIsCounted) {
  PoolProgram program;
  program.tell(ToldKind::kBlock, 0x90000, 64);
  program.tell(ToldKind::kName, 0x90000, 0, "x");
  program.tell(ToldKind::kBlockEnd, 0x90000);
  EXPECT_EQ(program.lines({"coverage", "object id=1"}),
            "coverage kind=opaque-object count=2 text=\"pools, blocks or names that the program "
            "told of in memory that no known allocation holds\"\n");
}

TEST(SessionTold, ABlockThatAnotherStreamUsesEndsWhenItsEventHasCome) {
  PoolProgram program;
  program.create_stream(0x20, 1);
  const void* here = __builtin_return_address(0);
  program.tell(ToldKind::kBlock, 0x11000, 0x1000);
  program.record(0x70, 0x20);
  program.tell(ToldKind::kBlockEnd, 0x11000, 0, "", here);
  program.call("cudaEventQuery", {0x70}, nullptr, 600);
  program.call("cudaEventQuery", {0x70});
  EXPECT_EQ(program.lines({"call", "free-requested"}),
            R"(call id=0 kind=alloc context=0 name="cudaMalloc" {object=0 requested=65536 error=0}
call id=1 kind=alloc context=0 name="told" {object=1 requested=4096 error=0}
call id=2 kind=record stream=0 context=0 name="cudaEventRecord" {event=0 recorded_by=0}
call id=3 kind=mark context=0 name="told" {kind=mark name="free requested"}
free-requested id=1 at=3
call id=4 kind=synchronize context=0 blocks_host=yes name="cudaEventQuery" {scope=event event=0 recorded_by=2 recorded=yes query=yes}
call id=5 kind=free context=0 name="free completed" {object=1 address=0x11000 error=0}
)");
}

TEST(SessionTold, ABlockThatStillWaitsAtTheEndHasNotLeaked) {
  PoolProgram program;
  program.create_stream(0x20, 1);
  program.tell(ToldKind::kBlock, 0x11000, 0x1000);
  program.record(0x70, 0x20);
  program.tell(ToldKind::kBlockEnd, 0x11000, 0, "", __builtin_return_address(0));
  EXPECT_EQ(program.lines({"end-object", "call id=3"}),
            "call id=3 kind=mark context=0 name=\"told\" {kind=mark name=\"free requested\"}\n"
            "end-object id=1 at=4\n");
}

TEST(SessionTold, WithoutEventsOfItsAllocatorABlockEndsAtOnce) {
  PoolProgram program;
  program.create_stream(0x20, 1);
  program.tell(ToldKind::kBlock, 0x11000, 0x1000);
  program.record(0x70, 0x20);
  program.malloc(0x30000, 64);
  for (int i = 0; i < 7; ++i)
    program.call("cudaGetDevice", {0});
  program.tell(ToldKind::kBlockEnd, 0x11000, 0, "", __builtin_return_address(0));
  EXPECT_NE(program.lines({"call id=4"}).find("kind=free"), std::string::npos);
}

TEST(SessionTold, MarksAndRangesAreMarks) {
  PoolProgram program;
  program.tell(ToldKind::kIteration, 0, 0, "1");
  program.tell(ToldKind::kRangeBegin, 0, 0, "forward");
  program.tell(ToldKind::kRangeEnd, 0, 0, "forward");
  program.tell(ToldKind::kInstant, 0, 0, "now");
  EXPECT_EQ(program.lines({"call id=1", "call id=2", "call id=3", "call id=4"}),
            R"(call id=1 kind=mark context=0 name="told" {kind=iteration name="1"}
call id=2 kind=mark context=0 name="told" {kind=push name="forward"}
call id=3 kind=mark context=0 name="told" {kind=pop name="forward"}
call id=4 kind=mark context=0 name="told" {kind=mark name="now"}
)");
}

TEST(SessionTold, WhatIsSaidBeforeThereIsAContextComesFirst) {
  ScriptedProgram program;
  Told told;
  told.kind = ToldKind::kRangeBegin;
  told.call = "told";
  told.name = "training";
  program.session().on_told(told);
  program.create_context();
  program.malloc(0x10000, 64);
  EXPECT_EQ(program.lines({"call"}),
            "call id=0 kind=mark context=0 name=\"told\" {kind=push name=\"training\"}\n"
            "call id=1 kind=alloc context=0 name=\"cudaMalloc\" {object=0 requested=64 error=0}\n");
}

TEST(SessionTold, ARangeBoundsTheRecording) {
  Options options;
  options.capture_range = "epoch";
  PoolProgram program(options);
  const auto launch = [&] { program.launch("add", {{0x10000, 4, device::kReadAccess}}); };
  launch();
  program.tell(ToldKind::kRangeBegin, 0, 0, "epoch");
  launch();
  program.tell(ToldKind::kRangeEnd, 0, 0, "epoch");
  launch();
  program.synchronize();
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "access api=4 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n"
            "coverage kind=unsampled-launch count=2 text=\"launches that the options left out\"\n");
}

TEST(SessionTold, TheProgramSwitchesTheRecordingOffAndOn) {
  PoolProgram program;
  const auto launch = [&] { program.launch("add", {{0x10000, 4, device::kReadAccess}}); };
  program.tell(ToldKind::kStop, 0);
  launch();
  program.tell(ToldKind::kStart, 0);
  launch();
  program.synchronize();
  EXPECT_EQ(program.lines({"access"}),
            "access api=4 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n");
}

TEST(SessionTold, StreamsHaveNames) {
  PoolProgram program;
  program.create_stream(0x20, 1);
  program.tell(ToldKind::kStreamName, 0x20, 0, "uploads");
  EXPECT_EQ(program.lines({"stream-name"}), "stream-name id=0 name=\"uploads\"\n");
}

// The rest of a pool and its blocks, in maps: offsets are those in their objects.
TEST(SessionTold, MapsOfAPoolLeaveOutItsBlocks) {
  Options options;
  options.mode = Mode::kIntra;
  PoolProgram program(options);
  program.tell(ToldKind::kBlock, 0x12000, 0x1000);
  program.launch("add", {{0x12004, 4, device::kReadAccess},
                         {0x10000, 4, device::kWriteAccess},
                         {0x14000, 4, device::kWriteAccess}});
  program.synchronize();
  const std::string maps = program.lines({"map"});
  EXPECT_NE(maps.find("map api=2 object=0 cell_bytes=4096 written_ranges=[0:4096),[16384:20480)"),
            std::string::npos)
      << maps;
  EXPECT_NE(maps.find("map api=2 object=1 cell_bytes=4 exact=yes read_ranges=[4:8)"),
            std::string::npos)
      << maps;
}

}  // namespace
}  // namespace drgpum::profiler
