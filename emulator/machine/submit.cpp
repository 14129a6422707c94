// SPDX-License-Identifier: Apache-2.0
// Runs work or records it.

#include "emulator/machine/submit.h"

#include <cstdio>
#include <cstring>

namespace drgpum::emulator {
namespace {

constexpr std::uint64_t kHostFunctionNs = 10'000;

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};

CUresult run_host(Section& section, Stream& stream, const HostWork& work, const NodePlace* place,
                  Span& when) {
  when = place_in_stream(section, stream, place, kHostFunctionNs);
  HostQueue& queue = section.core().host_queue;
  const std::uint64_t ticket = queue.post([work] { work.function(work.data); });
  stream.context->occupy(stream, when.end, ticket);
  // Later nodes of the graph run at once: they may not overtake it.
  if (place != nullptr) section.await(ticket);
  return CUDA_SUCCESS;
}

CUresult run_event_record(Section& section, Stream& stream, const EventRecordWork& work,
                          const NodePlace* place, Span& when) {
  // A graph may outlive an event that it records.
  if (section.core().events.get(work.event) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  when = place_in_stream(section, stream, place, 0);
  Event& event = *work.event;
  event.recorded = true;
  event.capture = nullptr;
  event.time_ns = when.end;
  event.host_ticket = stream.context->awaited_ticket(stream);
  return CUDA_SUCCESS;
}

CUresult run_event_wait(Section& section, Stream& stream, const EventWaitWork& work,
                        const NodePlace* place, Span& when) {
  if (section.core().events.get(work.event) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const Event& event = *work.event;
  when = place_in_stream(section, stream, place, 0);
  if (!event.recorded) return CUDA_SUCCESS;
  when.end = std::max(when.end, event.time_ns);
  stream.context->occupy(stream, when.end, event.host_ticket);
  return CUDA_SUCCESS;
}

CUresult run_value(Section& section, Stream& stream, const ValueWork& work, const NodePlace* place,
                   Span& when) {
  const auto view = section.core().memory->host_view(work.address, work.bytes);
  if (view.size() != work.bytes) return CUDA_ERROR_INVALID_VALUE;
  when = place_in_stream(section, stream, place, 0);
  std::memcpy(view.data(), &work.value, work.bytes);
  return CUDA_SUCCESS;
}

CUresult run_alloc(Section& section, Stream& stream, const AllocWork& work, const NodePlace* place,
                   Span& when) {
  MachineCore& core = section.core();
  const std::uint64_t rounded = (work.size + kVirtualPage - 1) & ~(kVirtualPage - 1);
  const auto backing = core.memory->create_physical(work.device, rounded);
  if (!backing) return CUDA_ERROR_OUT_OF_MEMORY;
  BlockRequest request;
  request.kind = BlockKind::kMapped;
  request.device = work.device;
  request.context = stream.context;
  Mapping& mapping = core.mappings[work.address];
  mapping.size = rounded;
  mapping.physical = core.physicals.make();
  mapping.physical->memory = *backing;
  mapping.block = core.memory->map(work.address, work.size, *backing, 0, request);
  Device& device = core.devices[static_cast<std::size_t>(work.device)];
  device.graph_used += rounded;
  device.graph_used_high = std::max(device.graph_used_high, device.graph_used);
  when = place_in_stream(section, stream, place, 0);
  return CUDA_SUCCESS;
}

CUresult run_free(Section& section, Stream& stream, const FreeWork& work, const NodePlace* place,
                  Span& when) {
  MachineCore& core = section.core();
  const auto it = core.mappings.find(work.address);
  if (it == core.mappings.end() || it->second.block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Physical* physical = it->second.physical;
  core.devices[static_cast<std::size_t>(physical->memory.device)].graph_used -= it->second.size;
  core.memory->free(it->second.block);
  core.memory->destroy_physical(physical->memory);
  core.physicals.remove(physical);
  core.mappings.erase(it);
  when = place_in_stream(section, stream, place, 0);
  return CUDA_SUCCESS;
}

CUresult run(Section& section, Stream& stream, const Work& work, const NodePlace* place,
             Span& when) {
  return std::visit(
      Match{
          [&](const EmptyWork&) {
            when = place_in_stream(section, stream, place, 0);
            return CUDA_SUCCESS;
          },
          [&](const KernelWork& w) { return run_kernel(section, stream, w, place, when); },
          [&](const CopyWork& w) { return run_copy(section, stream, w, place, when); },
          [&](const SetWork& w) { return run_set(section, stream, w, place, when); },
          [&](const HostWork& w) { return run_host(section, stream, w, place, when); },
          [&](const EventRecordWork& w) {
            return run_event_record(section, stream, w, place, when);
          },
          [&](const EventWaitWork& w) { return run_event_wait(section, stream, w, place, when); },
          [&](const AllocWork& w) { return run_alloc(section, stream, w, place, when); },
          [&](const FreeWork& w) { return run_free(section, stream, w, place, when); },
          [&](const ValueWork& w) { return run_value(section, stream, w, place, when); },
          // Instantiation puts a child's nodes in its place.
          [](const ChildWork&) { return CUDA_ERROR_INVALID_VALUE; },
      },
      work);
}

// Kinds of work that tell observers of a graph's node with what only they know.
bool tells_itself(const Work& work) {
  return std::holds_alternative<KernelWork>(work) || std::holds_alternative<CopyWork>(work) ||
         std::holds_alternative<SetWork>(work);
}

// The memory that a node takes or gives back; address 0 for other nodes.
MemoryEvent memory_of_node(Section& section, Stream& stream, const Work& work) {
  MemoryEvent event;
  event.context = stream.context;
  event.device = stream.context->device->ordinal;
  event.stream = handle_of(stream);
  event.unique_stream = &stream;
  if (const auto* alloc = std::get_if<AllocWork>(&work)) {
    event.kind = MemoryKind::kAsyncAlloc;
    event.address = alloc->address;
    event.size = alloc->size;
  } else if (const auto* free = std::get_if<FreeWork>(&work)) {
    event.kind = MemoryKind::kAsyncFree;
    event.address = free->address;
    const Block* block = section.core().memory->block_at(free->address);
    if (block != nullptr) event.size = block->size();
  }
  return event;
}

bool only_marks(const Work& work) {
  return std::holds_alternative<EventRecordWork>(work) ||
         std::holds_alternative<EventWaitWork>(work) || std::holds_alternative<HostWork>(work);
}

}  // namespace

std::uint64_t ready_time(Section& section, Stream& stream, const NodePlace* place) {
  const std::uint64_t now = section.core().clock.now();
  return place != nullptr ? std::max(now, place->ready_ns) : stream.context->earliest(stream, now);
}

Span place_in_stream(Section& section, Stream& stream, const NodePlace* place,
                     std::uint64_t duration) {
  const std::uint64_t begin = ready_time(section, stream, place);
  const Span span{begin, begin + duration};
  if (place == nullptr) stream.context->occupy(stream, span.end);
  return span;
}

CUresult submit(Section& section, Stream& stream, Work work, HostWaits waits) {
  if (stream.capture != nullptr) return capture_work(section, stream, std::move(work));
  if (!only_marks(work)) section.await(stream.context->awaited_ticket(stream));
  // A graph's memory that the program frees itself: outside the graph nobody else tells of it.
  const MemoryEvent freed = memory_of_node(section, stream, work);
  Span when;
  const CUresult result = run(section, stream, work, nullptr, when);
  if (result == CUDA_SUCCESS && freed.address != 0)
    section.tell([freed](Observer& o) { o.on_memory(freed); });
  if (result == CUDA_SUCCESS && waits == HostWaits::kYes) {
    section.core().clock.wait_until(when.end);
    flush_printed(*stream.context);
  }
  return result;
}

CUresult run_node(Section& section, Stream& stream, const Work& work, const NodePlace& place,
                  Span& when) {
  if (tells_itself(work)) return run(section, stream, work, &place, when);
  const MemoryEvent memory = memory_of_node(section, stream, work);
  const NodeDetail detail{.memory = memory.address != 0 ? &memory : nullptr};
  tell_node(section, stream, place, GraphAction::kNodeBegin, detail);
  const CUresult result = run(section, stream, work, &place, when);
  tell_node(section, stream, place, GraphAction::kNodeEnd, detail);
  return result;
}

Handle handle_of(Stream& stream) {
  if (stream.kind == StreamKind::kCreated) return &stream;
  return stream.kind == StreamKind::kPerThread ? CU_STREAM_PER_THREAD : nullptr;
}

void tell_node(Section& section, Stream& stream, const NodePlace& place, GraphAction action,
               const NodeDetail& detail) {
  GraphEvent event;
  event.action = action;
  event.context = stream.context;
  event.graph = place.exec->graph.get();
  event.exec = place.exec;
  // Tools know nodes by the handles of the graph that was instantiated.
  event.node = place.node->cloned_from != nullptr ? place.node->cloned_from : place.node;
  event.stream = handle_of(stream);
  event.unique_stream = &stream;
  event.launch_id = place.launch_id;
  event.node_type = static_cast<std::uint32_t>(place.node->type);
  event.kernel = detail.kernel;
  event.copy = detail.copy;
  event.set = detail.set;
  event.memory = detail.memory;
  section.tell_now([&](Observer& o) { o.on_graph(event); });
}

void flush_printed(Context& context) {
  if (context.printed.empty()) return;
  std::fwrite(context.printed.data(), 1, context.printed.size(), stdout);
  context.printed.clear();
}

void synchronize_stream(Section& section, Stream& stream) {
  Context& context = *stream.context;
  section.await(context.awaited_ticket(stream));
  section.core().clock.wait_until(context.earliest(stream, 0));
  flush_printed(context);
}

void synchronize_context(Section& section, Context& context) {
  section.await(context.last_ticket);
  section.core().clock.wait_until(context.busy_until_ns);
  flush_printed(context);
}

bool is_on_device(const DeviceMemory& memory, std::uint64_t address) {
  const Block* block = memory.block_at(address);
  if (block == nullptr) return memory.is_device_region(address);
  return block->kind != BlockKind::kPinned && block->kind != BlockKind::kRegistered;
}

}  // namespace drgpum::emulator
