// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machine's events as the structs that the Sanitizer interface hands out.

#include "emulator/machine/observer.h"
#include "proto/sanitizer/callback_data.h"

namespace drgpum::emulator::sanitizer {

drgpum::sanitizer::MemoryData struct_of(const MemoryEvent& event);
drgpum::sanitizer::LaunchData struct_of(const LaunchEvent& event);
drgpum::sanitizer::MemcpyData struct_of(const CopyEvent& event);
drgpum::sanitizer::MemsetData struct_of(const SetEvent& event);

}  // namespace drgpum::emulator::sanitizer
