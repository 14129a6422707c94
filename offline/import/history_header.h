// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a trace that is made of a history begins with: the process, the devices, their contexts.

#include <cstdint>
#include <set>
#include <span>

#include "offline/import/allocator_history.h"
#include "offline/trace/trace.h"

namespace drgpum {

// The earliest tick of the parts' events and of works; 0 when none has a time.
std::int64_t first_tick(const AllocatorHistory& history, std::span<const HistoryPart> parts);

// Those that parts, residents or works name; device 0 when none does.
std::set<std::uint32_t> devices_named(const AllocatorHistory& history,
                                   std::span<const HistoryPart> parts);

// `start`: the tick from which times count.
Status write_header(const AllocatorHistory& history, std::int64_t start,
                    const std::set<std::uint32_t>& devices, const RecordSink& sink);

}  // namespace drgpum
