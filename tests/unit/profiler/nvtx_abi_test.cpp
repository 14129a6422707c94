// SPDX-License-Identifier: Apache-2.0
// Our declarations of NVTX against NVIDIA's headers; built where these are installed. The compiler
// makes the comparison.
#include "profiler/nvtx_abi.h"

#include <type_traits>

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtMem.h>

namespace drgpum::profiler::nvtx {
namespace {

#define SAME(ours, theirs) \
  static_assert(static_cast<std::int64_t>(ours) == static_cast<std::int64_t>(theirs))
#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs))
#define SAME_PLACE(ours, our_field, theirs, their_field)                      \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                sizeof(ours::our_field) == sizeof(theirs::their_field))

SAME_SIZE(EventAttributes, nvtxEventAttributes_t);
SAME_PLACE(EventAttributes, message_type, nvtxEventAttributes_t, messageType);
SAME_PLACE(EventAttributes, message, nvtxEventAttributes_t, message);
SAME_SIZE(ResourceAttributes, nvtxResourceAttributes_t);
SAME_PLACE(ResourceAttributes, type, nvtxResourceAttributes_t, identifierType);
SAME_PLACE(ResourceAttributes, identifier, nvtxResourceAttributes_t, identifier);
SAME_PLACE(ResourceAttributes, message_type, nvtxResourceAttributes_t, messageType);
SAME_PLACE(ResourceAttributes, message, nvtxResourceAttributes_t, message);
SAME(kBytes, NVTX_MESSAGE_TYPE_ASCII);
SAME(kWide, NVTX_MESSAGE_TYPE_UNICODE);
SAME(kRegistered, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(kCudaStreamResource, NVTX_RESOURCE_TYPE_CUDA_STREAM);
SAME(kCudaRuntimeStreamResource, NVTX_RESOURCE_TYPE_CUDART_STREAM);

SAME_SIZE(CallbackTable, NvtxExportTableCallbacks);
SAME_PLACE(CallbackTable, functions_of, NvtxExportTableCallbacks, GetModuleFunctionTable);
SAME_SIZE(VersionTable, NvtxExportTableVersionInfo);
SAME_PLACE(VersionTable, set_tool_version, NvtxExportTableVersionInfo, SetInjectionNvtxVersion);
SAME(kCallbacks, NVTX_ETID_CALLBACKS);
SAME(kVersion, NVTX_ETID_VERSIONINFO);
SAME(kCore, NVTX_CB_MODULE_CORE);
SAME(kCuda, NVTX_CB_MODULE_CUDA);
SAME(kCudaRuntime, NVTX_CB_MODULE_CUDART);
SAME(kDomains, NVTX_CB_MODULE_CORE2);
SAME(kMarkEx, NVTX_CBID_CORE_MarkEx);
SAME(kMarkA, NVTX_CBID_CORE_MarkA);
SAME(kMarkW, NVTX_CBID_CORE_MarkW);
SAME(kRangeStartEx, NVTX_CBID_CORE_RangeStartEx);
SAME(kRangeStartA, NVTX_CBID_CORE_RangeStartA);
SAME(kRangeStartW, NVTX_CBID_CORE_RangeStartW);
SAME(kRangeEnd, NVTX_CBID_CORE_RangeEnd);
SAME(kRangePushEx, NVTX_CBID_CORE_RangePushEx);
SAME(kRangePushA, NVTX_CBID_CORE_RangePushA);
SAME(kRangePushW, NVTX_CBID_CORE_RangePushW);
SAME(kRangePop, NVTX_CBID_CORE_RangePop);
SAME(kDomainMarkEx, NVTX_CBID_CORE2_DomainMarkEx);
SAME(kDomainRangeStartEx, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(kDomainRangeEnd, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(kDomainRangePushEx, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(kDomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
SAME(kDomainResourceCreate, NVTX_CBID_CORE2_DomainResourceCreate);
SAME(kDomainRegisterStringA, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(kDomainRegisterStringW, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(kDomainCreateA, NVTX_CBID_CORE2_DomainCreateA);
SAME(kDomainCreateW, NVTX_CBID_CORE2_DomainCreateW);
SAME(kNameCuStreamA, NVTX_CBID_CUDA_NameCuStreamA);
SAME(kNameCuStreamW, NVTX_CBID_CUDA_NameCuStreamW);
SAME(kNameCudaStreamA, NVTX_CBID_CUDART_NameCudaStreamA);
SAME(kNameCudaStreamW, NVTX_CBID_CUDART_NameCudaStreamW);

SAME_SIZE(ExtensionModule, nvtxExtModuleInfo_t);
SAME_PLACE(ExtensionModule, module, nvtxExtModuleInfo_t, moduleId);
SAME_PLACE(ExtensionModule, segments, nvtxExtModuleInfo_t, segments);
SAME_SIZE(ExtensionSegment, nvtxExtModuleSegment_t);
SAME_PLACE(ExtensionSegment, slots, nvtxExtModuleSegment_t, functionSlots);
SAME(kMemoryExtension, NVTX_EXT_MODULEID_MEM);
SAME(kMemHeapRegister, NVTX3EXT_CBID_nvtxMemHeapRegister);
SAME(kMemHeapUnregister, NVTX3EXT_CBID_nvtxMemHeapUnregister);
SAME(kMemHeapReset, NVTX3EXT_CBID_nvtxMemHeapReset);
SAME(kMemRegionsRegister, NVTX3EXT_CBID_nvtxMemRegionsRegister);
SAME(kMemRegionsResize, NVTX3EXT_CBID_nvtxMemRegionsResize);
SAME(kMemRegionsUnregister, NVTX3EXT_CBID_nvtxMemRegionsUnregister);
SAME(kMemRegionsName, NVTX3EXT_CBID_nvtxMemRegionsName);

SAME(kVirtualAddress, NVTX_MEM_TYPE_VIRTUAL_ADDRESS);
SAME_SIZE(MemoryRange, nvtxMemVirtualRangeDesc_t);
SAME_PLACE(MemoryRange, address, nvtxMemVirtualRangeDesc_t, ptr);
SAME_SIZE(HeapDescription, nvtxMemHeapDesc_t);
SAME_PLACE(HeapDescription, type, nvtxMemHeapDesc_t, type);
SAME_PLACE(HeapDescription, range, nvtxMemHeapDesc_t, typeSpecificDesc);
SAME_PLACE(HeapDescription, message_type, nvtxMemHeapDesc_t, messageType);
SAME_PLACE(HeapDescription, message, nvtxMemHeapDesc_t, message);
SAME_SIZE(RegionsRegister, nvtxMemRegionsRegisterBatch_t);
SAME_PLACE(RegionsRegister, type, nvtxMemRegionsRegisterBatch_t, regionType);
SAME_PLACE(RegionsRegister, heap, nvtxMemRegionsRegisterBatch_t, heap);
SAME_PLACE(RegionsRegister, count, nvtxMemRegionsRegisterBatch_t, regionCount);
SAME_PLACE(RegionsRegister, range_size, nvtxMemRegionsRegisterBatch_t, regionDescElementSize);
SAME_PLACE(RegionsRegister, ranges, nvtxMemRegionsRegisterBatch_t, regionDescElements);
SAME_PLACE(RegionsRegister, handles, nvtxMemRegionsRegisterBatch_t, regionHandleElementsOut);
SAME_SIZE(RegionsResize, nvtxMemRegionsResizeBatch_t);
SAME_PLACE(RegionsResize, count, nvtxMemRegionsResizeBatch_t, regionDescCount);
SAME_PLACE(RegionsResize, ranges, nvtxMemRegionsResizeBatch_t, regionDescElements);
SAME_SIZE(RegionsUnregister, nvtxMemRegionsUnregisterBatch_t);
SAME_PLACE(RegionsUnregister, count, nvtxMemRegionsUnregisterBatch_t, refCount);
SAME_PLACE(RegionsUnregister, references, nvtxMemRegionsUnregisterBatch_t, refElements);
SAME_SIZE(RegionName, nvtxMemRegionNameDesc_t);
SAME_PLACE(RegionName, message_type, nvtxMemRegionNameDesc_t, nameType);
SAME_PLACE(RegionName, region, nvtxMemRegionNameDesc_t, region);
SAME_PLACE(RegionName, name, nvtxMemRegionNameDesc_t, name);
SAME_SIZE(RegionsName, nvtxMemRegionsNameBatch_t);
SAME_PLACE(RegionsName, count, nvtxMemRegionsNameBatch_t, regionCount);
SAME_PLACE(RegionsName, names, nvtxMemRegionsNameBatch_t, regionElements);

TEST(NvtxAbi, IsAsDeclared) {
  EXPECT_EQ(NVTX_VERSION, 3);
}

}  // namespace
}  // namespace drgpum::profiler::nvtx
