// SPDX-License-Identifier: Apache-2.0
// Special registers: places, shapes, clocks.

#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Special;

// Nominal rate of the virtual clock: one warp instruction takes four cycles of 1 ns.
constexpr std::uint64_t kCyclesPerInstruction = 4;

std::uint64_t cycles(const WarpContext& warp) {
  return warp.issued * kCyclesPerInstruction + warp.slept_ns + warp.block->started;
}

std::uint64_t cluster_value(const WarpContext& warp, Special special) {
  const LaunchConfig& config = *warp.worker->launch->config;
  const Dim3& block = warp.block->index;
  const Dim3& cluster = config.cluster;
  switch (special) {
    case Special::kClusterIdX:
      return block.x / cluster.x;
    case Special::kClusterIdY:
      return block.y / cluster.y;
    case Special::kClusterIdZ:
      return block.z / cluster.z;
    case Special::kNclusterIdX:
      return config.grid.x / cluster.x;
    case Special::kNclusterIdY:
      return config.grid.y / cluster.y;
    case Special::kNclusterIdZ:
      return config.grid.z / cluster.z;
    case Special::kClusterCtaidX:
      return block.x % cluster.x;
    case Special::kClusterCtaidY:
      return block.y % cluster.y;
    case Special::kClusterCtaidZ:
      return block.z % cluster.z;
    case Special::kClusterNctaidX:
      return cluster.x;
    case Special::kClusterNctaidY:
      return cluster.y;
    case Special::kClusterNctaidZ:
      return cluster.z;
    case Special::kClusterCtarank:
      return warp.block->rank;
    case Special::kClusterNctarank:
      return std::uint64_t{cluster.x} * cluster.y * cluster.z;
    default:
      return 0;  // %smid, %pm ...
  }
}

// Registers that have one value in the whole warp.
std::uint64_t uniform_value(WarpContext& warp, Special special, std::uint64_t number) {
  const Launch& launch = *warp.worker->launch;
  const LaunchConfig& config = *launch.config;
  const Dim3& block = warp.block->index;
  switch (special) {
    case Special::kNtidX:
      return config.block.x;
    case Special::kNtidY:
      return config.block.y;
    case Special::kNtidZ:
      return config.block.z;
    case Special::kCtaidX:
      return block.x;
    case Special::kCtaidY:
      return block.y;
    case Special::kCtaidZ:
      return block.z;
    case Special::kNctaidX:
      return config.grid.x;
    case Special::kNctaidY:
      return config.grid.y;
    case Special::kNctaidZ:
      return config.grid.z;
    case Special::kWarpid:
      return warp.index;
    case Special::kNwarpid:
      return launch.geometry.size();
    case Special::kNsmid:
      return 1;
    case Special::kGridid:
      return config.grid_id;
    case Special::kClock:
      return cycles(warp) & 0xffffffffu;
    case Special::kClockHi:
      return cycles(warp) >> 32;
    case Special::kClock64:
      return cycles(warp);
    case Special::kGlobaltimer:
      return config.start_ns + cycles(warp);
    case Special::kGlobaltimerLo:
      return (config.start_ns + cycles(warp)) & 0xffffffffu;
    case Special::kGlobaltimerHi:
      return (config.start_ns + cycles(warp)) >> 32;
    case Special::kDynamicSmemSize:
      return config.dynamic_shared_bytes;
    case Special::kTotalSmemSize:
    case Special::kAggrSmemSize:
      return launch.shared_bytes;
    case Special::kEnvreg:
      if (!config.cooperative) return 0;
      return number == 1 ? kGridWorkspace >> 32 : number == 2 ? kGridWorkspace & 0xffffffffu : 0;
    default:
      return cluster_value(warp, special);
  }
}

std::uint32_t lane_value(Special special, unsigned lane) {
  const std::uint32_t bit = 1u << lane;
  switch (special) {
    case Special::kLaneid:
      return lane;
    case Special::kLanemaskEq:
      return bit;
    case Special::kLanemaskLt:
      return bit - 1;
    case Special::kLanemaskLe:
      return bit | (bit - 1);
    case Special::kLanemaskGe:
      return ~(bit - 1);
    default:
      return ~(bit | (bit - 1));  // %lanemask_gt
  }
}

template <typename T>
const Op* read_uniform(const Op* op, WarpContext& warp) {
  const auto value =
      static_cast<T>(uniform_value(warp, static_cast<Special>(op->detail), op->immediate));
  store_lanes<T>(warp, op, [=](unsigned) { return value; });
  return op + 1;
}

template <typename T>
const Op* read_lanes(const Op* op, WarpContext& warp) {
  const auto special = static_cast<Special>(op->detail);
  store_lanes<T>(warp, op, [=](unsigned i) { return static_cast<T>(lane_value(special, i)); });
  return op + 1;
}

template <typename T>
const Op* read_thread(const Op* op, WarpContext& warp) {
  const auto axis = op->detail - static_cast<std::uint32_t>(Special::kTidX);
  const std::uint32_t* row = warp.worker->launch->geometry[warp.index].thread[axis];
  store_lanes<T>(warp, op, [=](unsigned i) { return static_cast<T>(row[i]); });
  return op + 1;
}

template <typename T>
Handler special_of(Special special) {
  switch (special) {
    case Special::kTidX:
    case Special::kTidY:
    case Special::kTidZ:
      return read_thread<T>;
    case Special::kLaneid:
    case Special::kLanemaskEq:
    case Special::kLanemaskLe:
    case Special::kLanemaskLt:
    case Special::kLanemaskGe:
    case Special::kLanemaskGt:
      return read_lanes<T>;
    default:
      return read_uniform<T>;
  }
}

}  // namespace

Handler special_handler(Special special, unsigned bytes) {
  return bytes == 8 ? special_of<std::uint64_t>(special) : special_of<std::uint32_t>(special);
}

}  // namespace drgpum::emulator::exec
