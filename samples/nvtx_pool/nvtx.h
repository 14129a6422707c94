// SPDX-License-Identifier: Apache-2.0
#pragma once
// The few calls of NVTX's memory extension that the pool makes. With a CUDA toolkit that has the
// header they are NVTX's own; else the small client below talks to the tool in the same way.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#if __has_include(<nvtx3/nvToolsExtMem.h>)
#include <nvtx3/nvToolsExtMem.h>
#else
#include <dlfcn.h>

// As NVTX lays it out; a function is found by its number in `nvtx_slots` once a tool is there.
using nvtxDomainHandle_t = void*;
union nvtxMessageValue_t {
  const char* ascii;
};
struct nvtxMemVirtualRangeDesc_t {
  std::size_t size;
  const void* ptr;
};
struct nvtxMemHeapDesc_t {
  std::uint16_t extCompatID, structSize;
  std::uint32_t reserved0, usage, type;
  std::size_t typeSpecificDescSize;
  const void* typeSpecificDesc;
  std::uint32_t category, messageType;
  nvtxMessageValue_t message;
};
using nvtxMemHeapHandle_t = void*;
using nvtxMemRegionHandle_t = void*;
union nvtxMemRegionRef_t {
  const void* pointer;
};
struct nvtxMemRegionsRegisterBatch_t {
  std::uint16_t extCompatID, structSize;
  std::uint32_t regionType;
  nvtxMemHeapHandle_t heap;
  std::size_t regionCount, regionDescElementSize;
  const void* regionDescElements;
  nvtxMemRegionHandle_t* regionHandleElementsOut;
};
struct nvtxMemRegionsUnregisterBatch_t {
  std::uint16_t extCompatID, structSize;
  std::uint32_t refType;
  std::size_t refCount, refElementSize;
  const nvtxMemRegionRef_t* refElements;
};
struct nvtxMemRegionNameDesc_t {
  std::uint32_t regionRefType, nameType;
  nvtxMemRegionRef_t region;
  nvtxMessageValue_t name;
  std::uint32_t category, reserved0;
};
struct nvtxMemRegionsNameBatch_t {
  std::uint16_t extCompatID, structSize;
  std::uint32_t reserved0;
  std::size_t regionCount, regionElementSize;
  const nvtxMemRegionNameDesc_t* regionElements;
  std::size_t reserved1;
};
constexpr std::uint16_t NVTX_EXT_COMPATID_MEM = 0x0102;
constexpr std::uint32_t NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR = 1;
constexpr std::uint32_t NVTX_MEM_TYPE_VIRTUAL_ADDRESS = 1;
constexpr std::uint32_t NVTX_MEM_REGION_REF_TYPE_POINTER = 1;
constexpr std::uint32_t NVTX_MESSAGE_TYPE_ASCII = 1;

inline std::intptr_t nvtx_slot(std::size_t number) {
  struct Segment {
    std::size_t id, count;
    std::intptr_t* slots;
  };
  struct Module {
    std::uint16_t version, size, module, compatibility;
    std::size_t segments;
    Segment* segment;
    void *get_export, *info;
  };
  static std::intptr_t slots[63];
  static const bool attached = [] {
    const char* path = std::getenv("NVTX_INJECTION64_PATH");
    void* tool = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY);
    void* start = tool == nullptr ? nullptr : dlsym(tool, "InitializeInjectionNvtxExtension");
    Segment segment{1, 63, slots};
    Module module{3, sizeof(Module), 1, NVTX_EXT_COMPATID_MEM, 1, &segment, nullptr, nullptr};
    return start != nullptr && reinterpret_cast<int (*)(Module*)>(start)(&module) != 0;
  }();
  return attached ? slots[number] : 0;
}

template <typename Batch>
void nvtx_call(std::size_t number, nvtxDomainHandle_t domain, const Batch* batch) {
  const std::intptr_t slot = nvtx_slot(number);
  if (slot != 0) reinterpret_cast<void (*)(nvtxDomainHandle_t, const Batch*)>(slot)(domain, batch);
}
inline nvtxMemHeapHandle_t nvtxMemHeapRegister(nvtxDomainHandle_t domain,
                                               const nvtxMemHeapDesc_t* heap) {
  using Call = nvtxMemHeapHandle_t (*)(nvtxDomainHandle_t, const nvtxMemHeapDesc_t*);
  const std::intptr_t slot = nvtx_slot(0);
  return slot == 0 ? nullptr : reinterpret_cast<Call>(slot)(domain, heap);
}
inline void nvtxMemHeapUnregister(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap) {
  using Call = void (*)(nvtxDomainHandle_t, nvtxMemHeapHandle_t);
  const std::intptr_t slot = nvtx_slot(1);
  if (slot != 0) reinterpret_cast<Call>(slot)(domain, heap);
}
inline void nvtxMemRegionsRegister(nvtxDomainHandle_t domain,
                                   const nvtxMemRegionsRegisterBatch_t* batch) {
  nvtx_call(3, domain, batch);
}
inline void nvtxMemRegionsUnregister(nvtxDomainHandle_t domain,
                                     const nvtxMemRegionsUnregisterBatch_t* batch) {
  nvtx_call(5, domain, batch);
}
inline void nvtxMemRegionsName(nvtxDomainHandle_t domain, const nvtxMemRegionsNameBatch_t* batch) {
  nvtx_call(6, domain, batch);
}
#endif
