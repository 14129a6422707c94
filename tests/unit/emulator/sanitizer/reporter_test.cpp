// SPDX-License-Identifier: Apache-2.0
// Every event of the machine arrives as its callback, with the fields where the interface has them.
#include "emulator/sanitizer/reporter.h"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "emulator/sanitizer/library.h"
#include "tests/unit/emulator/sanitizer/fake_machine.h"

namespace drgpum::emulator::sanitizer {
namespace {

namespace abi = drgpum::sanitizer;
using testing::handle;

std::uintptr_t number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

void describe(std::ostream& out, const abi::LaunchData& d) {
  out << " launch " << number(d.launch) << " of " << d.function_name << " module "
      << number(d.module) << " function " << number(d.function) << " grid " << d.grid[0] << ' '
      << d.grid[1] << ' ' << d.grid[2] << " block " << d.block[0] << " id " << d.grid_id
      << " stream " << number(d.stream) << '/' << number(d.stream_handle) << " device " << d.device;
}

void describe(std::ostream& out, const abi::MemoryData& d) {
  out << " memory " << d.address << '+' << d.size << " context " << number(d.context) << " flags "
      << d.flags << " pool " << number(d.pool) << " stream " << number(d.stream_handle);
}

void describe(std::ostream& out, const abi::MemcpyData& d) {
  out << " copy " << d.source_address << " -> " << d.destination_address << " size " << d.size
      << " rows " << d.height << " pitch " << d.source_pitch << ' ' << d.destination_pitch
      << " async " << d.is_async << " direction " << static_cast<unsigned>(d.direction);
}

void describe(std::ostream& out, const abi::MemsetData& d) {
  out << " set " << d.address << " width " << d.width << " height " << d.height << " element "
      << d.element_size << " value " << d.value;
}

void describe(std::ostream& out, const abi::GraphNodeData& d) {
  out << " node " << number(d.node) << " type " << d.node_type << " launch " << d.launch_id;
  if (d.node_type == 0) describe(out, d.launch);
  if (d.node_type == 1) describe(out, d.copy);
  if (d.node_type == 2) describe(out, d.set);
  if (d.node_type == 10) describe(out, d.allocation);
  if (d.node_type == 11) out << " freed " << d.freed_address;
}

void describe_resource(std::ostream& out, std::uint32_t id, const void* data) {
  if (id >= abi::kDeviceMemoryAlloc && id <= abi::kMemoryFreeAsyncDone)
    return describe(out, *static_cast<const abi::MemoryData*>(data));
  if (id >= abi::kContextCreationStarting && id <= abi::kContextDestroyFinished) {
    const auto& d = *static_cast<const abi::ContextData*>(data);
    out << " context " << number(d.context) << " device " << d.device;
  }
  if (id >= abi::kStreamCreated && id <= abi::kStreamDestroyFinished) {
    const auto& d = *static_cast<const abi::StreamData*>(data);
    out << " stream " << number(d.stream) << '/' << number(d.stream_handle);
  }
  if (id == abi::kModuleLoaded || id == abi::kModuleUnloadStarting) {
    const auto& d = *static_cast<const abi::ModuleData*>(data);
    out << " module " << number(d.module) << " image " << std::string(d.image, d.image_size);
  }
  if (id == abi::kPoolCreated || id == abi::kPoolDestroying)
    out << " pool " << number(static_cast<const abi::PoolData*>(data)->pool);
  if (id == abi::kArrayCreated || id == abi::kArrayDestroyed) {
    const auto& d = *static_cast<const abi::ArrayData*>(data);
    out << " array " << number(d.array) << ' ' << d.width << 'x' << d.height << 'x' << d.depth;
  }
  if (id == abi::kVirtualReserve || id == abi::kVirtualRelease) {
    const auto& d = *static_cast<const abi::VirtualRangeData*>(data);
    out << " range " << d.address << '+' << d.size;
  }
}

void describe_graph(std::ostream& out, std::uint32_t id, const void* data) {
  if (id <= abi::kGraphExecDestroying) {
    const auto& d = *static_cast<const abi::GraphExecData*>(data);
    out << " graph " << number(d.graph) << " exec " << number(d.exec);
  } else if (id <= abi::kGraphNodeLaunchEnd) {
    describe(out, *static_cast<const abi::GraphNodeData*>(data));
  } else {
    const auto& d = *static_cast<const abi::GraphLaunchData*>(data);
    out << " exec " << number(d.exec) << " stream " << number(d.stream_handle);
  }
}

void describe_api(std::ostream& out, const abi::ApiData& d) {
  out << ' ' << d.function_name << (d.site == abi::ApiSite::kEnter ? " enter" : " exit");
  if (d.symbol_name != nullptr) out << " of " << d.symbol_name;
  if (d.return_value != nullptr) out << " = " << *static_cast<const int*>(d.return_value);
}

void write(void* user, Domain domain, std::uint32_t id, const void* data) {
  std::ostream& out = *static_cast<std::ostringstream*>(user);
  out << static_cast<unsigned>(domain) << '.' << id;
  switch (domain) {
    case Domain::kDriverApi:
    case Domain::kRuntimeApi:
      describe_api(out, *static_cast<const abi::ApiData*>(data));
      break;
    case Domain::kResource:
      describe_resource(out, id, data);
      break;
    case Domain::kLaunch:
      describe(out, *static_cast<const abi::LaunchData*>(data));
      break;
    case Domain::kMemcpy:
      describe(out, *static_cast<const abi::MemcpyData*>(data));
      break;
    case Domain::kMemset:
      describe(out, *static_cast<const abi::MemsetData*>(data));
      break;
    case Domain::kGraphs:
      describe_graph(out, id, data);
      break;
    case Domain::kSynchronize: {
      const auto& d = *static_cast<const abi::SynchronizeData*>(data);
      out << " context " << number(d.context) << " stream " << number(d.stream_handle);
      break;
    }
    case Domain::kEvents: {
      const auto& d = *static_cast<const abi::EventData*>(data);
      out << " event " << number(d.event) << " stream " << number(d.stream_handle);
      break;
    }
    case Domain::kManaged: {
      const auto& d = *static_cast<const abi::ManagedData*>(data);
      out << " attach " << d.address << " visibility " << static_cast<unsigned>(d.visibility)
          << " stream " << number(d.stream_handle);
      break;
    }
    default:
      break;
  }
  out << '\n';
}

class Reporting : public ::testing::Test {
 protected:
  Reporting() {
    EXPECT_EQ(state_.subscribe(write, &text_), Code::kSuccess);
    state_.gate().set_all(true);
  }

  Observer& machine() { return *machine_.observer; }
  std::string text() { return text_.str(); }

  testing::FakeMachine machine_;
  LibraryState state_{&machine_};
  std::ostringstream text_;
};

TEST_F(Reporting, ApiCallsCarryNameSiteAndResult) {
  int result = 2;
  ApiCall call{.id = 20, .function = "cudaMalloc", .parameters = &result};
  call.domain = ApiDomain::kRuntime;
  machine().on_api(call);
  call.site = Site::kExit;
  call.return_value = &result;
  machine().on_api(call);
  EXPECT_EQ(text(), "2.20 cudaMalloc enter\n2.20 cudaMalloc exit = 2\n");
}

TEST_F(Reporting, TheEndOfInitialisationFollowsASuccessfulCuInit) {
  int result = 0;
  machine().on_api({.site = Site::kExit, .id = 1, .function = "cuInit", .return_value = &result});
  EXPECT_EQ(text(), "1.1 cuInit exit = 0\n3.1\n");
}

TEST_F(Reporting, ContextsComeAndGoInTwoSteps) {
  machine().on_context({true, Phase::kStarting, nullptr, 1});
  machine().on_context({true, Phase::kFinished, handle(7), 1});
  machine().on_context({false, Phase::kStarting, handle(7), 1});
  machine().on_context({false, Phase::kFinished, handle(7), 1});
  EXPECT_EQ(text(),
            "3.2 context 0 device 1\n3.3 context 7 device 1\n"
            "3.4 context 7 device 1\n3.5 context 7 device 1\n");
}

TEST_F(Reporting, ADestroyedStreamKeepsItsHandleButNotItsName) {
  machine().on_stream({true, handle(7), handle(5), handle(55)});
  machine().on_stream({false, handle(7), handle(5), handle(55)});
  EXPECT_EQ(text(), "3.6 stream 5/55\n3.7 stream 5/55\n3.8 stream 0/55\n");
}

TEST_F(Reporting, ModulesCarryTheirImage) {
  const std::string ptx = ".version 8.0";
  const auto image = std::as_bytes(std::span(ptx.data(), ptx.size()));
  machine().on_module({true, handle(7), handle(9), image});
  machine().on_module({false, handle(7), handle(9), image});
  EXPECT_EQ(text(), "3.9 module 9 image .version 8.0\n3.10 module 9 image .version 8.0\n");
}

TEST_F(Reporting, EveryKindOfMemoryHasItsOwnNumber) {
  MemoryEvent event;
  event.context = handle(7);
  event.address = 4096;
  event.size = 64;
  event.unique_stream = handle(55);
  event.pool = handle(3);
  for (const MemoryKind kind :
       {MemoryKind::kDeviceAlloc, MemoryKind::kDeviceFree, MemoryKind::kHostAlloc,
        MemoryKind::kHostFree, MemoryKind::kAsyncAlloc, MemoryKind::kAsyncFree,
        MemoryKind::kAsyncFreeDone}) {
    event.kind = kind;
    event.flags = kind == MemoryKind::kHostAlloc ? kMemoryHostPinned : kMemoryManaged;
    machine().on_memory(event);
  }
  event.kind = MemoryKind::kVirtualReserve;
  machine().on_memory(event);
  event.kind = MemoryKind::kVirtualRelease;
  machine().on_memory(event);
  const std::string rest = " memory 4096+64 context 7 flags 2 pool 3 stream 55\n";
  EXPECT_EQ(text(), "3.11" + rest + "3.12" + rest +
                        "3.13 memory 4096+64 context 7 flags 8 pool 3 stream 55\n" + "3.14" + rest +
                        "3.15" + rest + "3.16" + rest + "3.17" + rest +
                        "3.26 range 4096+64\n3.27 range 4096+64\n");
}

TEST_F(Reporting, PoolsAndArraysAreResources) {
  machine().on_pool({true, handle(7), 0, handle(3)});
  machine().on_pool({false, handle(7), 0, handle(3)});
  machine().on_array({true, handle(7), handle(4), 16, 8, 0});
  machine().on_array({false, handle(7), handle(4), 16, 8, 0});
  EXPECT_EQ(text(), "3.18 pool 3\n3.19 pool 3\n3.22 array 4 16x8x0\n3.23 array 4 16x8x0\n");
}

TEST_F(Reporting, SynchronisationIsOfAStreamOrOfTheContext) {
  machine().on_synchronize({handle(7), handle(5), handle(55), false});
  machine().on_synchronize({handle(7), nullptr, nullptr, true});
  EXPECT_EQ(text(), "4.1 context 7 stream 55\n4.2 context 7 stream 0\n");
}

LaunchEvent launch_event() {
  LaunchEvent event;
  event.stream = handle(5);
  event.unique_stream = handle(55);
  event.module = handle(9);
  event.function = handle(11);
  event.name = "_Z3addPf";
  event.grid = {2, 3, 4};
  event.block = {64, 1, 1};
  event.grid_id = 17;
  event.launch = handle(99);
  event.device = 1;
  return event;
}

TEST_F(Reporting, ALaunchBeginsIsSetUpAndEnds) {
  LaunchEvent event = launch_event();
  exec::AccessHook* hook = nullptr;
  event.hook = &hook;
  for (const LaunchPhase phase :
       {LaunchPhase::kBegin, LaunchPhase::kAfterSetup, LaunchPhase::kEnd}) {
    event.phase = phase;
    machine().on_launch(event);
  }
  const std::string rest =
      " launch 99 of _Z3addPf module 9 function 11 grid 2 3 4 block 64 id 17 stream 5/55 device "
      "1\n";
  EXPECT_EQ(text(), "5.1" + rest + "5.2" + rest + "5.3" + rest);
  EXPECT_EQ(hook, nullptr) << "nothing of the module is patched";
}

TEST_F(Reporting, DirectionsOfCopiesAreRenumbered) {
  CopyEvent event;
  event.source = 100;
  event.destination = 200;
  event.size = 64;
  event.height = 2;
  event.source_pitch = 32;
  event.destination_pitch = 48;
  for (std::uint32_t direction = 0; direction <= 4; ++direction) {
    event.direction = direction;
    event.is_async = direction == 4;
    machine().on_copy(event);
  }
  const std::string rest = "6.1 copy 100 -> 200 size 64 rows 2 pitch 32 48 async ";
  EXPECT_EQ(text(), rest + "0 direction 0\n" + rest + "0 direction 2\n" + rest + "0 direction 3\n" +
                        rest + "0 direction 1\n" + rest + "1 direction 4\n");
}

TEST_F(Reporting, SetsTellElements) {
  SetEvent event;
  event.address = 100;
  event.width = 16;
  event.height = 3;
  event.element_size = 4;
  event.value = 9;
  machine().on_set(event);
  EXPECT_EQ(text(), "7.1 set 100 width 16 height 3 element 4 value 9\n");
}

TEST_F(Reporting, EventsAreCreatedRecordedWaitedForAndDestroyed) {
  for (const EventAction action :
       {EventAction::kCreated, EventAction::kRecord, EventAction::kStreamWait,
        EventAction::kSynchronize, EventAction::kDestroyed})
    machine().on_event({action, handle(7), handle(6), handle(5), handle(55)});
  const std::string rest = " event 6 stream 55\n";
  EXPECT_EQ(text(), "11.1" + rest + "11.3" + rest + "11.4" + rest + "11.5" + rest + "11.2" + rest);
}

TEST_F(Reporting, AGraphTellsItsNodesWithTheirWork) {
  GraphEvent event;
  event.graph = handle(21);
  event.exec = handle(22);
  event.node = handle(23);
  event.unique_stream = handle(55);
  event.launch_id = 3;
  const auto tell = [&](GraphAction action, std::uint32_t type) {
    event.action = action;
    event.node_type = type;
    machine().on_graph(event);
  };
  tell(GraphAction::kExecCreated, 0);
  tell(GraphAction::kLaunchBegin, 0);
  LaunchEvent kernel = launch_event();
  exec::AccessHook* hook = nullptr;
  kernel.hook = &hook;
  event.kernel = &kernel;
  tell(GraphAction::kNodeBegin, 0);
  tell(GraphAction::kNodeEnd, 0);
  event.kernel = nullptr;
  SetEvent set;
  set.address = 100;
  event.set = &set;
  tell(GraphAction::kNodeBegin, 2);
  event.set = nullptr;
  MemoryEvent memory;
  memory.address = 4096;
  memory.size = 64;
  event.memory = &memory;
  tell(GraphAction::kNodeBegin, 10);
  tell(GraphAction::kNodeBegin, 11);
  tell(GraphAction::kLaunchEnd, 0);
  tell(GraphAction::kExecDestroying, 0);
  const std::string launch =
      " launch 99 of _Z3addPf module 9 function 11 grid 2 3 4 block 64 id 17 stream 5/55 device "
      "1\n";
  EXPECT_EQ(text(),
            "10.1 graph 21 exec 0\n10.2 graph 21 exec 22\n10.6 exec 22 stream 55\n"
            "10.4 node 23 type 0 launch 3" +
                launch + "10.5 node 23 type 0 launch 3" + launch +
                "10.4 node 23 type 2 launch 3 set 100 width 0 height 1 element 1 value 0\n"
                "10.4 node 23 type 10 launch 3 memory 4096+64 context 0 flags 0 pool 0 stream 0\n"
                "10.4 node 23 type 11 launch 3 freed 4096\n"
                "10.7 exec 22 stream 55\n10.3 graph 21 exec 22\n");
}

TEST_F(Reporting, ManagedMemoryIsAttachedToAStream) {
  machine().on_managed_attach(handle(7), handle(5), 4096, 64);
  EXPECT_EQ(text(), "9.1 attach 4096 visibility 3 stream 261\n");
}

TEST_F(Reporting, OnlyWhatIsWantedIsTold) {
  state_.gate().set_all(false);
  EXPECT_EQ(state_.gate().set(Domain::kMemset, abi::kMemsetStarting, true), Code::kSuccess);
  machine().on_copy({});
  machine().on_set({});
  EXPECT_EQ(text(), "7.1 set 0 width 0 height 1 element 1 value 0\n");
}

TEST_F(Reporting, ThereIsOneSubscriberAtATime) {
  EXPECT_EQ(state_.subscribe(write, &text_), Code::kMaxLimitReached);
  EXPECT_EQ(state_.unsubscribe(), Code::kSuccess);
  EXPECT_EQ(machine_.observer, nullptr);
  EXPECT_EQ(state_.subscribe(write, &text_), Code::kSuccess);
}

}  // namespace
}  // namespace drgpum::emulator::sanitizer
