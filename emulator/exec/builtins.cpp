// SPDX-License-Identifier: Apache-2.0
// vprintf, __assertfail, malloc and free: the device runtime's functions, run by the host.

#include "emulator/exec/builtins.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "emulator/exec/memory_ops.h"

namespace drgpum::emulator::exec {
namespace {

// One lane's value of an argument.
std::uint64_t argument(const WarpContext& warp, const CallSite& site, std::size_t i,
                       unsigned lane) {
  if (i >= site.arguments.size()) return 0;
  const ParameterStorage& storage = site.arguments[i];
  std::uint64_t value = 0;
  std::memcpy(&value, warp.source<std::byte>(storage.offset) + std::size_t{lane} * storage.stride,
              std::min(storage.stride, 8u));
  return value;
}

void set_result(WarpContext& warp, const CallSite& site, unsigned lane, std::uint64_t value) {
  if (site.results.empty()) return;
  const ParameterStorage& storage = site.results[0];
  std::memcpy(warp.target<std::byte>(storage.offset) + std::size_t{lane} * storage.stride, &value,
              std::min(storage.stride, 8u));
}

// Arguments in the buffer that a lane passed to vprintf, each at its natural alignment.
struct LaneArguments final : PrintfSource {
  LaneArguments(WarpContext& w, unsigned l, std::uint64_t a) : warp(w), lane(l), address(a) {}
  std::uint64_t next(unsigned bytes) override {
    address = (address + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    if (const std::byte* from = resolve_generic(warp, lane, address, bytes))
      std::memcpy(&value, from, bytes);
    address += bytes;
    return value;
  }
  std::string text(std::uint64_t at) override { return read_string(warp, lane, at); }

  WarpContext& warp;
  unsigned lane;
  std::uint64_t address;
};

const Op* print(WarpContext& warp, const Op* op, const CallSite& site) {
  const auto& sink = warp.worker->launch->config->print;
  for_lanes(warp.mask, [&](unsigned lane) {
    const std::string format = read_string(warp, lane, argument(warp, site, 0, lane));
    LaneArguments arguments(warp, lane, argument(warp, site, 1, lane));
    std::string text;
    const int converted = format_printf(format, arguments, text);
    set_result(warp, site, lane, static_cast<std::uint32_t>(converted));
    if (!sink || text.empty()) return;
    const std::scoped_lock lock(warp.worker->launch->mutex);
    sink(text);
  });
  return op + 1;
}

// The line that CUDA prints: "file:line: function: block: [x,y,z], thread: [x,y,z] Assertion `...`
// failed." One per lane, then the launch fails.
const Op* assert_fail(WarpContext& warp, const Op* op, const CallSite& site) {
  std::string lines;
  const Dim3& block = warp.block->index;
  for_lanes(warp.mask, [&](unsigned lane) {
    const Dim3 thread = thread_of(warp, lane);
    lines += fmt::format(
        "{}{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.",
        lines.empty() ? "" : "\n", read_string(warp, lane, argument(warp, site, 1, lane)),
        static_cast<std::uint32_t>(argument(warp, site, 2, lane)),
        read_string(warp, lane, argument(warp, site, 3, lane)), block.x, block.y, block.z, thread.x,
        thread.y, thread.z, read_string(warp, lane, argument(warp, site, 0, lane)));
  });
  Fault fault;
  fault.kind = FaultKind::kAssert;
  fault.text = lines;
  fault.thread = thread_of(warp, static_cast<unsigned>(std::countr_zero(warp.mask)));
  return raise(warp, op, std::move(fault));
}

const Op* allocate(WarpContext& warp, const Op* op, const CallSite& site) {
  const LaunchConfig& config = *warp.worker->launch->config;
  std::array<std::uint64_t, kLanes> pointers{}, sizes{};
  for_lanes(warp.mask, [&](unsigned lane) {
    sizes[lane] = argument(warp, site, 0, lane);
    if (config.device_malloc) {
      const std::scoped_lock lock(warp.worker->launch->mutex);
      pointers[lane] = config.device_malloc(sizes[lane]);
    }
    set_result(warp, site, lane, pointers[lane]);
  });
  if (warp.hooked_spaces != 0)
    config.hook->on_device_malloc(warp, pc_of(warp, op), warp.mask, pointers.data(), sizes.data());
  return op + 1;
}

const Op* release(WarpContext& warp, const Op* op, const CallSite& site) {
  const LaunchConfig& config = *warp.worker->launch->config;
  std::array<std::uint64_t, kLanes> pointers{};
  for_lanes(warp.mask, [&](unsigned lane) { pointers[lane] = argument(warp, site, 0, lane); });
  if (warp.hooked_spaces != 0)
    config.hook->on_device_free(warp, pc_of(warp, op), warp.mask, pointers.data());
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (pointers[lane] == 0 || !config.device_free) continue;
    std::unique_lock lock(warp.worker->launch->mutex);
    const bool freed = config.device_free(pointers[lane]);
    lock.unlock();
    if (!freed)
      return raise(warp, op, FaultKind::kIllegalAddress, lane,
                   fmt::format("free of {:#x}, which malloc did not give", pointers[lane]));
  }
  // Freed memory must not be found in the cache of allocations.
  warp.worker->cache.fill({});
  return op + 1;
}

}  // namespace

Builtin builtin_named(std::string_view name) {
  if (name == "vprintf") return Builtin::kPrint;
  if (name == "__assertfail" || name == "__assert_fail") return Builtin::kAssertFail;
  if (name == "malloc") return Builtin::kMalloc;
  if (name == "free") return Builtin::kFree;
  return Builtin::kUnresolved;
}

const Op* call_builtin(WarpContext& warp, const Op* op, const CallSite& site) {
  switch (site.builtin) {
    case Builtin::kPrint:
      return print(warp, op, site);
    case Builtin::kAssertFail:
      return assert_fail(warp, op, site);
    case Builtin::kMalloc:
      return allocate(warp, op, site);
    case Builtin::kFree:
      return release(warp, op, site);
    default:
      return raise(warp, op, FaultKind::kUnsupported,
                   static_cast<unsigned>(std::countr_zero(warp.mask)),
                   "call of '" + site.name +
                       "', which no module defines and the emulated device does not provide");
  }
}

}  // namespace drgpum::emulator::exec
