// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long work takes on the emulated device, in virtual nanoseconds. A roofline: a kernel takes
// its launch overhead plus the longest of its memory, arithmetic and issue times, stretched when
// its blocks do not fill the device. The same inputs always give the same time.

#include <cstdint>

#include "emulator/exec/executor.h"
#include "emulator/machine/preset.h"

namespace drgpum::emulator {

// How many blocks of a kernel one multiprocessor holds.
struct Occupancy {
  int blocks_per_multiprocessor = 0;
};

struct BlockNeeds {
  std::uint32_t threads = 1;
  std::uint32_t registers_per_thread = 32;
  std::uint32_t shared_bytes = 0;  // static and dynamic
};

// An estimate of registers, cut to what lets one block of that many threads run: the number that
// ptxas would have kept to, and no reason to refuse a launch.
std::uint32_t fitting_registers(const Preset& preset, std::uint32_t estimate,
                                std::uint32_t threads);

Occupancy occupancy_of(const Preset& preset, const BlockNeeds& needs);

std::uint64_t kernel_ns(const Preset& preset, const exec::LaunchStats& stats,
                        const Occupancy& occupancy);

// The share of the device that a kernel's blocks hold while it runs, in (0, 1].
double device_share(const Preset& preset, std::uint64_t blocks, const Occupancy& occupancy);

enum class CopyPath : std::uint8_t { kPinned, kPageable, kOnDevice, kPeer };

std::uint64_t copy_ns(const Preset& preset, CopyPath path, std::uint64_t bytes);
std::uint64_t set_ns(const Preset& preset, std::uint64_t bytes);

}  // namespace drgpum::emulator
