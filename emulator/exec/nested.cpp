// SPDX-License-Identifier: Apache-2.0
// Device functions called by a hook in a stopped warp: they run on top of the warp's frames, with
// splits of their own, and leave its state and the launch's statistics as they were.

#include <algorithm>
#include <cstring>

#include "emulator/exec/block.h"

namespace drgpum::emulator::exec {
namespace {

const Op* stop_nested(const Op*, WarpContext& warp) {
  return warp.halt(Stop::kDone);
}

// A call stands at [0] and comes back to [1].
const Op kCallAndStop[2] = {Op{.run = stop_nested}, Op{.run = stop_nested}};

class NestedRun {
 public:
  explicit NestedRun(WarpContext& warp)
      : warp_(warp),
        mask_(warp.mask),
        budget_(warp.budget),
        hooked_spaces_(warp.hooked_spaces),
        parent_(warp.parent),
        frame_(warp.frame),
        saved_mask_(warp.saved_mask),
        stop_(warp.stop),
        spin_seen_(warp.spin_seen),
        issued_(warp.issued),
        addresses_(warp.addresses),
        work_(warp.worker->work) {
    warp.hooked_spaces = 0;
    warp.budget = kTimeSlice;
    std::swap(warp.parked, warp.spare_parked);
    std::swap(warp.records, warp.spare_records);
  }
  ~NestedRun() {
    std::swap(warp_.parked, warp_.spare_parked);
    std::swap(warp_.records, warp_.spare_records);
    warp_.spare_parked.clear();
    warp_.mask = mask_;
    warp_.budget = budget_;
    warp_.hooked_spaces = hooked_spaces_;
    warp_.parent = parent_;
    warp_.set_frame(frame_);
    warp_.saved_mask = saved_mask_;
    warp_.stop = warp_.stop == Stop::kFault ? Stop::kFault : stop_;
    warp_.spin_seen = spin_seen_;
    warp_.issued = issued_;
    warp_.addresses = addresses_;
    warp_.worker->work = work_;
  }
  NestedRun(const NestedRun&) = delete;
  NestedRun& operator=(const NestedRun&) = delete;

  // The frame of `callee`, whose lanes end at kCallAndStop[1].
  Frame* enter(const LoweredFunction& callee, std::uint32_t mask) {
    warp_.mask = mask;
    warp_.parent = nullptr;
    return enter_function(warp_, &kCallAndStop[0], callee);
  }

  bool run(const LoweredFunction& callee) {
    park(warp_, callee.ops.data(), SplitState::kReady);
    do
      run_warp(warp_);
    while (warp_.stop == Stop::kYield);
    return warp_.stop == Stop::kDone;
  }

 private:
  WarpContext& warp_;
  std::uint32_t mask_;
  std::int32_t budget_;
  std::uint64_t hooked_spaces_;
  Reconvergence* parent_;
  Frame* frame_;
  std::uint32_t saved_mask_;
  Stop stop_;
  bool spin_seen_;
  std::uint64_t issued_;
  std::array<std::uint64_t, kLanes> addresses_;
  Work work_;
};

void pass_arguments(WarpContext& warp, const LoweredFunction& callee,
                    std::span<const std::array<std::uint64_t, 32>> arguments) {
  const std::size_t count = std::min(arguments.size(), callee.parameters.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ParameterStorage& parameter = callee.parameters[i];
    std::byte* to = warp.rows + parameter.offset;
    if (parameter.stride == 8) {
      std::memcpy(to, arguments[i].data(), sizeof arguments[i]);
      continue;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
      std::memcpy(to + lane * std::size_t{parameter.stride}, &arguments[i][lane],
                  std::min(parameter.stride, 8u));
  }
}

}  // namespace

std::array<std::uint32_t, 32> call_device_function(
    WarpContext& warp, const Executable& executable, std::uint32_t function, std::uint32_t mask,
    std::span<const std::array<std::uint64_t, 32>> arguments) {
  std::array<std::uint32_t, 32> results{};
  if (mask == 0) return results;
  const auto& impl = static_cast<const ExecutableImpl&>(executable);
  const LoweredFunction& callee = impl.image(function).function(function);
  NestedRun nested(warp);
  const Frame* frame = nested.enter(callee, mask);
  if (frame == nullptr) return results;
  const std::byte* rows = frame->rows;
  pass_arguments(warp, callee, arguments);
  // The frame has ended by then, but nothing has taken its rows yet.
  if (nested.run(callee) && !callee.returns.empty() && callee.returns[0].stride == 4)
    std::memcpy(results.data(), rows + callee.returns[0].offset, sizeof results);
  return results;
}

}  // namespace drgpum::emulator::exec
