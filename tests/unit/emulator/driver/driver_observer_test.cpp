// SPDX-License-Identifier: Apache-2.0
// What observers hear, event by event, as text.

#include <sstream>

#include "emulator/machine/observer.h"
#include "fixture.h"

namespace drgpum::emulator {
namespace {

// Writes a line for each event. Addresses count from the first device address.
class Recorder : public Observer {
 public:
  void on_api(const ApiCall& call) override {
    if (!with_calls) return;
    line() << (call.site == Site::kEnter ? "enter " : "exit ") << call.function;
    if (call.symbol != nullptr) text << " " << call.symbol;
    if (call.return_value != nullptr) text << " = " << *static_cast<CUresult*>(call.return_value);
  }
  void on_context(const ContextEvent& event) override {
    line() << (event.creation ? "context" : "context destroyed")
           << (event.phase == Phase::kStarting ? " starting" : "");
  }
  void on_stream(const StreamEvent& event) override {
    line() << (event.creation ? "stream" : "stream destroyed");
  }
  void on_module(const ModuleEvent& event) override {
    line() << (event.loaded ? "module" : "module unloaded") << (event.image.empty() ? "" : " ptx");
  }
  void on_memory(const MemoryEvent& event) override {
    static const char* const kNames[] = {"alloc",      "free",        "host alloc",
                                         "host free",  "async alloc", "async free",
                                         "async done", "reserve",     "release"};
    line() << kNames[static_cast<int>(event.kind)] << " " << event.size;
    if (event.flags != 0) text << " flags " << event.flags;
  }
  void on_pool(const PoolEvent& event) override {
    line() << (event.creation ? "pool" : "pool destroyed");
  }
  void on_array(const ArrayEvent& event) override {
    line() << (event.creation ? "array " : "array destroyed ") << event.width << "x"
           << event.height;
  }
  void on_synchronize(const SynchronizeEvent& event) override {
    line() << "synchronize " << (event.whole_context ? "context" : "stream");
  }
  void on_launch(const LaunchEvent& event) override {
    if (event.phase == LaunchPhase::kBegin) *event.hook = hook;
    static const char* const kPhases[] = {"launch ", "launch ready ", "launch end "};
    line() << kPhases[static_cast<int>(event.phase)] << event.name << " grid " << event.grid.x
           << " block " << event.block.x;
  }
  void on_copy(const CopyEvent& event) override {
    line() << "copy " << event.size << " direction " << event.direction
           << (event.is_async ? " async" : "");
  }
  void on_set(const SetEvent& event) override {
    line() << "set " << event.width << "x" << event.height << " of " << event.element_size
           << " value " << event.value << (event.is_async ? " async" : "");
  }
  void on_event(const EventEvent& event) override {
    static const char* const kActions[] = {"created", "destroyed", "recorded", "waited for",
                                           "synchronized"};
    line() << "event " << kActions[static_cast<int>(event.action)];
  }
  void on_graph(const GraphEvent& event) override {
    static const char* const kActions[] = {"created",    "destroying", "launch",
                                           "launch end", "node",       "node end"};
    line() << "graph " << kActions[static_cast<int>(event.action)];
    if (event.kernel != nullptr) text << " kernel " << event.kernel->name;
    if (event.copy != nullptr) text << " copy " << event.copy->size;
    if (event.set != nullptr) text << " set " << event.set->width;
    if (event.memory != nullptr) text << " memory " << event.memory->size;
  }
  void on_managed_attach(Handle, Handle, std::uint64_t, std::uint64_t size) override {
    line() << "attach " << size;
  }

  std::string take() {
    std::string taken = text.str();
    text.str("");
    return taken;
  }

  std::ostringstream text;
  bool with_calls = false;
  exec::AccessHook* hook = nullptr;

 private:
  std::ostream& line() {
    if (text.tellp() != 0) text << "\n";
    return text;
  }
};

class Observed : public DriverTest {
 protected:
  void SetUp() override {
    drgpum_emulator_machine()->add_observer(&recorder_);
    DriverTest::SetUp();
    recorder_.take();
  }
  void TearDown() override {
    DriverTest::TearDown();
    drgpum_emulator_machine()->remove_observer(&recorder_);
  }
  Recorder recorder_;
};

TEST_F(Observed, ContextsBeginAndEnd) {
  CUcontext other = nullptr;
  CUctxCreateParams parameters{};
  ASSERT_CUDA(cuCtxCreate(&other, &parameters, 0, 0));
  EXPECT_EQ(recorder_.take(), "context starting\ncontext");
  ASSERT_CUDA(cuCtxDestroy(other));
  EXPECT_EQ(recorder_.take(), "context destroyed starting\ncontext destroyed");
}

TEST_F(Observed, CallsSurroundWhatTheyDo) {
  recorder_.with_calls = true;
  const CUdeviceptr address = allocate(24);
  EXPECT_EQ(recorder_.take(), "enter cuMemAlloc_v2\nalloc 24\nexit cuMemAlloc_v2 = 0");
  EXPECT_EQ(cuMemFree(address + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(recorder_.take(), "enter cuMemFree_v2\nexit cuMemFree_v2 = 1");
}

TEST_F(Observed, MemoryOfEveryKind) {
  CUdeviceptr address = allocate(24);
  EXPECT_CUDA(cuMemFree(address));
  EXPECT_CUDA(cuMemAllocManaged(&address, 8, CU_MEM_ATTACH_GLOBAL));
  EXPECT_CUDA(cuStreamAttachMemAsync(nullptr, address, 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_CUDA(cuMemFree(address));
  void* host = nullptr;
  EXPECT_CUDA(cuMemAllocHost(&host, 40));
  EXPECT_CUDA(cuMemFreeHost(host));
  EXPECT_CUDA(cuMemAllocAsync(&address, 50, nullptr));
  EXPECT_CUDA(cuMemFreeAsync(address, nullptr));
  EXPECT_CUDA(cuMemFreeAsync(allocate(60), nullptr));
  EXPECT_EQ(recorder_.take(),
            "alloc 24\nfree 24\n"
            "alloc 8 flags 2\nattach 8\nfree 8 flags 2\n"
            "host alloc 40 flags 12\nhost free 40 flags 12\n"
            "async alloc 50\nasync free 50\n"
            "alloc 60\nasync free 60\nasync done 60");
}

TEST_F(Observed, ModulesAndTheirVariables) {
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, kAddPtx));
  EXPECT_EQ(recorder_.take(), "module ptx\nalloc 4 flags 1");
  ASSERT_CUDA(cuModuleUnload(module));
  EXPECT_EQ(recorder_.take(), "module unloaded ptx\nfree 4 flags 1");
}

TEST_F(Observed, CopiesAndSets) {
  const CUdeviceptr address = allocate(100);
  char host[100] = {};
  recorder_.take();
  EXPECT_CUDA(cuMemcpyHtoD(address, host, 100));
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, address, 50, nullptr));
  EXPECT_CUDA(cuMemcpyDtoD(address, address + 50, 10));
  EXPECT_CUDA(cuMemsetD32Async(address, 9, 5, nullptr));
  EXPECT_CUDA(cuMemsetD2D8(address, 10, 7, 3, 4));
  EXPECT_EQ(cuMemsetD8(address, 0, 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(recorder_.take(),
            "copy 100 direction 1\ncopy 50 direction 2 async\ncopy 10 direction 4\n"
            "set 5x1 of 4 value 9 async\nset 3x4 of 1 value 7");
}

TEST_F(Observed, LaunchesAndTheirAccesses) {
  struct Count : exec::AccessHook {
    void on_access(exec::WarpContext&, const exec::WarpAccess& access) override {
      lanes += __builtin_popcount(access.mask);
      flags |= access.flags;
    }
    void on_block_enter(exec::WarpContext&, std::uint64_t, std::uint32_t) override {}
    void on_block_exit(exec::WarpContext&, std::uint64_t, std::uint32_t) override {}
    void on_device_malloc(exec::WarpContext&, std::uint64_t, std::uint32_t, const std::uint64_t*,
                          const std::uint64_t*) override {}
    void on_device_free(exec::WarpContext&, std::uint64_t, std::uint32_t,
                        const std::uint64_t*) override {}
    std::uint32_t wanted_spaces() const override {
      return 1u << static_cast<unsigned>(ptx::Space::kGlobal);
    }
    bool wants_blocks() const override { return false; }
    int lanes = 0;
    std::uint32_t flags = 0;
  } count;
  const CUfunction add = load(kAddPtx, "add");
  const CUdeviceptr address = allocate(40);
  recorder_.take();
  recorder_.with_calls = true;
  recorder_.hook = &count;
  ASSERT_CUDA(launch_add(add, address, 1, 10));
  EXPECT_EQ(recorder_.take(),
            "enter cuLaunchKernel add\n"
            "launch add grid 1 block 128\nlaunch ready add grid 1 block 128\n"
            "launch end add grid 1 block 128\n"
            "exit cuLaunchKernel add = 0");
  EXPECT_EQ(count.lanes, 20);
  EXPECT_EQ(count.flags, static_cast<std::uint32_t>(exec::kRead | exec::kWrite));
  recorder_.hook = nullptr;
  recorder_.with_calls = false;
}

TEST_F(Observed, StreamsEventsAndWaits) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  EXPECT_CUDA(cuStreamCreate(&stream, 0));
  EXPECT_CUDA(cuEventCreate(&event, 0));
  EXPECT_CUDA(cuEventRecord(event, stream));
  EXPECT_CUDA(cuStreamWaitEvent(nullptr, event, 0));
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_CUDA(cuStreamSynchronize(stream));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuEventDestroy(event));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_EQ(recorder_.take(),
            "stream\nevent created\nevent recorded\nevent waited for\nevent synchronized\n"
            "synchronize stream\nsynchronize context\nevent destroyed\nstream destroyed");
}

TEST_F(Observed, GraphsNodeByNode) {
  const CUfunction add = load(kAddPtx, "add");
  const CUdeviceptr address = allocate(4);
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  recorder_.take();
  ASSERT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuMemsetD32Async(address, 1, 1, stream));
  ASSERT_CUDA(launch_add(add, address, 1, 1, stream));
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(recorder_.take(), "");
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
  ASSERT_CUDA(cuGraphLaunch(exec, stream));
  ASSERT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_EQ(recorder_.take(),
            "graph created\ngraph launch\n"
            "graph node set 1\ngraph node end set 1\n"
            "graph node kernel add\ngraph node end kernel add\n"
            "graph launch end\ngraph destroying");
}

TEST_F(Observed, MemoryOfAGraphThatTheProgramFrees) {
  CUDA_MEM_ALLOC_NODE_PARAMS form{};
  form.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  form.bytesize = 100;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphCreate(&graph, 0));
  ASSERT_CUDA(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &form));
  ASSERT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
  ASSERT_CUDA(cuGraphLaunch(exec, nullptr));
  ASSERT_CUDA(cuMemFreeAsync(form.dptr, nullptr));
  EXPECT_EQ(recorder_.take(),
            "graph created\ngraph launch\ngraph node memory 100\ngraph node end memory 100\n"
            "graph launch end\nasync free 100");
}

TEST_F(Observed, ArraysAndPools) {
  CUDA_ARRAY_DESCRIPTOR descriptor{8, 4, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  ASSERT_CUDA(cuArrayCreate(&array, &descriptor));
  ASSERT_CUDA(cuArrayDestroy(array));
  CUmemPoolProps properties{};
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool = nullptr;
  ASSERT_CUDA(cuMemPoolCreate(&pool, &properties));
  ASSERT_CUDA(cuMemPoolDestroy(pool));
  EXPECT_EQ(recorder_.take(), "array 8x4\narray destroyed 8x4\npool\npool destroyed");
}

TEST_F(Observed, MemoryOfTheirOwnIsTheirs) {
  Machine& machine = *drgpum_emulator_machine();
  const std::uint64_t address = machine.allocate_device(context_, 64);
  ASSERT_NE(address, 0u);
  const int value = 77;
  EXPECT_TRUE(machine.copy_to_device(address, &value, sizeof value, nullptr));
  int back = 0;
  EXPECT_TRUE(machine.copy_to_host(&back, address, sizeof back, nullptr));
  EXPECT_EQ(back, 77);
  EXPECT_FALSE(machine.copy_to_host(&back, address + 62, sizeof back, nullptr));
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE) << "the program has no right to it";
  EXPECT_TRUE(machine.free_device(context_, address));
  EXPECT_FALSE(machine.free_device(context_, address));
  EXPECT_EQ(recorder_.take(), "");
}

TEST_F(Observed, CallsFromACallbackAreNotReported) {
  struct Caller : Observer {
    void on_memory(const MemoryEvent&) override {
      int count = 0;
      EXPECT_CUDA(cuDeviceGetCount(&count));
    }
  } caller;
  drgpum_emulator_machine()->add_observer(&caller);
  recorder_.with_calls = true;
  allocate(8);
  drgpum_emulator_machine()->remove_observer(&caller);
  EXPECT_EQ(recorder_.take(), "enter cuMemAlloc_v2\nalloc 8\nexit cuMemAlloc_v2 = 0");
}

// As the Sanitizer library does, in whose callbacks CUDA calls may hang on a GPU.
TEST_F(Observed, AnObserverMayForbidCallsThatGiveWork) {
  struct Caller : Observer {
    [[nodiscard]] bool forbids_calls() const override { return true; }
    void on_memory(const MemoryEvent&) override {
      int count = 0;
      EXPECT_CUDA(cuDeviceGetCount(&count));
      CUdeviceptr address = 0;
      EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_NOT_PERMITTED);
      EXPECT_EQ(cuMemsetD8(1, 0, 8), CUDA_ERROR_NOT_PERMITTED);
      EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                CUDA_ERROR_NOT_PERMITTED);
      asked = true;
    }
    bool asked = false;
  } caller;
  drgpum_emulator_machine()->add_observer(&caller);
  allocate(8);
  EXPECT_TRUE(caller.asked);
  drgpum_emulator_machine()->remove_observer(&caller);
  allocate(8);
}

}  // namespace
}  // namespace drgpum::emulator
