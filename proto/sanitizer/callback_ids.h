// SPDX-License-Identifier: Apache-2.0
#pragma once
// Callback domains and ids of the Sanitizer API, and how their numbers moved between releases.
//
// The enumerators below hold the numbers of CUDA 12.4 to 13.0 ("canonical"). A tool switches over
// canonical numbers only: it turns what the library reports with canonical_id(), and asks for
// callbacks with native_id().
// Source: NVIDIA's Sanitizer API reference; numbers of 11.8, 12.4 and 13.0 compared by tests.

#include <cstdint>

namespace drgpum::sanitizer {

enum class Domain : std::uint32_t {
  kInvalid = 0,
  kDriverApi = 1,
  kRuntimeApi = 2,
  kResource = 3,
  kSynchronize = 4,
  kLaunch = 5,
  kMemcpy = 6,
  kMemset = 7,
  kBatchMemop = 8,
  kManaged = 9,
  kGraphs = 10,
  kEvents = 11,          // 11.8 and later
  kExternalMemory = 12,  // 12.3 and later
  kErrorLog = 13,        // after 13.0
};

enum ResourceId : std::uint32_t {
  kInitFinished = 1,
  kContextCreationStarting = 2,
  kContextCreationFinished = 3,
  kContextDestroyStarting = 4,
  kContextDestroyFinished = 5,
  kStreamCreated = 6,
  kStreamDestroyStarting = 7,
  kStreamDestroyFinished = 8,  // not in 11.8; everything after it moved by one
  kModuleLoaded = 9,
  kModuleUnloadStarting = 10,
  kDeviceMemoryAlloc = 11,
  kDeviceMemoryFree = 12,
  kHostMemoryAlloc = 13,
  kHostMemoryFree = 14,
  kMemoryAllocAsync = 15,
  kMemoryFreeAsync = 16,
  kMemoryFreeAsyncDone = 17,  // stream-ordered free of a plain allocation took effect
  kPoolCreated = 18,
  kPoolDestroying = 19,
  kPoolPeerAccessEnabled = 20,
  kPoolPeerAccessDisabling = 21,
  kArrayCreated = 22,
  kArrayDestroyed = 23,
  kFunctionsLazyLoaded = 24,
  kFunctionsLazyPatched = 25,  // 12.4 and later, as all that follow
  kVirtualReserve = 26,
  kVirtualRelease = 27,
  kPoolImportPointer = 28,
};

enum SynchronizeId : std::uint32_t { kStreamSynchronized = 1, kContextSynchronized = 2 };

enum LaunchId : std::uint32_t {
  kLaunchBegin = 1,
  kLaunchAfterSyscallSetup = 2,
  kLaunchEnd = 3,  // submitted; the kernel need not have finished
};

enum MemcpyId : std::uint32_t { kMemcpyStarting = 1 };
enum MemsetId : std::uint32_t { kMemsetStarting = 1 };
enum BatchMemopId : std::uint32_t { kBatchWrite = 1 };
enum ManagedId : std::uint32_t { kAttachMemory = 1 };

enum GraphId : std::uint32_t {
  kGraphExecCreating = 1,  // not in 11.8
  kGraphExecCreated = 2,
  kGraphExecDestroying = 3,  // not in 11.8
  kGraphNodeLaunchBegin = 4,
  kGraphNodeLaunchEnd = 5,
  kGraphLaunchBegin = 6,
  kGraphLaunchEnd = 7,
};

enum EventId : std::uint32_t {
  kEventCreated = 1,
  kEventDestroyed = 2,
  kEventRecord = 3,
  kEventStreamWait = 4,
  kEventSynchronize = 5,
};

enum ExternalMemoryId : std::uint32_t {
  kExternalImport = 1,
  kExternalMapped = 2,
  kExternalDestroyed = 3,
};

// Releases that number callbacks alike.
enum class Generation : std::uint8_t {
  kCuda11_8,  // 2022.3; 12.0 to 12.3 lie between and are not served
  kCuda12_4,  // 2024.1 (12.4) to 2025.3 (13.0)
  kNewer,     // has ids that 13.0 has not; appended, as far as the documentation says
};

// The canonical number of what the library calls `id`; 0 when it has none.
constexpr std::uint32_t canonical_id(Generation generation, Domain domain, std::uint32_t id) {
  if (generation != Generation::kCuda11_8 || id == 0) return id;
  if (domain == Domain::kResource && id >= kStreamDestroyFinished) return id + 1;
  if (domain == Domain::kGraphs) return id == 1 ? std::uint32_t{kGraphExecCreated} : id + 2;
  return id;
}

// What the library calls the canonical number `id`; 0 when it lacks it.
constexpr std::uint32_t native_id(Generation generation, Domain domain, std::uint32_t id) {
  if (generation != Generation::kCuda11_8 || id == 0) return id;
  if (domain == Domain::kExternalMemory) return 0;
  if (domain == Domain::kResource) {
    if (id == kStreamDestroyFinished || id > kFunctionsLazyLoaded) return 0;
    return id > kStreamDestroyFinished ? id - 1 : id;
  }
  if (domain == Domain::kGraphs) {
    if (id == kGraphExecCreating || id == kGraphExecDestroying) return 0;
    return id == kGraphExecCreated ? 1 : id - 2;
  }
  return id;
}

}  // namespace drgpum::sanitizer
