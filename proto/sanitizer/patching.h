// SPDX-License-Identifier: Apache-2.0
#pragma once
// Instruction ids that a tool can patch, and the arguments its device functions get. No type of
// this file needs more than integers, so device code may include it too.
// Source: NVIDIA's Sanitizer API reference; numbers compared with NVIDIA's header by tests.

namespace drgpum::sanitizer {

// Every patch is a device function that takes the tool's pointer and the instruction's code address
// first, and returns a PatchResult; it runs before the instruction unless noted. What follows those
// two arguments is told beside each id.
enum class Instruction : unsigned {
  kInvalid = 0,
  kBlockEnter = 1,
  kBlockExit = 2,
  kGlobalAccess = 3,  // void* address, u32 size, u32 AccessFlag, const void* value or mask
  kSharedAccess = 4,  // the same; the address is an offset into the shared window
  kLocalAccess = 5,   // the same; the address is an offset into the local window
  kBarrier = 6,       // u32 index, u32 threads, u32 flags
  kSyncWarp = 7,      // u32 mask
  kShuffle = 8,
  kCall = 9,  // u64 target, u32 flags
  kReturn = 10,
  kDeviceMalloc = 11,  // void* pointer, u64 size; after the call
  kDeviceFree = 12,    // void* pointer
  kCudaBarrier = 13,
  kAsyncCopy = 14,  // void* global source or null, u32 shared destination, u32 size
  kPipelineCommit = 15,
  kPipelineWait = 16,  // u32 groups
  kRemoteSharedAccess = 17,
  kDeviceAlignedMalloc = 18,  // 12.0 and later
  kMatrixAccess = 19,         // shared only
  kCacheControl = 20,         // void* address, u32 kind
  kClusterBarrierArrive = 21,
  kClusterBarrierWait = 22,
  kWarpgroupMma = 23,
  kWarpgroupWait = 24,
  kWarpgroupFence = 25,
  kAsyncStore = 26,
  kAsyncReduction = 27,
  kSetSharedSize = 28,
  kBarrierRelease = 29,
  kBulkGlobalToShared = 30,  // u64 source, u32 destination, u32 barrier, u32 blocks, u32 multicast
  kTensorCoreBarrier = 31,
  kSetShared = 32,
  kSyncWarpRelease = 33,
  kAsyncCopyBarrier = 34,
  kBulkSharedToGlobal = 35,  // u64 destination, u32 source, u32 blocks
  kBulkSharedToShared = 36,
  kBulkReduceToGlobal = 37,  // u64 destination, u32 source, u32 blocks
  kBulkReduceToShared = 38,
  kCudaBarrierAttempt = 39,
  kClusterBarrierWaitEntry = 40,
};

inline constexpr unsigned kInstructionCount13_0 = 41;  // ids below it are known
// Bulk instructions give a count of 16-byte blocks in the low half of their block argument.
inline constexpr unsigned kBulkBlockBytes = 16;
inline constexpr unsigned kBulkBlockMask = 0xFFFF;

enum AccessFlag : unsigned {
  kAccessRead = 0x1,
  kAccessWrite = 0x2,  // with kAccessRead: an atomic
  kAccessAtomicSystem = 0x4,
  kAccessPrefetch = 0x8,
};

enum class PatchResult : unsigned {
  kContinue = 0,
  kExitWarp = 1,
};

}  // namespace drgpum::sanitizer
