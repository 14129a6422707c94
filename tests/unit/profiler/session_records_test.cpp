// SPDX-License-Identifier: Apache-2.0
// Callback by callback: what the session writes for it. Times, threads and call paths are left out.

#include <gtest/gtest.h>

#include "scripted_program.h"

namespace drgpum::profiler {
namespace {

using sanitizer::CopyDirection;
using sanitizer::Domain;

void* handle(std::uintptr_t value) {
  return reinterpret_cast<void*>(value);
}
void* const kContext = handle(ScriptedProgram::kContext);
std::uint64_t address_of(const void* p) {
  return reinterpret_cast<std::uint64_t>(p);
}

struct ProbeProgram : ScriptedProgram {
  ProbeProgram() { create_context(); }
  std::string record_lines() {
    return lines({"stream", "object", "call", "access", "coverage", "end-"});
  }
};

TEST(SessionRecords, AFailedAllocationIsRecordedWithItsErrorAndNoObject) {
  ProbeProgram program;
  std::uint64_t out = 0;
  program.call("cudaMalloc", {address_of(&out), 1ull << 40}, nullptr, 2);
  EXPECT_EQ(program.record_lines(),
            R"(call id=0 kind=alloc context=0 name="cudaMalloc" {requested=1099511627776 error=2}
)");
}

TEST(SessionRecords, AFreeThatFailsLeavesTheObjectAlive) {
  ProbeProgram program;
  program.malloc(0x1000, 64);
  program.free(0x1000, 1);
  program.free(0x1000);
  program.free(0x5000, 1);
  program.free(0);
  EXPECT_EQ(
      program.record_lines(),
      R"(object id=0 kind=device device=0 context=0 address=0x1000 size=64 pitch=0 width=0 allocated_by=0
call id=0 kind=alloc context=0 name="cudaMalloc" {object=0 requested=64 error=0}
call id=1 kind=free context=0 name="cudaFree" {object=0 address=0x1000 error=1}
call id=2 kind=free context=0 blocks_host=yes name="cudaFree" {object=0 address=0x1000 error=0}
call id=3 kind=free context=0 name="cudaFree" {address=0x5000 error=1}
call id=4 kind=free context=0 name="cudaFree" {address=0x0 error=0}
)");
}

TEST(SessionRecords, PitchedObjectsKeepTheWidthThatWasAskedForApart) {
  ProbeProgram program;
  std::uint64_t out = 0, pitch = 0;
  program.call("cudaMallocPitch", {address_of(&out), address_of(&pitch), 100, 7},
               [&] { program.memory_event(sanitizer::kDeviceMemoryAlloc, 0x1000, 512 * 7); });
  program.call("cudaMalloc3D", {address_of(&out), 100, 7, 3},
               [&] { program.memory_event(sanitizer::kDeviceMemoryAlloc, 0x8000, 512 * 21); });
  EXPECT_EQ(
      program.record_lines(),
      R"(object id=0 kind=pitched device=0 context=0 address=0x1000 size=3584 pitch=512 width=100 allocated_by=0
call id=0 kind=alloc context=0 name="cudaMallocPitch" {object=0 requested=700 error=0}
object id=1 kind=pitched device=0 context=0 address=0x8000 size=10752 pitch=512 width=100 allocated_by=1
call id=1 kind=alloc context=0 name="cudaMalloc3D" {object=1 requested=2100 error=0}
)");
}

TEST(SessionRecords, EveryWayToAllocateHasItsKind) {
  ProbeProgram program;
  std::uint64_t out = 0;
  program.call("cudaMallocManaged", {address_of(&out), 100, 1}, [&] {
    program.memory_event(sanitizer::kDeviceMemoryAlloc, 0x1000, 512,
                         sanitizer::kMemoryManaged | sanitizer::kMemoryHostMapped);
  });
  program.call("cudaMallocHost", {address_of(&out), 200}, [&] {
    program.memory_event(sanitizer::kHostMemoryAlloc, 0x2000, 4096, sanitizer::kMemoryHostPinned);
  });
  program.call("cudaHostRegister", {0x4000, 300, 0});
  program.call("cudaMallocAsync", {address_of(&out), 400, 0x10}, [&] {
    program.memory_event(sanitizer::kDeviceMemoryAlloc, 0x100000, 2 << 20);
    program.memory_event(sanitizer::kMemoryAllocAsync, 0x100000, 512, 0, 0x10);
  });
  program.call("cudaFreeAsync", {0x100000, 0x10},
               [&] { program.memory_event(sanitizer::kMemoryFreeAsync, 0x100000, 512, 0, 0x10); });
  program.memory_event(sanitizer::kDeviceMemoryAlloc, 0x9000, 48, sanitizer::kMemoryOfModule);
  program.memory_event(sanitizer::kDeviceMemoryAlloc, 0xa000, 48,
                       sanitizer::kMemoryCooperativeRuntime);
  program.memory_event(sanitizer::kDeviceMemoryFree, 0x9000, 48, sanitizer::kMemoryOfModule);
  program.call("cuMemMap", {0xb000, 4096, 0, 0, 0});
  program.call("cuMemUnmap", {0xb000, 4096});
  program.call("cudaFreeHost", {0x2000});
  program.call("cudaHostUnregister", {0x4000});
  EXPECT_EQ(
      program.record_lines(),
      R"(object id=0 kind=managed device=0 context=0 address=0x1000 size=100 pitch=0 width=0 allocated_by=0 opaque=yes
call id=0 kind=alloc context=0 name="cudaMallocManaged" {object=0 requested=100 error=0}
object id=1 kind=pinned device=0 context=0 address=0x2000 size=200 pitch=0 width=0 allocated_by=1
call id=1 kind=alloc context=0 name="cudaMallocHost" {object=1 requested=200 error=0}
object id=2 kind=pinned device=0 context=0 address=0x4000 size=300 pitch=0 width=0 allocated_by=2
call id=2 kind=alloc context=0 name="cudaHostRegister" {object=2 requested=300 error=0}
stream id=0 context=0 kind=blocking
object id=3 kind=async device=0 context=0 address=0x100000 size=400 pitch=0 width=0 allocated_by=3
call id=3 kind=alloc stream=0 context=0 name="cudaMallocAsync" {object=3 requested=400 error=0}
call id=4 kind=free stream=0 context=0 name="cudaFreeAsync" {object=3 stream_ordered=yes address=0x100000 error=0}
object id=4 kind=global device=0 context=0 address=0x9000 size=48 pitch=0 width=0 allocated_by=5
end-object id=4 at=5
object id=5 kind=virtual device=0 context=0 address=0xb000 size=4096 pitch=0 width=0 allocated_by=5
call id=5 kind=alloc context=0 name="cuMemMap" {object=5 requested=4096 error=0}
call id=6 kind=free context=0 name="cuMemUnmap" {object=5 address=0xb000 error=0}
call id=7 kind=free context=0 name="cudaFreeHost" {object=1 address=0x2000 error=0}
call id=8 kind=free context=0 name="cudaHostUnregister" {object=2 address=0x4000 error=0}
)");
}

TEST(SessionRecords, CopiesAndSetsNameObjectsShapesAndWhetherTheHostWaits) {
  ProbeProgram program;
  program.malloc(0x1000, 4096);
  std::uint64_t out = 0;
  program.call("cudaMallocHost", {address_of(&out), 4096},
               [&] { program.memory_event(sanitizer::kHostMemoryAlloc, 0x8000, 4096); });
  program.copy("cudaMemcpyAsync", 0x1000, 0x8010, 64, CopyDirection::kHostToDevice, 0x20);
  program.copy("cudaMemcpyAsync", 0x8010, 0x1000, 64, CopyDirection::kDeviceToHost, 0x20);
  program.copy("cudaMemcpyAsync", 0x77, 0x1000, 64, CopyDirection::kDeviceToHost, 0x20);
  program.copy("cudaMemcpy", 0x1000, 0x8010, 64, CopyDirection::kHostToDevice);
  program.copy("cudaMemcpy", 0x1000, 0x1100, 64, CopyDirection::kUnknown);
  sanitizer::MemcpyData d{};
  d.source_context = d.destination_context = kContext;
  d.source_address = 0x77;
  d.destination_address = 0x1000;
  d.size = 800;
  d.width = 100;
  d.height = 8;
  d.depth = 1;
  d.source_pitch = 100;
  d.destination_pitch = 512;
  d.direction = CopyDirection::kHostToDevice;
  program.call("cudaMemcpy2D", {}, [&] { program.event(Domain::kMemcpy, 1, d); });
  sanitizer::MemsetData m{};
  m.context = kContext;
  m.address = 0x1000;
  m.width = 25;
  m.height = 4;
  m.pitch = 512;
  m.element_size = 4;
  m.value = 7;
  m.is_async = 1;
  program.call("cuMemsetD2D32Async", {}, [&] { program.event(Domain::kMemset, 1, m); });
  EXPECT_EQ(
      program.record_lines(),
      R"(object id=0 kind=device device=0 context=0 address=0x1000 size=4096 pitch=0 width=0 allocated_by=0
call id=0 kind=alloc context=0 name="cudaMalloc" {object=0 requested=4096 error=0}
object id=1 kind=pinned device=0 context=0 address=0x8000 size=4096 pitch=0 width=0 allocated_by=1
call id=1 kind=alloc context=0 name="cudaMallocHost" {object=1 requested=4096 error=0}
stream id=0 context=0 kind=blocking
call id=2 kind=memcpy stream=0 context=0 name="cudaMemcpyAsync" {direction=h2d source={object=1 offset=16 width=64 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes} destination={object=0 offset=0 width=64 height=1 depth=1 pitch=0 slice_pitch=0} async=yes}
call id=3 kind=memcpy stream=0 context=0 name="cudaMemcpyAsync" {direction=d2h source={object=0 offset=0 width=64 height=1 depth=1 pitch=0 slice_pitch=0} destination={object=1 offset=16 width=64 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes} async=yes}
call id=4 kind=memcpy stream=0 context=0 blocks_host=yes name="cudaMemcpyAsync" {direction=d2h source={object=0 offset=0 width=64 height=1 depth=1 pitch=0 slice_pitch=0} destination={offset=119 width=64 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes} async=yes}
stream id=1 context=0 kind=legacy
call id=5 kind=memcpy stream=1 context=0 blocks_host=yes name="cudaMemcpy" {direction=h2d source={object=1 offset=16 width=64 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes} destination={object=0 offset=0 width=64 height=1 depth=1 pitch=0 slice_pitch=0}}
call id=6 kind=memcpy stream=1 context=0 name="cudaMemcpy" {direction=d2d source={object=0 offset=256 width=64 height=1 depth=1 pitch=0 slice_pitch=0} destination={object=0 offset=0 width=64 height=1 depth=1 pitch=0 slice_pitch=0}}
stream id=2 context=0 kind=legacy
call id=7 kind=memcpy stream=2 context=0 name="cudaMemcpy2D" {direction=h2d source={offset=119 width=100 height=8 depth=1 pitch=100 slice_pitch=0 is_host=yes} destination={object=0 offset=0 width=100 height=8 depth=1 pitch=512 slice_pitch=0}}
call id=8 kind=memset stream=2 context=0 name="cuMemsetD2D32Async" {destination={object=0 offset=0 width=100 height=4 depth=1 pitch=512 slice_pitch=0} element_size=4 value=7 async=yes}
)");
}

TEST(SessionRecords, StreamsEventsAndSynchronisationsAreRecordedInTheirOrder) {
  ProbeProgram program;
  program.create_stream(0x20, 1);
  program.create_stream(0x30, 0);
  sanitizer::EventData e{};
  e.event = handle(0x70);
  e.context = kContext;
  program.event(Domain::kEvents, sanitizer::kEventCreated, e);
  e.stream = handle(0x30);
  e.stream_handle = handle(0x9030);
  program.call("cudaStreamWaitEvent", {0x30, 0x70},
               [&] { program.event(Domain::kEvents, sanitizer::kEventStreamWait, e); });
  e.stream = handle(0x20);
  e.stream_handle = handle(0x9020);
  program.call("cudaEventRecord", {0x70, 0x20},
               [&] { program.event(Domain::kEvents, sanitizer::kEventRecord, e); });
  e.stream = handle(0x30);
  e.stream_handle = handle(0x9030);
  program.call("cudaStreamWaitEvent", {0x30, 0x70},
               [&] { program.event(Domain::kEvents, sanitizer::kEventStreamWait, e); });
  program.call("cudaEventQuery", {0x70}, nullptr, 600);
  program.call("cudaEventQuery", {0x70});
  program.call("cudaEventSynchronize", {0x70});
  program.call("cudaStreamSynchronize", {0x20});
  program.call("cudaStreamSynchronize_ptsz", {0});
  program.call("cudaStreamQuery", {0x30});
  program.call("cuCtxSynchronize", {});
  program.synchronize();
  program.call("cudaDeviceSynchronize", {}, nullptr, 700);
  program.call("cudaLaunchHostFunc", {0x20, 0, 0});
  program.call("cudaProfilerStart", {});
  program.call("cudaProfilerStop", {});
  sanitizer::StreamData s{kContext, handle(0x20), handle(0x9020)};
  program.event(Domain::kResource, sanitizer::kStreamDestroyStarting, s);
  program.create_stream(0x20, 0);
  program.destroy_context();
  EXPECT_EQ(program.record_lines(), R"(stream id=0 context=0 kind=non-blocking
stream id=1 context=0 kind=blocking
call id=0 kind=wait stream=1 context=0 name="cudaStreamWaitEvent" {event=0 recorded_by=0}
call id=1 kind=record stream=0 context=0 name="cudaEventRecord" {event=0 recorded_by=0}
call id=2 kind=wait stream=1 context=0 name="cudaStreamWaitEvent" {event=0 recorded_by=1 recorded=yes}
call id=3 kind=synchronize context=0 blocks_host=yes name="cudaEventQuery" {scope=event event=0 recorded_by=1 recorded=yes query=yes}
call id=4 kind=synchronize context=0 blocks_host=yes name="cudaEventSynchronize" {scope=event event=0 recorded_by=1 recorded=yes}
call id=5 kind=synchronize stream=0 context=0 blocks_host=yes name="cudaStreamSynchronize" {scope=stream event=0 recorded_by=0}
stream id=2 context=0 kind=per-thread
call id=6 kind=synchronize stream=2 context=0 blocks_host=yes name="cudaStreamSynchronize" {scope=stream event=0 recorded_by=0}
call id=7 kind=synchronize stream=1 context=0 blocks_host=yes name="cudaStreamQuery" {scope=stream event=0 recorded_by=0 query=yes}
call id=8 kind=synchronize context=0 blocks_host=yes name="cuCtxSynchronize" {scope=context event=0 recorded_by=0}
call id=9 kind=synchronize context=0 blocks_host=yes name="cudaDeviceSynchronize" {scope=device event=0 recorded_by=0}
call id=10 kind=host-function stream=0 context=0 name="cudaLaunchHostFunc" {}
call id=11 kind=mark context=0 name="cudaProfilerStart" {kind=capture-start}
call id=12 kind=mark context=0 name="cudaProfilerStop" {kind=capture-stop}
end-stream id=0 at=13
stream id=3 context=0 kind=blocking
end-context id=0 at=13
)");
}

}  // namespace
}  // namespace drgpum::profiler
