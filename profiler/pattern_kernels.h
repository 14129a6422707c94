// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels that reduce access maps on the device, launched by calls of the driver's. A GPU's
// Sanitizer library forbids such calls in its callbacks; the emulated device does not.

#include <cstdint>
#include <memory>

#include "proto/sanitizer/callback_data.h"

namespace drgpum::profiler {

class PatternKernels {
 public:
  // For one context; null when the driver is not there or refuses the kernels.
  static std::unique_ptr<PatternKernels> load(sanitizer::Context context);

  // Reduces `count` maps, whose device::MapJob lie at a device address, and waits for the end.
  // False when a call failed.
  bool run(std::uint64_t jobs, std::uint32_t count, std::uint32_t most_parts) const;

 private:
  PatternKernels() = default;
  sanitizer::Context context_ = nullptr;
  void* stream_ = nullptr;
  void* sum_cells_ = nullptr;
  void* find_runs_ = nullptr;
};

}  // namespace drgpum::profiler
