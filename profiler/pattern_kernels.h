// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels that reduce access maps on the device, launched by calls of the driver's: never in a
// callback, where a GPU's Sanitizer library forbids such calls.

#include <cstdint>
#include <memory>

#include "proto/sanitizer/abi.h"

namespace drgpum::profiler {

class PatternKernels {
 public:
  // For one context; null when the driver is not there or refuses the kernels.
  static std::unique_ptr<PatternKernels> load(const sanitizer::SanitizerApi& api,
                                              sanitizer::Context context);

  // Reduces `count` maps, whose device::MapJob lie at a device address, and waits for the end.
  // False when a call failed.
  bool run(std::uint64_t jobs, std::uint32_t count, std::uint32_t most_parts) const;

  // The stream they run on, for the Sanitizer library's copies. It does not wait for the program's.
  [[nodiscard]] sanitizer::StreamHandle stream() const { return handle_; }

 private:
  PatternKernels() = default;
  sanitizer::Context context_ = nullptr;
  void* stream_ = nullptr;
  sanitizer::StreamHandle handle_ = nullptr;
  void* sum_cells_ = nullptr;
  void* find_runs_ = nullptr;
};

}  // namespace drgpum::profiler
