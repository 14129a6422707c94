// SPDX-License-Identifier: Apache-2.0
// Our declarations of the Sanitizer interface agree with NVIDIA's header, whichever release the
// build found: enumerators, offsets and sizes at compile time, so that a mismatch does not build.
#include <cstddef>

#include <gtest/gtest.h>
#include <sanitizer.h>

#include "proto/sanitizer/abi.h"

namespace ours = drgpum::sanitizer;

namespace {

template <typename A, typename B>
constexpr bool equal(A a, B b) {
  return static_cast<std::uint64_t>(a) == static_cast<std::uint64_t>(b);
}

// 11.8 numbers the same events otherwise: compare what callback_ids.h makes of our numbers.
constexpr ours::Generation kHeader = equal(SANITIZER_CBID_RESOURCE_MODULE_LOADED, 8)
                                         ? ours::Generation::kCuda11_8
                                         : ours::Generation::kCuda12_4;
constexpr bool kNew = kHeader != ours::Generation::kCuda11_8;

#define SAME_ID(domain, mine, theirs) \
  static_assert(equal(ours::native_id(kHeader, ours::Domain::domain, ours::mine), theirs))
#define SAME(mine, theirs) static_assert(equal(ours::mine, theirs))
#define SAME_AT(mine, field, theirs, their_field) \
  static_assert(offsetof(ours::mine, field) == offsetof(theirs, their_field))
#define SAME_SIZE(mine, theirs) static_assert(sizeof(ours::mine) == sizeof(theirs))

SAME(Domain::kDriverApi, SANITIZER_CB_DOMAIN_DRIVER_API);
SAME(Domain::kRuntimeApi, SANITIZER_CB_DOMAIN_RUNTIME_API);
SAME(Domain::kResource, SANITIZER_CB_DOMAIN_RESOURCE);
SAME(Domain::kSynchronize, SANITIZER_CB_DOMAIN_SYNCHRONIZE);
SAME(Domain::kLaunch, SANITIZER_CB_DOMAIN_LAUNCH);
SAME(Domain::kMemcpy, SANITIZER_CB_DOMAIN_MEMCPY);
SAME(Domain::kMemset, SANITIZER_CB_DOMAIN_MEMSET);
SAME(Domain::kBatchMemop, SANITIZER_CB_DOMAIN_BATCH_MEMOP);
SAME(Domain::kManaged, SANITIZER_CB_DOMAIN_UVM);
SAME(Domain::kGraphs, SANITIZER_CB_DOMAIN_GRAPHS);
SAME(Domain::kEvents, SANITIZER_CB_DOMAIN_EVENTS);

SAME_ID(kResource, kInitFinished, SANITIZER_CBID_RESOURCE_INIT_FINISHED);
SAME_ID(kResource, kContextCreationStarting, SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_STARTING);
SAME_ID(kResource, kContextCreationFinished, SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_FINISHED);
SAME_ID(kResource, kContextDestroyStarting, SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME_ID(kResource, kContextDestroyFinished, SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_FINISHED);
SAME_ID(kResource, kStreamCreated, SANITIZER_CBID_RESOURCE_STREAM_CREATED);
SAME_ID(kResource, kStreamDestroyStarting, SANITIZER_CBID_RESOURCE_STREAM_DESTROY_STARTING);
SAME_ID(kResource, kModuleLoaded, SANITIZER_CBID_RESOURCE_MODULE_LOADED);
SAME_ID(kResource, kModuleUnloadStarting, SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
SAME_ID(kResource, kDeviceMemoryAlloc, SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC);
SAME_ID(kResource, kDeviceMemoryFree, SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE);
SAME_ID(kResource, kHostMemoryAlloc, SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC);
SAME_ID(kResource, kHostMemoryFree, SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE);
SAME_ID(kResource, kMemoryAllocAsync, SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC);
SAME_ID(kResource, kMemoryFreeAsync, SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC);
SAME_ID(kResource, kMemoryFreeAsyncDone, SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC_DONE);
SAME_ID(kResource, kPoolCreated, SANITIZER_CBID_RESOURCE_MEMPOOL_CREATED);
SAME_ID(kResource, kPoolDestroying, SANITIZER_CBID_RESOURCE_MEMPOOL_DESTROYING);
SAME_ID(kResource, kPoolPeerAccessEnabled, SANITIZER_CBID_RESOURCE_MEMPOOL_PEER_ACCESS_ENABLED);
SAME_ID(kResource, kPoolPeerAccessDisabling, SANITIZER_CBID_RESOURCE_MEMPOOL_PEER_ACCESS_DISABLING);
SAME_ID(kResource, kArrayCreated, SANITIZER_CBID_RESOURCE_ARRAY_CREATED);
SAME_ID(kResource, kArrayDestroyed, SANITIZER_CBID_RESOURCE_ARRAY_DESTROYED);
SAME_ID(kResource, kFunctionsLazyLoaded, SANITIZER_CBID_RESOURCE_FUNCTIONS_LAZY_LOADED);

SAME_ID(kSynchronize, kStreamSynchronized, SANITIZER_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
SAME_ID(kSynchronize, kContextSynchronized, SANITIZER_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
SAME_ID(kLaunch, kLaunchBegin, SANITIZER_CBID_LAUNCH_BEGIN);
SAME_ID(kLaunch, kLaunchAfterSyscallSetup, SANITIZER_CBID_LAUNCH_AFTER_SYSCALL_SETUP);
SAME_ID(kLaunch, kLaunchEnd, SANITIZER_CBID_LAUNCH_END);
SAME_ID(kMemcpy, kMemcpyStarting, SANITIZER_CBID_MEMCPY_STARTING);
SAME_ID(kMemset, kMemsetStarting, SANITIZER_CBID_MEMSET_STARTING);
SAME_ID(kBatchMemop, kBatchWrite, SANITIZER_CBID_BATCH_MEMOP_WRITE);
SAME_ID(kManaged, kAttachMemory, SANITIZER_CBID_UVM_ATTACH_MEM);
SAME_ID(kGraphs, kGraphExecCreated, SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATED);
SAME_ID(kGraphs, kGraphNodeLaunchBegin, SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN);
SAME_ID(kGraphs, kGraphNodeLaunchEnd, SANITIZER_CBID_GRAPHS_NODE_LAUNCH_END);
SAME_ID(kGraphs, kGraphLaunchBegin, SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN);
SAME_ID(kGraphs, kGraphLaunchEnd, SANITIZER_CBID_GRAPHS_LAUNCH_END);
SAME_ID(kEvents, kEventCreated, SANITIZER_CBID_EVENTS_CREATED);
SAME_ID(kEvents, kEventDestroyed, SANITIZER_CBID_EVENTS_DESTROYED);
SAME_ID(kEvents, kEventRecord, SANITIZER_CBID_EVENTS_RECORD);
SAME_ID(kEvents, kEventStreamWait, SANITIZER_CBID_EVENTS_STREAM_WAIT);
SAME_ID(kEvents, kEventSynchronize, SANITIZER_CBID_EVENTS_SYNCHRONIZE);

SAME_SIZE(ApiData, Sanitizer_CallbackData);
SAME_AT(ApiData, function_name, Sanitizer_CallbackData, functionName);
SAME_AT(ApiData, parameters, Sanitizer_CallbackData, functionParams);
SAME_AT(ApiData, return_value, Sanitizer_CallbackData, functionReturnValue);
SAME_AT(ApiData, symbol_name, Sanitizer_CallbackData, symbolName);
SAME_AT(ApiData, context, Sanitizer_CallbackData, context);
SAME_SIZE(ContextData, Sanitizer_ResourceContextData);
SAME_AT(ContextData, device, Sanitizer_ResourceContextData, device);
SAME_SIZE(StreamData, Sanitizer_ResourceStreamData);
SAME_AT(StreamData, stream_handle, Sanitizer_ResourceStreamData, hStream);
SAME_AT(ModuleData, module, Sanitizer_ResourceModuleData, module);
SAME_AT(ModuleData, image_size, Sanitizer_ResourceModuleData, cubinSize);
SAME_AT(ModuleData, image, Sanitizer_ResourceModuleData, pCubin);
SAME_SIZE(MemoryData, Sanitizer_ResourceMemoryData);
SAME_AT(MemoryData, context, Sanitizer_ResourceMemoryData, context);
SAME_AT(MemoryData, device, Sanitizer_ResourceMemoryData, device);
SAME_AT(MemoryData, stream, Sanitizer_ResourceMemoryData, stream);
SAME_AT(MemoryData, stream_handle, Sanitizer_ResourceMemoryData, hStream);
SAME_AT(MemoryData, pool, Sanitizer_ResourceMemoryData, memoryPool);
SAME_AT(MemoryData, flags, Sanitizer_ResourceMemoryData, flags);
SAME_AT(MemoryData, permissions, Sanitizer_ResourceMemoryData, permissions);
SAME_AT(MemoryData, visibility, Sanitizer_ResourceMemoryData, visibility);
SAME_AT(MemoryData, source_device, Sanitizer_ResourceMemoryData, sourceDevice);
SAME_SIZE(PoolData, Sanitizer_ResourceMempoolData);
SAME_AT(PoolData, peer_device, Sanitizer_ResourceMempoolData, peerDevice);
SAME_SIZE(ArrayData, Sanitizer_ResourceArrayData);
SAME_AT(ArrayData, depth, Sanitizer_ResourceArrayData, depth);
SAME_SIZE(LazyFunctionsData, Sanitizer_ResourceFunctionsLazyLoadedData);
SAME_AT(LazyFunctionsData, function_count, Sanitizer_ResourceFunctionsLazyLoadedData, numFunctions);
SAME_SIZE(SynchronizeData, Sanitizer_SynchronizeData);
SAME_AT(SynchronizeData, stream_handle, Sanitizer_SynchronizeData, hStream);
SAME_AT(LaunchData, stream_handle, Sanitizer_LaunchData, hStream);
SAME_AT(LaunchData, module, Sanitizer_LaunchData, module);
SAME_AT(LaunchData, function, Sanitizer_LaunchData, function);
SAME_AT(LaunchData, function_name, Sanitizer_LaunchData, functionName);
SAME_AT(LaunchData, grid, Sanitizer_LaunchData, gridDim_x);
SAME_AT(LaunchData, block, Sanitizer_LaunchData, blockDim_x);
SAME_AT(LaunchData, cluster, Sanitizer_LaunchData, clusterDim_x);
SAME_AT(LaunchData, grid_id, Sanitizer_LaunchData, gridId);
SAME_AT(LaunchData, launch, Sanitizer_LaunchData, hLaunch);
SAME_AT(LaunchData, device, Sanitizer_LaunchData, device);
SAME_AT(MemcpyData, source_stream_handle, Sanitizer_MemcpyData, hSrcStream);
SAME_AT(MemcpyData, destination_stream, Sanitizer_MemcpyData, dstStream);
SAME_AT(MemcpyData, source_address, Sanitizer_MemcpyData, srcAddress);
SAME_AT(MemcpyData, destination_address, Sanitizer_MemcpyData, dstAddress);
SAME_AT(MemcpyData, size, Sanitizer_MemcpyData, size);
SAME_AT(MemcpyData, width, Sanitizer_MemcpyData, width);
SAME_AT(MemcpyData, depth, Sanitizer_MemcpyData, depth);
SAME_AT(MemcpyData, source_pitch, Sanitizer_MemcpyData, srcPitch);
SAME_AT(MemcpyData, destination_pitch, Sanitizer_MemcpyData, dstPitch);
SAME_AT(MemcpyData, is_async, Sanitizer_MemcpyData, isAsync);
SAME_AT(MemcpyData, direction, Sanitizer_MemcpyData, direction);
SAME(CopyDirection::kHostToHost, SANITIZER_MEMCPY_DIRECTION_HOST_TO_HOST);
SAME(CopyDirection::kHostToDevice, SANITIZER_MEMCPY_DIRECTION_HOST_TO_DEVICE);
SAME(CopyDirection::kDeviceToHost, SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_HOST);
SAME(CopyDirection::kDeviceToDevice, SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_DEVICE);
SAME_SIZE(MemsetData, Sanitizer_MemsetData);
SAME_AT(MemsetData, address, Sanitizer_MemsetData, address);
SAME_AT(MemsetData, pitch, Sanitizer_MemsetData, pitch);
SAME_AT(MemsetData, element_size, Sanitizer_MemsetData, elementSize);
SAME_AT(MemsetData, is_async, Sanitizer_MemsetData, isAsync);
SAME_SIZE(BatchMemopData, Sanitizer_BatchMemopData);
SAME_AT(BatchMemopData, value, Sanitizer_BatchMemopData, value);
SAME_SIZE(ManagedData, Sanitizer_UvmData);
SAME_AT(ManagedData, address, Sanitizer_UvmData, address);
SAME_AT(GraphNodeData, launch_id, Sanitizer_GraphNodeLaunchData, launchId);
SAME_AT(GraphNodeData, node, Sanitizer_GraphNodeLaunchData, node);
SAME_AT(GraphNodeData, node_type, Sanitizer_GraphNodeLaunchData, nodeType);
SAME_AT(GraphNodeData, launch, Sanitizer_GraphNodeLaunchData, launchData);
SAME_SIZE(GraphLaunchData, Sanitizer_GraphLaunchData);
SAME_AT(GraphLaunchData, exec, Sanitizer_GraphLaunchData, graphExec);
SAME_AT(GraphLaunchData, is_upload, Sanitizer_GraphLaunchData, isGraphUpload);
SAME_SIZE(EventData, Sanitizer_EventData);
SAME_AT(EventData, context, Sanitizer_EventData, context);
SAME_AT(EventData, stream_handle, Sanitizer_EventData, hStream);

SAME(kMemoryOfModule, SANITIZER_MEMORY_FLAG_MODULE);
SAME(kMemoryManaged, SANITIZER_MEMORY_FLAG_MANAGED);
SAME(kMemoryHostMapped, SANITIZER_MEMORY_FLAG_HOST_MAPPED);
SAME(kMemoryHostPinned, SANITIZER_MEMORY_FLAG_HOST_PINNED);
SAME(kMemoryPeer, SANITIZER_MEMORY_FLAG_PEER);
SAME(kMemoryPeerAtomic, SANITIZER_MEMORY_FLAG_PEER_ATOMIC);
SAME(kMemoryCooperativeRuntime, SANITIZER_MEMORY_FLAG_CG_RUNTIME);
SAME(kMemoryDynamicParallelism, SANITIZER_MEMORY_FLAG_CNP);
SAME(kMayAll, SANITIZER_MEMORY_PERMISSION_ALL);
SAME(Visibility::kStream, SANITIZER_MEMORY_VISIBILITY_STREAM);

SAME(Instruction::kBlockEnter, SANITIZER_INSTRUCTION_BLOCK_ENTER);
SAME(Instruction::kBlockExit, SANITIZER_INSTRUCTION_BLOCK_EXIT);
SAME(Instruction::kGlobalAccess, SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS);
SAME(Instruction::kSharedAccess, SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS);
SAME(Instruction::kLocalAccess, SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS);
SAME(Instruction::kDeviceMalloc, SANITIZER_INSTRUCTION_DEVICE_SIDE_MALLOC);
SAME(Instruction::kDeviceFree, SANITIZER_INSTRUCTION_DEVICE_SIDE_FREE);
SAME(Instruction::kAsyncCopy, SANITIZER_INSTRUCTION_MEMCPY_ASYNC);
SAME(Instruction::kRemoteSharedAccess, SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS);
SAME(kAccessRead, SANITIZER_MEMORY_DEVICE_FLAG_READ);
SAME(kAccessWrite, SANITIZER_MEMORY_DEVICE_FLAG_WRITE);
SAME(kAccessAtomicSystem, SANITIZER_MEMORY_DEVICE_FLAG_ATOMSYS);
SAME(PatchResult::kExitWarp, SANITIZER_PATCH_ERROR);

SAME(Code::kMaxLimitReached, SANITIZER_ERROR_MAX_LIMIT_REACHED);
SAME(Code::kNotInitialized, SANITIZER_ERROR_NOT_INITIALIZED);
SAME(Code::kNotSupported, SANITIZER_ERROR_NOT_SUPPORTED);
SAME(Code::kAddressNotInDeviceMemory, SANITIZER_ERROR_ADDRESS_NOT_IN_DEVICE_MEMORY);
SAME(Code::kUnknown, SANITIZER_ERROR_UNKNOWN);
SAME(LoadedStatus::kLoaded, SANITIZER_FUNCTION_LOADED);

// What 11.8 lacks or lays out otherwise. The headers define no version; CMake looks for the words.
#ifdef DRGPUM_HEADER_OF_12_4
SAME(Domain::kExternalMemory, SANITIZER_CB_DOMAIN_EXTERNAL_MEMORY);
SAME_ID(kResource, kStreamDestroyFinished, SANITIZER_CBID_RESOURCE_STREAM_DESTROY_FINISHED);
SAME_ID(kResource, kFunctionsLazyPatched, SANITIZER_CBID_RESOURCE_FUNCTIONS_LAZY_PATCHED);
SAME_ID(kResource, kVirtualReserve, SANITIZER_CBID_RESOURCE_VIRTUAL_RESERVE);
SAME_ID(kResource, kVirtualRelease, SANITIZER_CBID_RESOURCE_VIRTUAL_RELEASE);
SAME_ID(kResource, kPoolImportPointer, SANITIZER_CBID_RESOURCE_MEMPOOL_IMPORT_POINTER);
SAME_ID(kGraphs, kGraphExecCreating, SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATING);
SAME_ID(kGraphs, kGraphExecDestroying, SANITIZER_CBID_GRAPHS_GRAPHEXEC_DESTROYING);
SAME_ID(kExternalMemory, kExternalImport, SANITIZER_CBID_EXTERNAL_MEMORY_IMPORT);
SAME_ID(kExternalMemory, kExternalDestroyed, SANITIZER_CBID_EXTERNAL_MEMORY_DESTROYED);
SAME_AT(ModuleData, library, Sanitizer_ResourceModuleData, library);
SAME_AT(LaunchData, api_context, Sanitizer_LaunchData, apiContext);
SAME_AT(MemcpyData, api_stream_handle, Sanitizer_MemcpyData, hApiStream);
SAME_AT(GraphExecData, device_graphs_context, Sanitizer_GraphExecData, deviceGraphLaunchesContext);
SAME_AT(GraphNodeData, copy, Sanitizer_GraphNodeLaunchData, memcpyData);
SAME_AT(GraphNodeData, is_upload, Sanitizer_GraphNodeLaunchData, isGraphUpload);
SAME_SIZE(VirtualRangeData, Sanitizer_ResourceVirtualRange);
SAME_SIZE(ExternalMemoryData, Sanitizer_ExternalMemoryData);
SAME(kAccessPrefetch, SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH);
SAME(Instruction::kCacheControl, SANITIZER_INSTRUCTION_CACHE_CONTROL);
#endif

#ifdef DRGPUM_HEADER_OF_13_0
SAME(Instruction::kBulkGlobalToShared, SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED);
SAME(Instruction::kBulkSharedToGlobal, SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_GLOBAL);
SAME(Instruction::kBulkReduceToGlobal, SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL);
SAME(Instruction::kClusterBarrierWaitEntry, SANITIZER_INSTRUCTION_CLUSTER_BARRIER_WAIT_ENTRY);
#endif

// The upload flag is found behind the union of either layout.
TEST(NvidiaHeader, UploadFlagIsReadWhereTheHeaderPutsIt) {
  union {
    Sanitizer_GraphNodeLaunchData theirs;
    ours::GraphNodeData mine;
  } data{};
  EXPECT_FALSE(ours::graph_node_is_upload(kHeader, data.mine));
  data.theirs.isGraphUpload = 1;
  EXPECT_TRUE(ours::graph_node_is_upload(kHeader, data.mine));
}

static_assert(kNew || sizeof(Sanitizer_GraphNodeLaunchData) == 152);

}  // namespace
