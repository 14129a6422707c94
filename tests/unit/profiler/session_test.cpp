// SPDX-License-Identifier: Apache-2.0
#include "profiler/session.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/device/mark_access.h"
#include "scripted_program.h"

namespace drgpum::profiler {
namespace {

TEST(Session, AVectorAdditionBecomesARecordForEachCall) {
  ScriptedProgram program;
  program.create_context();
  program.load_module(ScriptedProgram::kModule, ".entry add(");
  program.malloc(0x10000, 1000);
  program.malloc(0x20000, 1000);
  program.copy("cudaMemcpy", 0x10000, 0x99, 1000, sanitizer::CopyDirection::kHostToDevice);
  program.launch("add", {{0x10000, 4, device::kReadAccess}, {0x20004, 8, device::kWriteAccess}});
  program.copy("cudaMemcpy", 0x99, 0x20000, 1000, sanitizer::CopyDirection::kDeviceToHost);
  program.free(0x10000);
  EXPECT_EQ(
      program.lines({"device", "context", "stream", "kernel", "object", "call", "access", "end"}),
      R"(device id=0 kind=emulated memory_bytes=0 compute_major=0 compute_minor=0 sanitizer_abi="scripted"
context id=0 device=0
object id=0 kind=device device=0 context=0 address=0x10000 size=1000 pitch=0 width=0 allocated_by=0
call id=0 kind=alloc context=0 name="cudaMalloc" {object=0 requested=1000 error=0}
object id=1 kind=device device=0 context=0 address=0x20000 size=1000 pitch=0 width=0 allocated_by=1
call id=1 kind=alloc context=0 name="cudaMalloc" {object=1 requested=1000 error=0}
stream id=0 context=0 kind=legacy
call id=2 kind=memcpy stream=0 context=0 name="cudaMemcpy" {direction=h2d source={offset=153 width=1000 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes} destination={object=0 offset=0 width=1000 height=1 depth=1 pitch=0 slice_pitch=0}}
kernel id=0 cubin=0 name="add"
call id=3 kind=launch stream=0 context=0 name="cudaLaunchKernel" {kernel=0 grid=1,1,1 block=1,1,1 cluster=1,1,1 shared_bytes=48 instrumented=yes}
call id=4 kind=memcpy stream=0 context=0 blocks_host=yes name="cudaMemcpy" {direction=d2h source={object=1 offset=0 width=1000 height=1 depth=1 pitch=0 slice_pitch=0} destination={offset=153 width=1000 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes}}
access api=3 object=0 reads=yes min_access_bytes=4 max_access_bytes=4
access api=3 object=1 writes=yes min_access_bytes=8 max_access_bytes=8
call id=5 kind=free context=0 blocks_host=yes name="cudaFree" {object=0 address=0x10000 error=0}
end api_count=6 exit_code_known=yes exit_code=0
)");
}

using sanitizer::CopyDirection;

// A context, a patched module, and one object of 4 KiB at 0x10000.
struct LoadedProgram : ScriptedProgram {
  explicit LoadedProgram(Options options = {}, bool emulated = true, bool maps_wait = false)
      : ScriptedProgram(std::move(options), emulated, maps_wait) {
    create_context();
    load_module(kModule, ".entry add(\n.entry gemm(");
    malloc(0x10000, 4096);
  }
  void read_object(std::uintptr_t stream = 0) {
    launch("add", {{0x10000, 4, device::kReadAccess}}, stream);
  }
};

TEST(SessionLaunches, AccessesComeHomeOnlyAfterTheirStreamWasWaitedFor) {
  LoadedProgram program;
  program.create_stream(0x20, 1);
  program.create_stream(0x30, 1);
  program.read_object(0x20);
  program.read_object(0x30);
  program.call("cudaStreamSynchronize", {0x30});
  program.call("cudaStreamSynchronize", {0x20});
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "access api=2 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n"
            "access api=1 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n");
}

TEST(SessionLaunches, AnEventProvesTheLaunchesBeforeItsRecord) {
  LoadedProgram program;
  program.create_stream(0x20, 1);
  sanitizer::EventData event{reinterpret_cast<void*>(0x70),
                             reinterpret_cast<void*>(ScriptedProgram::kContext),
                             reinterpret_cast<void*>(0x20), reinterpret_cast<void*>(0x9020)};
  program.read_object(0x20);
  program.event(sanitizer::Domain::kEvents, sanitizer::kEventRecord, event);
  program.read_object(0x20);
  program.call("cudaEventSynchronize", {0x70});
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "access api=1 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n"
            "coverage kind=lost-records count=1 text=\"launches whose accesses were still on the "
            "device at the end\"\n");
}

TEST(SessionLaunches, ExitReadsBackWhatNobodyWaitedFor) {
  LoadedProgram program;
  program.read_object();
  program.session().drain();
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "access api=1 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n");
}

TEST(SessionLaunches, WhatExitHandlersLaunchIsReadBackAtOnce) {
  LoadedProgram program;
  program.session().drain();
  program.read_object();
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "access api=1 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n");
}

TEST(SessionLaunches, NothingWaitsForAStreamOfTheEmulatedDevice) {
  LoadedProgram program;
  program.read_object();
  program.session().drain();
  EXPECT_EQ(program.waits_for_streams(), 0);
}

TEST(SessionLaunches, HandlesOfAnEndedContextNameOtherKernels) {
  LoadedProgram program;
  program.read_object();
  program.destroy_context();
  program.create_context();
  program.load_module(ScriptedProgram::kModule, ".entry add(\n.entry gemm(");
  program.malloc(0x10000, 4096);
  program.read_object();
  EXPECT_EQ(program.lines({"kernel"}),
            "kernel id=0 cubin=0 name=\"add\"\nkernel id=1 cubin=1 name=\"add\"\n");
}

TEST(SessionLaunches, SoDoesTheEndOfTheContext) {
  LoadedProgram program;
  program.read_object();
  program.destroy_context();
  EXPECT_EQ(program.lines({"access", "end-context"}),
            "access api=1 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n"
            "end-context id=0 at=2\n");
}

TEST(SessionLaunches, AtomicsReadAndWrite) {
  LoadedProgram program;
  program.launch("add", {{0x10010, 8, device::kAtomicAccess}});
  program.synchronize();
  EXPECT_EQ(program.lines({"access"}),
            "access api=1 object=0 reads=yes writes=yes atomics=yes min_access_bytes=8 "
            "max_access_bytes=8\n");
}

TEST(SessionLaunches, AccessesToUnknownMemoryAreCoverage) {
  LoadedProgram program;
  program.launch("add", {{0x20000, 4, device::kReadAccess}, {0x20004, 4, device::kReadAccess}});
  program.synchronize();
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "coverage kind=unknown-address api=1 count=2 text=\"accesses to memory that no known "
            "object holds\"\n");
}

TEST(SessionLaunches, ALaunchSeesTheObjectsThatWereAliveWhenItWasIssued) {
  LoadedProgram program;
  program.read_object();
  program.free(0x10000);
  program.malloc(0x10000, 64);  // the same address, another object
  program.read_object();
  program.synchronize();
  EXPECT_EQ(program.lines({"access"}),
            "access api=1 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n"
            "access api=4 object=1 reads=yes min_access_bytes=4 max_access_bytes=4\n");
}

TEST(SessionLaunches, AFullDeviceCostsCoverageAndNothingElse) {
  LoadedProgram program;
  program.refuse_device_memory();
  program.read_object();
  program.synchronize();
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "coverage kind=slots-full api=1 count=1 text=\"the device had no memory left for the "
            "launch's marks\"\n");
}

TEST(SessionLaunches, WithoutASynchronisationTheSlotsRunOutAtTheBudget) {
  Options options;
  options.map_memory = 1 << 20;
  LoadedProgram program(options, false);
  for (int i = 0; i < 5000; ++i)
    program.read_object();
  EXPECT_LE(program.bytes_on_device(), options.map_memory);
  program.synchronize();
  program.read_object();
  program.synchronize();
  const std::string text = program.trace();
  EXPECT_NE(text.find("kind=slots-full"), std::string::npos);
  EXPECT_NE(text.find("access api=5002 "), std::string::npos) << "slots are free again";
}

// There a kernel has run when its launch returns, so nothing is lost and nobody is kept waiting.
TEST(SessionLaunches, OnTheEmulatedDeviceSlotsNeverRunOut) {
  Options options;
  options.map_memory = 1 << 20;
  LoadedProgram program(options);
  for (int i = 0; i < 5000; ++i)
    program.read_object();
  EXPECT_LE(program.bytes_on_device(), options.map_memory);
  program.synchronize();
  const std::string text = program.lines({"access", "coverage"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5000);
  EXPECT_EQ(text.find("coverage"), std::string::npos);
}

TEST(SessionLaunches, TwoHundredThousandObjectsAreNoLimit) {
  LoadedProgram program;
  constexpr std::uint64_t kObjects = 200'000;
  for (std::uint64_t i = 0; i < kObjects; ++i)
    program.malloc(0x1000000 + i * 512, 100);
  std::vector<ScriptedProgram::Access> accesses;
  for (std::uint64_t i = 0; i < kObjects; i += 3) {
    accesses.push_back({0x1000000 + i * 512 + 96, 4, device::kWriteAccess});
  }
  program.launch("add", accesses);
  program.synchronize();
  const std::string text = program.lines({"access", "coverage"});
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')),
            (kObjects + 2) / 3);
  EXPECT_NE(text.find("object=199999 "), std::string::npos);
  EXPECT_EQ(text.find("coverage"), std::string::npos);
}

Options inside_objects() {
  Options options;
  options.mode = Mode::kIntra;
  return options;
}

TEST(SessionSites, AccessesAreCountedByInstructionAndObject) {
  LoadedProgram program(inside_objects(), false);
  program.malloc(0x20000, 64);
  program.launch("add", {{0x10000, 4, device::kReadAccess}, {0x20000, 4, device::kAtomicAccess}});
  program.launch("add", {{0x10000, 4, device::kReadAccess}});
  program.synchronize();
  EXPECT_EQ(program.lines({"site", "coverage"}),
            "site api=2 object=0 function=0 offset=0 reads=1 writes=0\n"
            "site api=2 object=1 function=0 offset=16 reads=1 writes=1\n"
            "site api=3 object=0 function=0 offset=0 reads=1 writes=0\n");
}

TEST(SessionMaps, MapsOfSomeBlocksSaySo) {
  Options options = inside_objects();
  options.block_every = 3;
  LoadedProgram program(options, false);
  program.launch("add", {{0x10000, 4, device::kReadAccess}});
  program.synchronize();
  const std::string text = program.lines({"map", "coverage"});
  EXPECT_NE(text.find("block_every=3"), std::string::npos) << text;
  EXPECT_EQ(text.find("exact=yes"), std::string::npos) << text;
  EXPECT_NE(text.find("coverage kind=sampled-blocks count=1"), std::string::npos) << text;
}

TEST(SessionMaps, NeverTakeMoreThanTheBudget) {
  for (const std::uint64_t budget : {std::uint64_t{1} << 20, std::uint64_t{4} << 20}) {
    Options options = inside_objects();
    options.map_memory = budget;
    LoadedProgram program(options, false);
    for (std::uint64_t i = 0; i < 64; ++i)
      program.malloc(0x1000000 + i * 0x100000, 0x80000);
    for (std::uint64_t i = 0; i < 200; ++i) {
      program.launch("add", {{0x1000000 + i % 64 * 0x100000, 4, device::kReadAccess}});
      EXPECT_LE(program.bytes_on_device(), budget);
      if (i % 7 == 0) program.synchronize();
    }
    program.synchronize();
    const std::string text = program.trace();
    EXPECT_NE(text.find("\nmap "), std::string::npos) << "some maps fit";
    EXPECT_NE(text.find("coverage kind="), std::string::npos) << "others do not, and that is said";
  }
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::stringstream all(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(all, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Launches whose maps wait or not, and a way to end.
std::vector<std::string> maps_of(bool maps_wait, const std::function<void(LoadedProgram&)>& end) {
  LoadedProgram program(inside_objects(), false, maps_wait);
  program.malloc(0x40000, 0x40000);
  for (std::uint64_t i = 0; i < 12; ++i) {
    program.launch("add", {{0x10000 + 4 * i, 4, device::kReadAccess},
                           {0x40000 + 4096 * i, 8, device::kWriteAccess}});
    if (i % 3 == 0) program.synchronize();
  }
  end(program);
  return sorted_lines(program.lines({"access", "map", "coverage"}));
}

TEST(SessionMaps, ThatWaitAreAllWrittenHoweverTheContextEnds) {
  const std::function<void(LoadedProgram&)> ends[] = {
      [](LoadedProgram& program) { program.session().drain(); },
      [](LoadedProgram& program) { program.destroy_context(); },
      [](LoadedProgram& program) { program.call("cudaDeviceReset", {}); },
      [](LoadedProgram& program) { program.call("cuCtxDestroy_v2", {ScriptedProgram::kContext}); },
  };
  const std::vector<std::string> expected = maps_of(false, ends[0]);
  EXPECT_EQ(std::count_if(expected.begin(), expected.end(),
                          [](const std::string& line) { return line.starts_with("map"); }),
            24);
  for (int round = 0; round < 20; ++round) {
    for (const auto& end : ends)
      EXPECT_EQ(maps_of(true, end), expected) << round << " " << &end - ends;
  }
}

TEST(SessionMaps, OfLaunchesAfterTheExitBeganDoNotWait) {
  for (int round = 0; round < 20; ++round) {
    LoadedProgram program(inside_objects(), false, true);
    program.session().drain();
    program.read_object();
    program.synchronize();
    const std::vector<std::string> lines = sorted_lines(program.lines({"map", "coverage"}));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(lines[0].starts_with("map api=1 object=0")) << lines[0];
  }
}

TEST(SessionSites, WhatDoesNotFitIsSaid) {
  LoadedProgram program(inside_objects(), false);
  std::vector<ScriptedProgram::Access> accesses;
  for (std::uint64_t i = 0; i < 256; ++i) {
    accesses.push_back({0x100000 + i * 512, 4, device::kReadAccess});
    program.malloc(accesses.back().address, 8);
  }
  // An instruction for each of 256 objects; 8 of its bits are left for 24 of the instruction.
  std::vector<ScriptedProgram::Access> all;
  for (int i = 0; i < 4; ++i)
    all.insert(all.end(), accesses.begin(), accesses.end());
  program.launch("add", all);
  program.synchronize();
  program.launch("add", all);
  program.synchronize();
  const std::string text = program.lines({"site api=257", "site api=259", "coverage kind=lost-sites"});
  EXPECT_NE(text.find("coverage kind=lost-sites api=257"), std::string::npos) << "512 entries";
  EXPECT_EQ(text.find("coverage kind=lost-sites api=259"), std::string::npos) << "2,048 entries";
}

TEST(SessionGraphs, NodesFollowTheirLaunchAndKernelsOfOneFunctionShareTheirMarks) {
  LoadedProgram program({}, false);
  program.malloc(0x20000, 64);
  for (int replay = 0; replay < 2; ++replay) {
    program.launch_graph({{"add", {{0x10000, 4, device::kReadAccess}}},
                          {"gemm", {{0x20000, 8, device::kWriteAccess}}},
                          {"add", {{0x10000, 4, device::kWriteAccess}}}});
  }
  program.synchronize();
  EXPECT_EQ(
      program.lines({"call id=2", "call id=3", "call id=6", "access", "coverage"}),
      "call id=2 kind=graph stream=0 context=0 name=\"cudaGraphLaunch\" {graph=0 launch=0}\n"
      "call id=3 kind=launch stream=0 context=0 name=\"kernel launch\" graph_launch=0 {kernel=0 "
      "grid=1,1,1 block=1,1,1 cluster=1,1,1 shared_bytes=0 instrumented=yes}\n"
      "call id=6 kind=graph stream=0 context=0 name=\"cudaGraphLaunch\" {graph=0 launch=1}\n"
      "access api=3 object=0 reads=yes writes=yes min_access_bytes=4 max_access_bytes=4\n"
      "access api=5 object=0 reads=yes writes=yes min_access_bytes=4 max_access_bytes=4\n"
      "access api=4 object=1 writes=yes min_access_bytes=8 max_access_bytes=8\n"
      "access api=7 object=0 reads=yes writes=yes min_access_bytes=4 max_access_bytes=4\n"
      "access api=9 object=0 reads=yes writes=yes min_access_bytes=4 max_access_bytes=4\n"
      "access api=8 object=1 writes=yes min_access_bytes=8 max_access_bytes=8\n");
}

TEST(SessionGraphs, APlainLaunchThatIsNotObservedDoesNotMarkTheGraphsSlot) {
  Options options;
  options.launch_count = 1;
  LoadedProgram program(options, false);
  program.launch_graph({{"add", {{0x10000, 4, device::kReadAccess}}}});
  program.launch("add", {{0x10000, 4, device::kWriteAccess}});
  program.launch_graph({{"add", {{0x10000, 4, device::kWriteAccess}}}});
  program.synchronize();
  EXPECT_EQ(program.lines({"access"}),
            "access api=2 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n");
}

TEST(SessionSelection, KernelsThatTheOptionsLeaveOutAreNotObserved) {
  Options options;
  options.only = {*parse_kernel_pattern("kns=gemm")};
  LoadedProgram program(options);
  program.read_object();
  program.launch("gemm", {{0x10000, 4, device::kWriteAccess}});
  program.synchronize();
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "access api=2 object=0 writes=yes min_access_bytes=4 max_access_bytes=4\n"
            "coverage kind=unsampled-launch count=1 text=\"launches that the options left out\"\n");
}

TEST(SessionSelection, ModulesWithoutASelectedKernelAreNotPatched) {
  Options options;
  options.only = {*parse_kernel_pattern("kns=other")};
  LoadedProgram program(options);
  program.load_module(0x301, ".entry other(");
  EXPECT_EQ(program.patched_modules(), 1);
}

TEST(SessionSelection, OneInNLaunchesIsObserved) {
  Options options;
  options.sampling = 4;
  LoadedProgram program(options);
  for (int i = 0; i < 8; ++i)
    program.read_object();
  program.synchronize();
  EXPECT_EQ(program.lines({"access", "coverage"}),
            "access api=1 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n"
            "access api=5 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n"
            "coverage kind=unsampled-launch count=6 text=\"launches that the options left out\"\n");
}

TEST(SessionSelection, ACaptureRangeBoundsTheObservation) {
  Options options;
  options.capture_range = "cudaProfilerApi";
  LoadedProgram program(options);
  program.read_object();
  program.call("cudaProfilerStart", {});
  program.read_object();
  program.call("cudaProfilerStop", {});
  program.read_object();
  program.synchronize();
  EXPECT_EQ(program.lines({"access"}),
            "access api=3 object=0 reads=yes min_access_bytes=4 max_access_bytes=4\n");
}

TEST(SessionThreads, CallsOfManyThreadsKeepTheirOrderInTheFile) {
  LoadedProgram program;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&program, t] {
      for (std::uint64_t i = 0; i < 200; ++i) {
        const std::uint64_t address = 0x1000000 * (t + 1) + i * 512;
        program.malloc(address, 100);
        program.free(address);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  const std::string text = program.lines({"call", "end api"});
  for (std::size_t id = 0, at = 0; id < 1601; ++id) {
    const std::string call = "call id=" + std::to_string(id) + " ";
    at = text.find(call, at);
    ASSERT_NE(at, std::string::npos) << call;
  }
  EXPECT_NE(text.find("end api_count=1601 "), std::string::npos);
}

// Another thread's launch while this one waits: the wait does not cover it.
TEST(SessionThreads, ALaunchDuringAWaitIsNotCoveredByIt) {
  LoadedProgram program;
  program.call("cudaDeviceSynchronize", {},
               [&program] { std::thread([&program] { program.read_object(); }).join(); });
  EXPECT_EQ(program.lines({"call id=1", "call id=2", "access", "coverage"}),
            "call id=1 kind=synchronize context=0 blocks_host=yes name=\"cudaDeviceSynchronize\" "
            "{scope=device event=0 recorded_by=0}\n"
            "call id=2 kind=launch stream=0 context=0 name=\"cudaLaunchKernel\" {kernel=0 "
            "grid=1,1,1 block=1,1,1 cluster=1,1,1 shared_bytes=48 instrumented=yes}\n"
            "coverage kind=lost-records count=1 text=\"launches whose accesses were still on the "
            "device at the end\"\n");
}

TEST(SessionEnd, AfterTheEndCallbacksAreIgnored) {
  LoadedProgram program;
  const std::string text = program.trace();
  program.malloc(0x20000, 64);
  program.session().finish(true, 1);
  EXPECT_EQ(program.trace(), text);
}

TEST(SessionEnd, AForkedChildWritesNothing) {
  LoadedProgram program;
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    program.session().abandon();
    program.malloc(0x20000, 64);
    program.session().finish(true, 0);
    _exit(program.session().failure().empty() && !HasFailure() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const std::string lines = program.lines({"object", "end"});
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2) << lines;
  EXPECT_EQ(lines.find("size=64"), std::string::npos) << lines;
}

}  // namespace
}  // namespace drgpum::profiler
