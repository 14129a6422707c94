// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pool that hands out pieces of one allocation, first fit, and tells NVTX what they are called.

#include <map>

#include "samples/check.h"
#include "samples/nvtx_pool/nvtx.h"

class Pool {
 public:
  explicit Pool(std::size_t bytes) {
    CHECK(cudaMalloc(&base_, bytes));
    free_[0] = bytes;
    const nvtxMemVirtualRangeDesc_t range{bytes, base_};
    nvtxMemHeapDesc_t heap{};
    heap.extCompatID = NVTX_EXT_COMPATID_MEM;
    heap.structSize = sizeof heap;
    heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
    heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    heap.typeSpecificDescSize = sizeof range;
    heap.typeSpecificDesc = &range;
    heap.messageType = NVTX_MESSAGE_TYPE_ASCII;
    heap.message.ascii = "pool";
    heap_ = nvtxMemHeapRegister(nullptr, &heap);
  }
  ~Pool() {
    nvtxMemHeapUnregister(nullptr, heap_);
    CHECK(cudaFree(base_));
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Null when no piece is large enough.
  float* take(std::size_t bytes, const char* name) {
    bytes = (bytes + 511) / 512 * 512;
    for (const auto& [at, size] : free_) {
      if (size < bytes) continue;
      const std::size_t begin = at, rest = size - bytes;
      free_.erase(begin);
      if (rest > 0) free_[begin + bytes] = rest;
      taken_[begin] = bytes;
      announce(base_ + begin, bytes, name);
      return reinterpret_cast<float*>(base_ + begin);
    }
    return nullptr;
  }

  void give_back(float* piece) {
    nvtxMemRegionRef_t reference{};
    reference.pointer = piece;
    nvtxMemRegionsUnregisterBatch_t batch{};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
    batch.refCount = 1;
    batch.refElementSize = sizeof reference;
    batch.refElements = &reference;
    nvtxMemRegionsUnregister(nullptr, &batch);
    const std::size_t begin = static_cast<std::size_t>(reinterpret_cast<char*>(piece) - base_);
    std::size_t size = taken_[begin];
    taken_.erase(begin);
    const auto after = free_.find(begin + size);
    if (after != free_.end()) {
      size += after->second;
      free_.erase(after);
    }
    free_[begin] = size;
  }

 private:
  static void announce(const char* piece, std::size_t bytes, const char* name) {
    const nvtxMemVirtualRangeDesc_t range{bytes, piece};
    nvtxMemRegionsRegisterBatch_t batch{};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.regionCount = 1;
    batch.regionDescElementSize = sizeof range;
    batch.regionDescElements = &range;
    nvtxMemRegionsRegister(nullptr, &batch);
    nvtxMemRegionNameDesc_t named{};
    named.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
    named.nameType = NVTX_MESSAGE_TYPE_ASCII;
    named.region.pointer = piece;
    named.name.ascii = name;
    nvtxMemRegionsNameBatch_t names{};
    names.extCompatID = NVTX_EXT_COMPATID_MEM;
    names.structSize = sizeof names;
    names.regionCount = 1;
    names.regionElementSize = sizeof named;
    names.regionElements = &named;
    nvtxMemRegionsName(nullptr, &names);
  }

  char* base_ = nullptr;
  nvtxMemHeapHandle_t heap_ = nullptr;
  std::map<std::size_t, std::size_t> free_;   // begin to size, in bytes from the base
  std::map<std::size_t, std::size_t> taken_;
};
