// SPDX-License-Identifier: Apache-2.0
// Kernel launches.

#include <cstdio>
#include <optional>

#include "emulator/machine/cost_model.h"
#include "emulator/machine/submit.h"

namespace drgpum::emulator {
namespace {

CUresult code_of(exec::FaultKind kind) {
  switch (kind) {
    case exec::FaultKind::kMisalignedAddress:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case exec::FaultKind::kAssert:
      return CUDA_ERROR_ASSERT;
    case exec::FaultKind::kUnsupported:
      return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case exec::FaultKind::kIllegalInstruction:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case exec::FaultKind::kStackOverflow:
      return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case exec::FaultKind::kTimeout:
    case exec::FaultKind::kBarrierDeadlock:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    case exec::FaultKind::kTrap:
      return CUDA_ERROR_LAUNCH_FAILED;
    default:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
}

std::uint64_t heap_limit(const Context& context) {
  const auto it = context.limits.find(CU_LIMIT_MALLOC_HEAP_SIZE);
  return it != context.limits.end() ? it->second : std::uint64_t{8} << 20;
}

void give_heap(exec::LaunchConfig& config, DeviceMemory& memory, Context& context) {
  config.device_malloc = [&](std::uint64_t size) -> std::uint64_t {
    if (size == 0 || size > heap_limit(context) - std::min(heap_limit(context), context.heap_used))
      return 0;
    BlockRequest request;
    request.size = size;
    request.kind = BlockKind::kHeap;
    request.device = context.device->ordinal;
    request.context = &context;
    const Block* block = memory.allocate(request);
    if (block == nullptr) return 0;
    context.heap_used += size;
    return block->range.begin;
  };
  config.device_free = [&](std::uint64_t address) {
    Block* block = memory.block_at(address);
    if (block == nullptr || block->kind != BlockKind::kHeap || block->range.begin != address)
      return false;
    context.heap_used -= block->size();
    memory.free(block);
    return true;
  };
}

LaunchEvent describe(const KernelWork& work, Function& function, Stream& stream) {
  LaunchEvent event;
  event.context = stream.context;
  event.stream = handle_of(stream);
  event.unique_stream = &stream;
  event.module = function.module;
  event.function = &function;
  event.name = function.name.c_str();
  event.grid = work.grid;
  event.block = work.block;
  event.cluster = work.cluster;
  event.shared_bytes = work.shared_bytes;
  event.device = stream.context->device->ordinal;
  return event;
}

void tell(Section& section, Stream& stream, const NodePlace* place, LaunchEvent& event,
          LaunchPhase phase) {
  event.phase = phase;
  if (place == nullptr) {
    section.tell_now([&](Observer& o) { o.on_launch(event); });
  } else if (phase != LaunchPhase::kAfterSetup) {
    const bool begin = phase == LaunchPhase::kBegin;
    tell_node(section, stream, *place, begin ? GraphAction::kNodeBegin : GraphAction::kNodeEnd,
              {.kernel = &event});
  }
}

exec::LaunchResult execute(Section& section, Stream& stream, const KernelWork& work,
                           Function& function, const LaunchEvent& event, exec::AccessHook* hook,
                           std::uint64_t start_ns) {
  MachineCore& core = section.core();
  Context& context = *stream.context;
  exec::LaunchConfig config;
  config.function = function.index;
  config.grid = work.grid;
  config.block = work.block;
  config.cluster = work.cluster;
  config.dynamic_shared_bytes = work.shared_bytes;
  config.cooperative = work.cooperative;
  config.parameters = work.parameters;
  config.grid_id = event.grid_id;
  config.schedule_seed = core.settings.schedule_seed;
  config.workers = core.settings.workers;
  config.start_ns = start_ns;
  config.hook = hook;
  config.textures = &core.textures;
  config.print = [&context](std::string_view text) { context.printed += text; };
  give_heap(config, *core.memory, context);
  const AllocationTable::Reader reader(*core.memory);
  return exec::launch(*function.module->executable, config, *core.memory);
}

Span schedule(Section& section, Stream& stream, const NodePlace* place, const KernelWork& work,
              const Function& function, const exec::LaunchStats& stats) {
  Device& device = *stream.context->device;
  BlockNeeds needs;
  needs.threads = work.block.x * work.block.y * work.block.z;
  needs.registers_per_thread =
      fitting_registers(device.preset, function.registers(), needs.threads);
  needs.shared_bytes = function.static_shared() + work.shared_bytes;
  const Occupancy occupancy = occupancy_of(device.preset, needs);
  const std::uint64_t blocks = std::uint64_t{work.grid.x} * work.grid.y * work.grid.z;
  const Span span = device.timeline.run_kernel(ready_time(section, stream, place),
                                               kernel_ns(device.preset, stats, occupancy),
                                               device_share(device.preset, blocks, occupancy));
  if (place == nullptr) stream.context->occupy(stream, span.end);
  return span;
}

ActivityEvent activity(const LaunchEvent& launch, const Span& span) {
  ActivityEvent event;
  event.kind = ActivityEvent::Kind::kKernel;
  event.begin_ns = span.begin;
  event.end_ns = span.end;
  event.grid_id = launch.grid_id;
  event.context = launch.context;
  event.stream = launch.stream;
  event.unique_stream = launch.unique_stream;
  event.name = launch.name;
  event.grid = launch.grid;
  event.block = launch.block;
  return event;
}

}  // namespace

CUresult run_kernel(Section& section, Stream& stream, const KernelWork& work,
                    const NodePlace* place, Span& when) {
  Context& context = *stream.context;
  // A graph may outlive the module of one of its kernels.
  const auto loaded = section.core().functions.find(work.function);
  if (loaded == section.core().functions.end()) return CUDA_ERROR_INVALID_HANDLE;
  Function* function = loaded->second;
  flush_printed(context);
  LaunchEvent event = describe(work, *function, stream);
  exec::AccessHook* hook = nullptr;
  event.hook = &hook;
  event.grid_id = section.core().next_grid_id++;
  event.launch = &event;
  event.workers = section.core().settings.workers;
  event.in_graph = place != nullptr;
  tell(section, stream, place, event, LaunchPhase::kBegin);
  tell(section, stream, place, event, LaunchPhase::kAfterSetup);
  std::optional<LoggingHook> logging;
  if (AccessLog* log = section.core().access_log.get(); log != nullptr) {
    log->begin_launch(event.name);
    hook = &logging.emplace(*log, hook);
  }
  const exec::LaunchResult result =
      execute(section, stream, work, *function, event, hook, ready_time(section, stream, place));
  when = schedule(section, stream, place, work, *function, result.stats);
  if (logging) section.core().access_log->flush();
  if (result.fault) fail(section, context, *result.fault);
  event.hook = nullptr;
  tell(section, stream, place, event, LaunchPhase::kEnd);
  section.tell([record = activity(event, when)](Observer& o) { o.on_activity(record); });
  // A fault shows at the next call, as it does where kernels run on their own. Code that cannot run
  // at all is refused by the launch itself.
  const bool refused = result.fault && result.fault->kind == exec::FaultKind::kUnsupported;
  return refused ? context.sticky : CUDA_SUCCESS;
}

void fail(Section& section, Context& context, const exec::Fault& fault) {
  context.sticky = code_of(fault.kind);
  flush_printed(context);
  std::fflush(stdout);
  const bool unsupported = fault.kind == exec::FaultKind::kUnsupported;
  std::string text = fault.text;
  text += "\n    CUDA calls in this context return error " + std::to_string(context.sticky) +
          " from here on.";
  section.core().report_problem(unsupported ? "unsupported-ptx" : "device-fault", text);
}

}  // namespace drgpum::emulator
