// SPDX-License-Identifier: Apache-2.0
#include "offline/import/history_header.h"

#include <algorithm>
#include <string>

namespace drgpum {
namespace {

using namespace trace;

// 0 where it is not known or cannot be.
std::uint64_t start_unix_ns(const AllocatorHistory& history, std::int64_t start) {
  std::int64_t ns = 0;
  if (!history.epoch_ns || __builtin_mul_overflow(start, history.tick_ns, &ns) ||
      __builtin_add_overflow(ns, *history.epoch_ns, &ns))
    return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
}

DeviceRecord device_record(const AllocatorHistory& history, std::uint32_t id) {
  DeviceRecord record;
  record.id = DeviceId{id};
  record.name = "device " + std::to_string(id);
  for (const HistoryDevice& known : history.devices) {
    if (known.device != id) continue;
    record.name = known.name;
    record.memory_bytes = known.memory_bytes;
    record.compute_major = known.compute_major;
    record.compute_minor = known.compute_minor;
  }
  return record;
}

}  // namespace

// Events mostly lie in order, so the first that has a time is the earliest.
std::int64_t first_tick(const AllocatorHistory& history, std::span<const HistoryPart> parts) {
  std::int64_t first = INT64_MAX;
  for (const HistoryPart& part : parts)
    for (std::size_t i = 0; i < part.count; ++i) {
      const std::int64_t tick = history.events[part.first + i].tick;
      if (tick == kNoTick) continue;
      first = std::min(first, tick);
      break;
    }
  for (const HistoryWork& work : history.works)
    for (const std::int64_t tick : {work.tick, work.begin})
      if (tick != kNoTick) first = std::min(first, tick);
  return first == INT64_MAX ? 0 : first;
}

std::set<std::uint32_t> devices_named(const AllocatorHistory& history,
                                   std::span<const HistoryPart> parts) {
  std::set<std::uint32_t> devices;
  for (const HistoryPart& part : parts)
    devices.insert(part.device);
  for (const HistoryResident& one : history.residents)
    devices.insert(one.device);
  for (const HistoryWork& work : history.works)
    devices.insert(work.device);
  if (devices.empty()) devices.insert(0);
  return devices;
}

Status write_header(const AllocatorHistory& history, std::int64_t start,
                    const std::set<std::uint32_t>& devices, const RecordSink& sink) {
  ProcessRecord process;
  process.executable = history.format;
  process.mode = "allocations";
  process.options = history.properties;
  process.start_unix_ns = start_unix_ns(history, start);
  RETURN_IF_ERROR(sink(process));
  for (const std::uint32_t id : devices) {
    RETURN_IF_ERROR(sink(device_record(history, id)));
    RETURN_IF_ERROR(sink(ContextRecord{ContextId{id}, DeviceId{id}}));
  }
  return Ok{};
}

}  // namespace drgpum
