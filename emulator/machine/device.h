// SPDX-License-Identifier: Apache-2.0
#pragma once
// One emulated device.

#include <cstdint>
#include <memory>

#include <cuda.h>

#include "emulator/machine/pool.h"
#include "emulator/machine/preset.h"
#include "emulator/machine/timeline.h"

namespace drgpum::emulator {

struct Context;

struct Device {
  int ordinal = 0;
  Preset preset;
  std::uint64_t memory_bytes = 0;
  DeviceTimeline timeline;
  Context* primary = nullptr;  // while retained
  unsigned primary_retains = 0;
  unsigned primary_flags = 0;
  std::unique_ptr<Pool> default_pool;
  Pool* current_pool = nullptr;
  // Memory that graphs hold for their own allocations.
  std::uint64_t graph_used = 0;
  std::uint64_t graph_used_high = 0;
};

// The same for a given device in every run.
CUuuid uuid_of(const Device& device);

// The value of a device attribute; 0 for features that are absent. Nothing for unknown numbers.
CUresult attribute_of(const Device& device, CUdevice_attribute attribute, int* value);

}  // namespace drgpum::emulator
