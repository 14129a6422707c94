// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which device a program will run on, and whether it can.

#include <string>

#include "profiler/launcher/command_line.h"
#include "profiler/launcher/program_image.h"
#include "proto/base/result.h"

namespace drgpum::profiler {

// Whether NVIDIA's driver is there and answers with at least one device.
bool has_gpu();

// `choice` with kAuto resolved.
DeviceChoice resolve(DeviceChoice choice);

// Why the emulated device cannot run this program, each with its remedy. Programs that are no ELF
// files (scripts) are taken as they are.
Status check_for_emulation(const std::string& program, const ProgramImage& image);

}  // namespace drgpum::profiler
