// SPDX-License-Identifier: Apache-2.0
#include "offline/import/work_records.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace drgpum {
namespace {

using namespace trace;

Region region_of(std::uint64_t bytes, bool is_host) {
  Region region;
  region.width = bytes;
  region.is_host = is_host;
  return region;
}

MemcpyApi copy_of(const HistoryWork& work) {
  MemcpyApi copy;
  copy.async = true;
  copy.source = region_of(work.bytes, work.kind == WorkKind::kCopyToDevice);
  copy.destination = region_of(work.bytes, work.kind == WorkKind::kCopyToHost);
  copy.direction = work.kind == WorkKind::kCopyToDevice ? CopyDirection::kHostToDevice
                   : work.kind == WorkKind::kCopyToHost ? CopyDirection::kDeviceToHost
                                                        : CopyDirection::kDeviceToDevice;
  return copy;
}

ApiKind kind_of(WorkKind kind) {
  if (kind == WorkKind::kLaunch) return ApiKind::kLaunch;
  return kind == WorkKind::kSet ? ApiKind::kMemset : ApiKind::kMemcpy;
}

const char* word_of(WorkKind kind) {
  if (kind == WorkKind::kLaunch) return "kernel";
  return kind == WorkKind::kSet ? "memset" : "memcpy";
}

}  // namespace

// Kernels belong to a module; of these nothing is known, so one stands for all.
Result<KernelId> WorkRecords::kernel_of(const HistoryWork& work) {
  if (kernels_.empty())
    RETURN_IF_ERROR(sink_(CubinRecord{CubinId{0}, ContextId{work.device}, 0, "", ""}));
  const auto [at, fresh] =
      kernels_.try_emplace(work.name, static_cast<std::uint32_t>(kernels_.size()));
  if (fresh)
    RETURN_IF_ERROR(sink_(
        KernelRecord{KernelId{at->second}, CubinId{0}, std::string(history_.texts[work.name])}));
  return KernelId{at->second};
}

Status WorkRecords::fill(const HistoryWork& work, GpuApi& api) {
  if (work.kind == WorkKind::kLaunch) {
    LaunchApi launch;
    ASSIGN_OR_RETURN(launch.kernel, kernel_of(work));
    std::copy(work.grid.begin(), work.grid.end(), std::begin(launch.grid));
    std::copy(work.block.begin(), work.block.end(), std::begin(launch.block));
    api.payload = launch;
  } else if (work.kind == WorkKind::kSet) {
    MemsetApi set;
    set.async = true;
    set.destination = region_of(work.bytes, false);
    api.payload = set;
  } else {
    api.payload = copy_of(work);
  }
  return Ok{};
}

Status WorkRecords::write(const HistoryWork& work) {
  const std::uint64_t ns = calls_.advance(work.tick);
  const std::string_view name =
      work.call == 0 ? std::string_view(word_of(work.kind)) : history_.texts[work.call];
  const ApiId id = calls_.next();
  ASSIGN_OR_RETURN(
      GpuApi * api,
      calls_.call(work.device, kind_of(work.kind), name, work.stream, work.stack, ns));
  RETURN_IF_ERROR(fill(work, *api));
  RETURN_IF_ERROR(calls_.issue());
  if (work.begin == kNoTick || work.end < work.begin) return Ok{};
  return sink_(TimeRecord{id, calls_.ns_of(work.begin), calls_.ns_of(work.end)});
}

}  // namespace drgpum
