// SPDX-License-Identifier: Apache-2.0
// What a tool hears while programs run on the emulated device: libsanitizer-public.so, libcuda.so.1
// and libcudart.so.13 together, each used through its C interface.
#include <map>
#include <sstream>
#include <string>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "proto/sanitizer/abi.h"

namespace {

namespace abi = drgpum::sanitizer;

const char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry fill(.param .u64 out, .param .u32 value)
{
.reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [out];
ld.param.u32 %r1, [value];
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd1, %r0, 4, %rd0;
st.global.u32 [%rd1], %r1;
ret;
}
)";

// Handles and addresses by letters, in order of first mention.
class Letters {
 public:
  std::string of(const void* pointer) { return of(reinterpret_cast<std::uint64_t>(pointer)); }
  std::string of(std::uint64_t value) {
    if (value == 0) return "0";
    const auto [found, is_new] =
        letters_.try_emplace(value, static_cast<char>('a' + letters_.size()));
    return std::string(1, found->second);
  }

 private:
  std::map<std::uint64_t, char> letters_;
};

class Callbacks : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(cuInit(0), CUDA_SUCCESS); }

  void SetUp() override {
    void* library = dlopen("libsanitizer-public.so", RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto resolved = abi::resolve_api(library);
    ASSERT_TRUE(resolved) << resolved.error().message;
    api_ = *resolved;
    ASSERT_EQ(api_.subscribe(&subscriber_, hear, this), abi::Code::kSuccess);
    ASSERT_EQ(cuDeviceGet(&device_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, device_), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  }

  void TearDown() override {
    EXPECT_EQ(api_.unsubscribe(subscriber_), abi::Code::kSuccess);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
  }

  void listen(abi::Domain domain) {
    ASSERT_EQ(api_.enable_domain(1, subscriber_, domain), abi::Code::kSuccess);
  }

  std::string heard() {
    std::string text = text_.str();
    text_.str("");
    return text;
  }

  abi::SanitizerApi api_{};
  abi::Subscriber subscriber_ = nullptr;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  Letters letters_;

 private:
  static void hear(void* user, abi::Domain domain, std::uint32_t id, const void* data) {
    static_cast<Callbacks*>(user)->write(domain, id, data);
  }

  void write(abi::Domain domain, std::uint32_t id, const void* data);
  void write_resource(std::uint32_t id, const void* data);
  void write_memory(const char* what, const void* data);
  void write_graph(std::uint32_t id, const void* data);

  std::ostringstream text_;
};

void Callbacks::write_memory(const char* what, const void* data) {
  const auto& d = *static_cast<const abi::MemoryData*>(data);
  text_ << what << ' ' << letters_.of(d.address) << '+' << d.size;
  if (d.flags != 0) text_ << " flags " << d.flags;
  if (d.pool != nullptr) text_ << " of a pool";
  text_ << '\n';
}

void Callbacks::write_resource(std::uint32_t id, const void* data) {
  switch (id) {
    case abi::kContextCreationStarting:
      text_ << "context starts\n";
      break;
    case abi::kContextCreationFinished:
      text_ << "context is there\n";
      break;
    case abi::kContextDestroyStarting:
      text_ << "context goes\n";
      break;
    case abi::kContextDestroyFinished:
      text_ << "context is gone\n";
      break;
    case abi::kStreamCreated:
      text_ << "stream created\n";
      break;
    case abi::kStreamDestroyStarting:
      text_ << "stream goes\n";
      break;
    case abi::kStreamDestroyFinished:
      text_ << "stream is gone\n";
      break;
    case abi::kModuleLoaded: {
      const auto& d = *static_cast<const abi::ModuleData*>(data);
      const bool has_kernel =
          std::string_view(d.image, d.image_size).find("fill") != std::string_view::npos;
      text_ << "module loaded" << (has_kernel ? " with fill" : "") << '\n';
      break;
    }
    case abi::kModuleUnloadStarting:
      text_ << "module goes\n";
      break;
    case abi::kDeviceMemoryAlloc:
      write_memory("alloc", data);
      break;
    case abi::kDeviceMemoryFree:
      write_memory("free", data);
      break;
    case abi::kHostMemoryAlloc:
      write_memory("host alloc", data);
      break;
    case abi::kHostMemoryFree:
      write_memory("host free", data);
      break;
    case abi::kMemoryAllocAsync:
      write_memory("async alloc", data);
      break;
    case abi::kMemoryFreeAsync:
      write_memory("async free", data);
      break;
    case abi::kMemoryFreeAsyncDone:
      write_memory("async free done", data);
      break;
    case abi::kPoolCreated:
      text_ << "pool created\n";
      break;
    case abi::kPoolDestroying:
      text_ << "pool goes\n";
      break;
    case abi::kArrayCreated: {
      const auto& d = *static_cast<const abi::ArrayData*>(data);
      text_ << "array " << d.width << 'x' << d.height << 'x' << d.depth << '\n';
      break;
    }
    case abi::kArrayDestroyed:
      text_ << "array is gone\n";
      break;
    default:
      text_ << "resource " << id << '\n';
  }
}

void Callbacks::write_graph(std::uint32_t id, const void* data) {
  switch (id) {
    case abi::kGraphExecCreating:
      text_ << "graph starts\n";
      break;
    case abi::kGraphExecCreated:
      text_ << "graph is there\n";
      break;
    case abi::kGraphExecDestroying:
      text_ << "graph goes\n";
      break;
    case abi::kGraphLaunchBegin:
      text_ << "graph launch\n";
      break;
    case abi::kGraphLaunchEnd:
      text_ << "graph launched\n";
      break;
    default: {
      const auto& d = *static_cast<const abi::GraphNodeData*>(data);
      text_ << (id == abi::kGraphNodeLaunchBegin ? "node type " : "end of node type ")
            << d.node_type;
      if (d.node_type == 0)
        text_ << ' ' << d.launch.function_name << " block " << d.launch.block[0];
      if (d.node_type == 2) text_ << " set " << d.set.width << 'x' << d.set.element_size;
      text_ << '\n';
    }
  }
}

void Callbacks::write(abi::Domain domain, std::uint32_t id, const void* data) {
  switch (domain) {
    case abi::Domain::kDriverApi:
    case abi::Domain::kRuntimeApi: {
      const auto& d = *static_cast<const abi::ApiData*>(data);
      text_ << (d.site == abi::ApiSite::kEnter ? "> " : "< ") << d.function_name << '\n';
      break;
    }
    case abi::Domain::kResource:
      write_resource(id, data);
      break;
    case abi::Domain::kLaunch: {
      const auto& d = *static_cast<const abi::LaunchData*>(data);
      constexpr const char* kPhases[] = {"", "launch", "set up", "launched"};
      text_ << kPhases[id] << ' ' << d.function_name << " grid " << d.grid[0] << " block "
            << d.block[0] << '\n';
      break;
    }
    case abi::Domain::kMemcpy: {
      const auto& d = *static_cast<const abi::MemcpyData*>(data);
      text_ << "copy direction " << static_cast<unsigned>(d.direction) << " size " << d.size
            << " async " << d.is_async << '\n';
      break;
    }
    case abi::Domain::kMemset: {
      const auto& d = *static_cast<const abi::MemsetData*>(data);
      text_ << "set " << letters_.of(d.address) << ' ' << d.width << 'x' << d.element_size
            << " rows " << d.height << " to " << d.value << " async " << d.is_async << '\n';
      break;
    }
    case abi::Domain::kSynchronize:
      text_ << (id == abi::kStreamSynchronized ? "stream" : "context") << " synchronised\n";
      break;
    case abi::Domain::kEvents: {
      constexpr const char* kActions[] = {"",         "created",    "is gone",
                                          "recorded", "waited for", "synchronised"};
      text_ << "event " << kActions[id] << '\n';
      break;
    }
    case abi::Domain::kGraphs:
      write_graph(id, data);
      break;
    case abi::Domain::kManaged:
      text_ << "managed memory attached\n";
      break;
    default:
      text_ << "domain " << static_cast<unsigned>(domain) << '\n';
  }
}

TEST_F(Callbacks, EveryAllocationIsToldWithSizeAndKind) {
  listen(abi::Domain::kResource);
  CUdeviceptr plain = 0;
  CUdeviceptr managed = 0;
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAlloc(&plain, 1000), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemHostAlloc(&pinned, 128, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(plain), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(managed), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(heard(),
            "alloc a+1000\nalloc b+64 flags 2\nhost alloc c+128 flags 12\n"
            "free a+1000\nfree b+64 flags 2\nhost free c+128 flags 12\n");
}

TEST_F(Callbacks, StreamOrderedMemoryBelongsToAPool) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  listen(abi::Domain::kResource);
  CUdeviceptr block = 0;
  ASSERT_EQ(cuMemAllocAsync(&block, 256, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(block, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(
      heard(),
      "async alloc a+256 of a pool\nasync free a+256 of a pool\nstream goes\nstream is gone\n");
}

TEST_F(Callbacks, AModuleIsToldWithItsVariablesBeforeItsKernelRuns) {
  listen(abi::Domain::kResource);
  listen(abi::Domain::kLaunch);
  listen(abi::Domain::kSynchronize);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  ASSERT_EQ(cuModuleLoadData(&module, kPtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "fill"), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&out, 4096), CUDA_SUCCESS);
  unsigned value = 7;
  void* arguments[] = {&out, &value};
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(out), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(heard(),
            "module loaded with fill\nalloc a+4 flags 1\nalloc b+4096\n"
            "launch fill grid 1 block 32\nset up fill grid 1 block 32\n"
            "launched fill grid 1 block 32\ncontext synchronised\nfree b+4096\n"
            "module goes\nfree a+4 flags 1\n");
}

TEST_F(Callbacks, CopiesAndSetsTellTheirDirectionAndBytes) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
  letters_.of(memory);
  char host[64] = {};
  listen(abi::Domain::kMemcpy);
  listen(abi::Domain::kMemset);
  ASSERT_EQ(cuMemcpyHtoD(memory, host, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(host, memory, 32), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoD(memory + 1024, memory, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync(host, memory, 8, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(memory, 5, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD2D8(memory, 256, 1, 100, 3), CUDA_SUCCESS);
  EXPECT_EQ(heard(),
            "copy direction 2 size 64 async 0\ncopy direction 3 size 32 async 0\n"
            "copy direction 4 size 16 async 0\ncopy direction 3 size 8 async 1\n"
            "set a 16x4 rows 1 to 5 async 0\nset a 100x1 rows 3 to 1 async 0\n");
  cuMemFree(memory);
}

TEST_F(Callbacks, EventsTellEveryStep) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  listen(abi::Domain::kEvents);
  listen(abi::Domain::kSynchronize);
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(nullptr, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(heard(),
            "event created\nevent recorded\nevent waited for\nevent synchronised\n"
            "stream synchronised\nevent is gone\n");
  cuStreamDestroy(stream);
}

TEST_F(Callbacks, ARuntimeCallEnclosesItsDriverCall) {
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // the runtime has set itself up
  listen(abi::Domain::kRuntimeApi);
  listen(abi::Domain::kResource);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(heard(),
            "> cudaMalloc\nalloc a+100\n< cudaMalloc\n> cudaFree\nfree a+100\n< cudaFree\n");
}

TEST_F(Callbacks, AGraphTellsItsNodesAtEachLaunch) {
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  listen(abi::Domain::kGraphs);
  listen(abi::Domain::kMemset);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 1, 8, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(heard(),
            "graph starts\ngraph is there\ngraph launch\nnode type 2 set 8x4\n"
            "end of node type 2 set 8x4\ngraph launched\ngraph goes\n");
  cuGraphDestroy(graph);
  cuStreamDestroy(stream);
  cuMemFree(memory);
}

TEST_F(Callbacks, AToolsOwnMemoryIsNotTold) {
  listen(abi::Domain::kResource);
  listen(abi::Domain::kMemcpy);
  listen(abi::Domain::kMemset);
  void* device = nullptr;
  void* host = nullptr;
  ASSERT_EQ(api_.alloc(context_, &device, 256), abi::Code::kSuccess);
  ASSERT_EQ(api_.alloc_host(context_, &host, 256), abi::Code::kSuccess);
  abi::StreamHandle stream = nullptr;
  ASSERT_EQ(api_.get_stream_handle(context_, nullptr, &stream), abi::Code::kSuccess);
  ASSERT_EQ(api_.memset(device, 5, 256, stream), abi::Code::kSuccess);
  ASSERT_EQ(api_.memcpy_device_to_host(host, device, 256, stream), abi::Code::kSuccess);
  EXPECT_EQ(static_cast<const char*>(host)[255], 5);
  static_cast<char*>(host)[0] = 9;
  ASSERT_EQ(api_.memcpy_host_to_device_async(device, host, 1, stream), abi::Code::kSuccess);
  ASSERT_EQ(api_.stream_synchronize(stream), abi::Code::kSuccess);
  ASSERT_EQ(api_.free_host(context_, host), abi::Code::kSuccess);
  ASSERT_EQ(api_.free(context_, device), abi::Code::kSuccess);
  EXPECT_EQ(api_.free(context_, device), abi::Code::kInvalidParameter);
  EXPECT_EQ(heard(), "");
}

TEST_F(Callbacks, CodeIsFoundWhereThePatchSeesIt) {
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kPtx), CUDA_SUCCESS);
  std::uint64_t pc = 0;
  std::uint64_t size = 0;
  EXPECT_EQ(api_.get_function_pc_and_size(module, "fill", &pc, &size), abi::Code::kSuccess);
  EXPECT_NE(pc, 0U);
  EXPECT_EQ(size, 6U * 16U);
  EXPECT_EQ(api_.get_function_pc_and_size(module, "drain", &pc, &size),
            abi::Code::kInvalidParameter);
  cuModuleUnload(module);
}

}  // namespace
