// SPDX-License-Identifier: Apache-2.0
// Virtual durations from work done and the preset's rates.

#include "emulator/machine/cost_model.h"

#include <algorithm>
#include <cmath>

namespace drgpum::emulator {
namespace {

constexpr double kWarpSize = 32;
constexpr double kSectorBytes = 32;
constexpr double kSchedulers = 4;              // warp schedulers of a multiprocessor
constexpr std::uint32_t kRegisterUnit = 256;   // registers are given to a warp in such units
constexpr std::uint32_t kSharedUnit = 128;     // and shared memory to a block
constexpr double kLeastFilling = 1.0 / 512.0;  // keeps times finite

int round_up(std::uint32_t value, std::uint32_t unit) {
  return static_cast<int>((value + unit - 1) / unit * unit);
}

// What the blocks' number costs: a device that is not filled, or a last wave that is not.
double filling(const Preset& preset, double blocks, const Occupancy& occupancy) {
  const double processors = preset.multiprocessors;
  if (blocks < processors) return std::max(blocks / processors, kLeastFilling);
  const double waves = blocks / (processors * std::max(occupancy.blocks_per_multiprocessor, 1));
  return waves <= 1 ? 1 : waves / std::ceil(waves);
}

std::uint64_t to_ns(double value) {
  return static_cast<std::uint64_t>(std::llround(value));
}

}  // namespace

std::uint32_t fitting_registers(const Preset& preset, std::uint32_t estimate,
                                std::uint32_t threads) {
  const std::uint32_t warps = (std::max(threads, 1u) + 31) / 32;
  const std::uint32_t per_warp =
      static_cast<std::uint32_t>(preset.registers_per_multiprocessor) / warps;
  return std::min(estimate, per_warp / kRegisterUnit * kRegisterUnit / 32);
}

Occupancy occupancy_of(const Preset& preset, const BlockNeeds& needs) {
  const int warps = static_cast<int>((std::max(needs.threads, 1u) + 31) / 32);
  int blocks = std::min(preset.max_blocks_per_multiprocessor,
                        preset.max_threads_per_multiprocessor / (warps * 32));
  if (needs.registers_per_thread != 0) {
    const int per_warp = round_up(needs.registers_per_thread * 32, kRegisterUnit);
    blocks = std::min(blocks, preset.registers_per_multiprocessor / per_warp / warps);
  }
  const int shared = round_up(needs.shared_bytes, kSharedUnit) + preset.shared_reserved_per_block;
  return {std::min(blocks, preset.shared_per_multiprocessor / shared)};
}

std::uint64_t kernel_ns(const Preset& preset, const exec::LaunchStats& stats,
                        const Occupancy& occupancy) {
  const CostConstants& cost = preset.cost;
  const double clocks_per_ns = preset.clock_khz / 1e6;
  const double per_device = clocks_per_ns * preset.multiprocessors;
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  const double sector_bytes = count(stats.global_sectors) * kSectorBytes;
  const double longest =
      std::max({std::min(sector_bytes, count(stats.global_bytes)) / cost.dram_bytes_per_ns,
                sector_bytes / cost.l2_bytes_per_ns,
                count(stats.fp32_lane_ops) / (cost.fp32_lanes * per_device),
                count(stats.fp64_lane_ops) / (cost.fp64_lanes * per_device),
                count(stats.integer_lane_ops) / (cost.integer_lanes * per_device),
                count(stats.lane_instructions) / (kSchedulers * kWarpSize * per_device),
                count(stats.warp_instructions) / (kSchedulers * per_device),
                count(stats.shared_wavefronts) / per_device});
  return to_ns(cost.launch_ns + longest / filling(preset, count(stats.blocks), occupancy));
}

double device_share(const Preset& preset, std::uint64_t blocks, const Occupancy& occupancy) {
  const double room = static_cast<double>(preset.multiprocessors) *
                      std::max(occupancy.blocks_per_multiprocessor, 1);
  return std::clamp(static_cast<double>(blocks) / room, 1e-6, 1.0);
}

std::uint64_t copy_ns(const Preset& preset, CopyPath path, std::uint64_t bytes) {
  const CostConstants& cost = preset.cost;
  const auto size = static_cast<double>(bytes);
  switch (path) {
    case CopyPath::kPinned:
      return to_ns(cost.copy_ns + size / cost.pinned_bytes_per_ns);
    case CopyPath::kPageable:
      return to_ns(cost.copy_ns + size / cost.pageable_bytes_per_ns);
    case CopyPath::kPeer:
      return to_ns(cost.copy_ns + size / cost.peer_bytes_per_ns);
    case CopyPath::kOnDevice:
      break;
  }
  return to_ns(cost.launch_ns + 2 * size / cost.dram_bytes_per_ns);  // read and written
}

std::uint64_t set_ns(const Preset& preset, std::uint64_t bytes) {
  return to_ns(preset.cost.launch_ns + static_cast<double>(bytes) / preset.cost.dram_bytes_per_ns);
}

}  // namespace drgpum::emulator
