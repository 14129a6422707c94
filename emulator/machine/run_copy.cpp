// SPDX-License-Identifier: Apache-2.0
// Copies and sets.

#include <algorithm>
#include <cstring>

#include "emulator/machine/cost_model.h"
#include "emulator/machine/submit.h"

namespace drgpum::emulator {
namespace {

std::uint64_t row_address(const CopyEnd& end, std::uint64_t row, std::uint64_t slice) {
  const std::uint64_t base = end.array != nullptr ? end.array->block->range.begin : end.address;
  const std::uint64_t pitch = end.array != nullptr ? end.array->row_bytes() : end.pitch;
  const std::uint64_t rows = end.array != nullptr ? end.array->rows() : end.rows;
  return base + ((end.z + slice) * rows + end.y + row) * pitch + end.x;
}

// Whether all bytes at the address may be read or written: device ranges lie in allocations.
bool reachable(const DeviceMemory& memory, std::uint64_t address, std::uint64_t size) {
  while (size != 0) {
    const auto view = memory.host_view(address, size);
    if (view.empty()) return false;
    address += view.size();
    size -= view.size();
  }
  return true;
}

void copy_bytes(const DeviceMemory& memory, std::uint64_t to, std::uint64_t from,
                std::uint64_t size) {
  while (size != 0) {
    const auto target = memory.host_view(to, size);
    const auto source = memory.host_view(from, target.size());
    std::memmove(target.data(), source.data(), source.size());
    to += source.size();
    from += source.size();
    size -= source.size();
  }
}

// Makes rows that lie end to end into one.
CopyWork without_needless_rows(CopyWork work) {
  const auto joined = [&](const CopyEnd& end) {
    return end.array == nullptr ? end.pitch == work.width : end.array->row_bytes() == work.width;
  };
  if (work.depth != 1 || work.height == 1 || !joined(work.source) || !joined(work.destination))
    return work;
  work.source.address = row_address(work.source, 0, 0);
  work.destination.address = row_address(work.destination, 0, 0);
  for (CopyEnd* end : {&work.source, &work.destination}) {
    end->array = nullptr;
    end->x = end->y = end->z = 0;
  }
  work.width *= work.height;
  work.height = 1;
  return work;
}

template <typename Visit>
bool each_row(const CopyWork& work, Visit visit) {
  for (std::uint64_t slice = 0; slice < work.depth; ++slice)
    for (std::uint64_t row = 0; row < work.height; ++row)
      if (!visit(row_address(work.destination, row, slice), row_address(work.source, row, slice)))
        return false;
  return true;
}

struct Sides {
  bool source_on_device = false;
  bool destination_on_device = false;
};

std::uint32_t direction_of(const Sides& sides) {
  if (sides.source_on_device) return sides.destination_on_device ? 4 : 2;
  return sides.destination_on_device ? 1 : 3;
}

CopyEvent describe(const CopyWork& work, Stream& stream, const Sides& sides) {
  CopyEvent event;
  event.source_context = work.source.context != nullptr ? work.source.context : stream.context;
  event.destination_context =
      work.destination.context != nullptr ? work.destination.context : stream.context;
  event.source_stream = event.destination_stream = handle_of(stream);
  event.unique_source_stream = event.unique_destination_stream = &stream;
  event.source = work.source.array != nullptr ? 0 : row_address(work.source, 0, 0);
  event.destination = work.destination.array != nullptr ? 0 : row_address(work.destination, 0, 0);
  event.size = work.width * work.height * work.depth;
  event.width = work.width;
  event.height = work.height;
  event.depth = work.depth;
  event.source_pitch = work.source.pitch;
  event.destination_pitch = work.destination.pitch;
  event.is_async = work.is_async;
  event.direction = direction_of(sides);
  return event;
}

bool is_pinned(const DeviceMemory& memory, std::uint64_t address) {
  return memory.block_at(address) != nullptr;
}

CopyPath path_of(const DeviceMemory& memory, const CopyWork& work, const Sides& sides) {
  if (sides.source_on_device && sides.destination_on_device) {
    const bool peer = work.source.context != nullptr && work.destination.context != nullptr &&
                      work.source.context->device != work.destination.context->device;
    return peer ? CopyPath::kPeer : CopyPath::kOnDevice;
  }
  const std::uint64_t host =
      sides.source_on_device ? row_address(work.destination, 0, 0) : row_address(work.source, 0, 0);
  return is_pinned(memory, host) ? CopyPath::kPinned : CopyPath::kPageable;
}

Span schedule(Section& section, Stream& stream, const NodePlace* place, CopyPath path,
              const Sides& sides, std::uint64_t bytes) {
  Device& device = *stream.context->device;
  const std::uint64_t ready = ready_time(section, stream, place);
  const std::uint64_t duration = copy_ns(device.preset, path, bytes);
  Span span;
  if (path == CopyPath::kOnDevice)
    span = {ready, ready + duration};
  else
    span = device.timeline.run_copy(
        sides.source_on_device ? CopyEngine::kToHost : CopyEngine::kToDevice, ready, duration);
  if (place == nullptr) stream.context->occupy(stream, span.end);
  return span;
}

ActivityEvent activity(ActivityEvent::Kind kind, Stream& stream, const Span& span,
                       std::uint64_t address, std::uint64_t bytes, std::uint32_t detail) {
  ActivityEvent event;
  event.kind = kind;
  event.begin_ns = span.begin;
  event.end_ns = span.end;
  event.bytes = bytes;
  event.address = address;
  event.context = stream.context;
  event.stream = handle_of(stream);
  event.unique_stream = &stream;
  event.detail = detail;
  return event;
}

void fill(std::span<std::byte> bytes, std::uint32_t value, std::uint32_t element_size) {
  if (element_size == 1) {
    std::memset(bytes.data(), static_cast<int>(value & 0xff), bytes.size());
    return;
  }
  for (std::size_t at = 0; at < bytes.size(); at += element_size)
    std::memcpy(bytes.data() + at, &value, element_size);
}

}  // namespace

CUresult run_copy(Section& section, Stream& stream, const CopyWork& asked, const NodePlace* place,
                  Span& when) {
  MachineCore& core = section.core();
  const DeviceMemory& memory = *core.memory;
  const std::uint64_t bytes = asked.width * asked.height * asked.depth;
  if (bytes == 0) {
    when = place_in_stream(section, stream, place, 0);
    return CUDA_SUCCESS;
  }
  for (const Array* array : {asked.source.array, asked.destination.array})
    if (array != nullptr && core.arrays.get(array) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const CopyWork work = without_needless_rows(asked);
  if (!each_row(work, [&](std::uint64_t to, std::uint64_t from) {
        return reachable(memory, to, work.width) && reachable(memory, from, work.width);
      }))
    return CUDA_ERROR_INVALID_VALUE;
  const Sides sides{is_on_device(memory, row_address(work.source, 0, 0)),
                    is_on_device(memory, row_address(work.destination, 0, 0))};
  const CopyEvent event = describe(asked, stream, sides);
  if (place == nullptr)
    section.tell_now([&](Observer& o) { o.on_copy(event); });
  else
    tell_node(section, stream, *place, GraphAction::kNodeBegin, {.copy = &event});
  each_row(work, [&](std::uint64_t to, std::uint64_t from) {
    copy_bytes(memory, to, from, work.width);
    return true;
  });
  const CopyPath path = path_of(memory, work, sides);
  when = schedule(section, stream, place, path, sides, bytes);
  // Memory that is not page-locked is staged by the host, which waits for it.
  if (path == CopyPath::kPageable && place == nullptr) core.clock.wait_until(when.end);
  section.tell([record = activity(ActivityEvent::Kind::kMemcpy, stream, when, event.destination,
                                  bytes, event.direction)](Observer& o) { o.on_activity(record); });
  if (place != nullptr) tell_node(section, stream, *place, GraphAction::kNodeEnd, {.copy = &event});
  return CUDA_SUCCESS;
}

CUresult run_set(Section& section, Stream& stream, const SetWork& work, const NodePlace* place,
                 Span& when) {
  const DeviceMemory& memory = *section.core().memory;
  const std::uint64_t row_bytes = work.width * work.element_size;
  if (row_bytes == 0 || work.height == 0) {
    when = place_in_stream(section, stream, place, 0);
    return CUDA_SUCCESS;
  }
  const auto row = [&](std::uint64_t y) { return work.address + y * work.pitch; };
  for (std::uint64_t y = 0; y < work.height; ++y) {
    if (memory.block_at(row(y)) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!reachable(memory, row(y), row_bytes)) return CUDA_ERROR_INVALID_VALUE;
  }
  SetEvent event;
  event.context = stream.context;
  event.stream = handle_of(stream);
  event.unique_stream = &stream;
  event.address = work.address;
  event.width = work.width;
  event.height = work.height;
  event.pitch = work.pitch;
  event.element_size = work.element_size;
  event.value = work.value;
  event.is_async = work.is_async;
  if (place == nullptr)
    section.tell_now([&](Observer& o) { o.on_set(event); });
  else
    tell_node(section, stream, *place, GraphAction::kNodeBegin, {.set = &event});
  for (std::uint64_t y = 0; y < work.height; ++y) {
    std::uint64_t address = row(y);
    for (std::uint64_t left = row_bytes; left != 0;) {
      const auto view = memory.host_view(address, left);
      fill(view, work.value, work.element_size);
      address += view.size();
      left -= view.size();
    }
  }
  when = place_in_stream(section, stream, place,
                         set_ns(stream.context->device->preset, row_bytes * work.height));
  section.tell([record = activity(ActivityEvent::Kind::kMemset, stream, when, work.address,
                                  row_bytes * work.height, work.value)](Observer& o) {
    o.on_activity(record);
  });
  if (place != nullptr) tell_node(section, stream, *place, GraphAction::kNodeEnd, {.set = &event});
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator
