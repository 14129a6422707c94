// SPDX-License-Identifier: Apache-2.0
// Graphs: built by hand, recorded from streams, replayed.

#include <atomic>

#include "fixture.h"

namespace drgpum::emulator {
namespace {

class Graphs : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    add_ = load(kAddPtx, "add");
  }

  static CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
  }

  static std::size_t count_nodes(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_CUDA(cuGraphGetNodes(graph, nullptr, &count));
    return count;
  }

  static std::size_t count_edges(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_CUDA(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
  }

  CUstream stream_ = nullptr;
  CUfunction add_ = nullptr;
};

TEST_F(Graphs, RecordAStreamWithoutRunningIt) {
  const CUdeviceptr address = upload<unsigned>({5});
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_CUDA(cuStreamIsCapturing(stream_, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_CUDA(cuMemsetD32Async(address, 1, 1, stream_));
  EXPECT_CUDA(launch_add(add_, address, 10, 1, stream_));
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(download<unsigned>(address, 1)[0], 5u);
  EXPECT_EQ(count_nodes(graph), 2u);
  EXPECT_EQ(count_edges(graph), 1u);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_CUDA(cuGraphDestroy(graph));
  for (int i = 0; i < 3; ++i) {
    EXPECT_CUDA(cuGraphLaunch(exec, stream_));
    EXPECT_CUDA(cuStreamSynchronize(stream_));
    EXPECT_EQ(download<unsigned>(address, 1)[0], 11u);
  }
  EXPECT_CUDA(cuGraphExecDestroy(exec));
}

TEST_F(Graphs, DrawInStreamsThatWaitForTheirEvents) {
  const CUdeviceptr address = upload<unsigned>({0, 0});
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CUevent fork = nullptr, join = nullptr;
  ASSERT_CUDA(cuEventCreate(&fork, 0));
  ASSERT_CUDA(cuEventCreate(&join, 0));
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuMemsetD32Async(address, 1, 2, stream_));
  EXPECT_CUDA(cuEventRecord(fork, stream_));
  EXPECT_CUDA(cuStreamWaitEvent(other, fork, 0));
  EXPECT_CUDA(launch_add(add_, address + 4, 20, 1, other));
  EXPECT_CUDA(launch_add(add_, address, 10, 1, stream_));
  EXPECT_CUDA(cuEventRecord(join, other));
  EXPECT_CUDA(cuStreamWaitEvent(stream_, join, 0));
  EXPECT_CUDA(cuStreamDestroy(other)) << "its work is joined";
  EXPECT_CUDA(launch_add(add_, address, 100, 2, stream_));
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(count_nodes(graph), 4u);
  EXPECT_EQ(count_edges(graph), 4u);
  EXPECT_CUDA(cuGraphLaunch(instantiate(graph), stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(download<unsigned>(address, 2), (std::vector<unsigned>{111, 121}));
}

TEST_F(Graphs, WithLooseEndsAreRefused) {
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CUevent fork = nullptr;
  ASSERT_CUDA(cuEventCreate(&fork, 0));
  const CUdeviceptr address = allocate(4);
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuEventRecord(fork, stream_));
  EXPECT_CUDA(cuStreamWaitEvent(other, fork, 0));
  EXPECT_CUDA(cuMemsetD32Async(address, 1, 1, other));
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(Graphs, RunNodesInTheOrderOfTheirEdges) {
  const CUdeviceptr address = upload<unsigned>({3});
  unsigned back = 0;
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuGraphCreate(&graph, 0));

  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = address;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = &back;
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  CUgraphNode copied = nullptr;
  ASSERT_CUDA(cuGraphAddMemcpyNode(&copied, graph, nullptr, 0, &copy, context_));

  CUdeviceptr p = address;
  unsigned value = 4, count = 1;
  void* arguments[] = {&p, &value, &count};
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = add_;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = 32;
  kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = arguments;
  CUgraphNode added = nullptr;
  ASSERT_CUDA(cuGraphAddKernelNode(&added, graph, nullptr, 0, &kernel));
  ASSERT_CUDA(cuGraphAddDependencies(graph, &added, &copied, nullptr, 1));

  const CUgraphExec exec = instantiate(graph);
  EXPECT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(back, 7u);

  value = 10;
  ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, added, &kernel));
  EXPECT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(back, 17u);

  ASSERT_CUDA(cuGraphAddDependencies(graph, &copied, &added, nullptr, 1));
  CUgraphExec cycle = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&cycle, graph, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, GiveTheirMemoryTheSameAddressEachTime) {
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUdeviceptr address = 0;
  EXPECT_CUDA(cuMemAllocAsync(&address, 100, stream_));
  EXPECT_CUDA(cuMemsetD8Async(address, 1, 100, stream_));
  EXPECT_CUDA(cuMemFreeAsync(address, stream_));
  ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(count_nodes(graph), 3u);
  const CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 2; ++i)
    EXPECT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_EQ(cuMemsetD8(address, 1, 100), CUDA_ERROR_INVALID_VALUE) << "freed by the graph";
  cuuint64_t used = 1;
  EXPECT_CUDA(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 0u);
}

TEST_F(Graphs, LeaveMemoryForTheProgramToFree) {
  CUDA_MEM_ALLOC_NODE_PARAMS form{};
  form.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  form.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  form.bytesize = 100;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  ASSERT_CUDA(cuGraphCreate(&graph, 0));
  ASSERT_CUDA(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &form));
  const CUgraphExec exec = instantiate(graph);
  for (const bool in_stream : {false, true}) {
    ASSERT_CUDA(cuGraphLaunch(exec, stream_));
    EXPECT_CUDA(cuMemsetD8Async(form.dptr, 1, 100, stream_));
    EXPECT_EQ(cuGraphLaunch(exec, stream_), CUDA_ERROR_INVALID_VALUE) << "still allocated";
    EXPECT_CUDA(in_stream ? cuMemFreeAsync(form.dptr, stream_) : cuMemFree(form.dptr));
    EXPECT_EQ(cuMemFree(form.dptr), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(Graphs, RunHostFunctionsAndChildrenInTheirPlace) {
  std::vector<int> seen;
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = [](void* data) { static_cast<std::vector<int>*>(data)->push_back(1); };
  host.userData = &seen;
  CUgraph child = nullptr, graph = nullptr;
  CUgraphNode node = nullptr, first = nullptr;
  ASSERT_CUDA(cuGraphCreate(&child, 0));
  ASSERT_CUDA(cuGraphAddHostNode(&node, child, nullptr, 0, &host));
  ASSERT_CUDA(cuGraphCreate(&graph, 0));
  ASSERT_CUDA(cuGraphAddChildGraphNode(&first, graph, nullptr, 0, child));
  ASSERT_CUDA(cuGraphAddHostNode(&node, graph, &first, 1, &host));
  EXPECT_CUDA(cuGraphLaunch(instantiate(graph), stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(Graphs, KeepObjectsOfTheProgramAlive) {
  std::atomic<int> destroyed{0};
  CUuserObject object = nullptr;
  ASSERT_CUDA(cuUserObjectCreate(
      &object, &destroyed, [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuGraphCreate(&graph, 0));
  ASSERT_CUDA(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  const CUgraphExec exec = instantiate(graph);
  ASSERT_CUDA(cuGraphDestroy(graph));
  EXPECT_EQ(destroyed, 0);
  ASSERT_CUDA(cuGraphExecDestroy(exec));
  ASSERT_CUDA(cuLaunchHostFunc(
      stream_, [](void*) {}, nullptr));  // runs after it
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, AreUpdatedOnlyByGraphsOfTheSameShape) {
  const CUdeviceptr address = upload<unsigned>({0});
  const auto graph_of = [&](unsigned value, bool twice) {
    CUDA_MEMSET_NODE_PARAMS set{};
    set.dst = address;
    set.value = value;
    set.elementSize = 4;
    set.width = set.height = 1;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    EXPECT_CUDA(cuGraphCreate(&graph, 0));
    EXPECT_CUDA(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &set, nullptr));
    if (twice) {
      EXPECT_CUDA(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
    }
    return graph;
  };
  const CUgraphExec exec = instantiate(graph_of(1, false));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_CUDA(cuGraphExecUpdate(exec, graph_of(2, false), &info));
  EXPECT_CUDA(cuGraphLaunch(exec, stream_));
  EXPECT_EQ(download<unsigned>(address, 1)[0], 2u);
  EXPECT_EQ(cuGraphExecUpdate(exec, graph_of(3, true), &info),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

}  // namespace
}  // namespace drgpum::emulator
