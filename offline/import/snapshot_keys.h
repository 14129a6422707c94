// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of PyTorch's memory snapshots, with fixed numbers in the table of texts.

#include <array>
#include <cstdint>
#include <string_view>

namespace drgpum::snapshot {

enum Key : std::uint32_t {
  kEmpty,
  kAction, kAddr, kSize, kStream, kFrames, kTimeUs, kDeviceFree, kCompileContext, kUserMetadata,
  kPoolId, kInternalMetadata, kStage, kName, kDevice, kFilename, kLine, kAddress, kTotalSize,
  kRequestedSize, kSegmentType, kSegmentPoolId, kIsExpandable, kBlocks, kState, kHistory, kRealSize,
  kAllocatedSize, kSegments, kDeviceTraces, kHostSegments, kHostTraces, kExternalAnnotations,
  kAllocatorSettings, kOverflowed, kSmall, kStart, kEnd, kNotApplicable,
  kActiveAllocated, kActivePendingFree, kActiveAwaitingFree, kInactive,
  kAlloc, kFree, kFreeRequested, kFreeCompleted, kSegmentAlloc, kSegmentFree, kSegmentMap,
  kSegmentUnmap, kSnapshot, kOom, kAnnotate, kUserDefined,
  kCount
};

inline constexpr std::array<std::string_view, kCount> kWords{
    "",
    "action", "addr", "size", "stream", "frames", "time_us", "device_free", "compile_context",
    "user_metadata", "pool_id", "internal_metadata", "stage", "name", "device", "filename", "line",
    "address", "total_size", "requested_size", "segment_type", "segment_pool_id", "is_expandable",
    "blocks", "state", "history", "real_size", "allocated_size", "segments", "device_traces",
    "host_segments", "host_traces", "external_annotations", "allocator_settings",
    "trace_alloc_overflowed", "small", "START", "END", "N/A",
    "active_allocated", "active_pending_free", "active_awaiting_free", "inactive",
    "alloc", "free", "free_requested", "free_completed", "segment_alloc", "segment_free",
    "segment_map", "segment_unmap", "snapshot", "oom", "annotate", "user_defined"};

}  // namespace drgpum::snapshot
