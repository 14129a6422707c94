// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the bytes of an image to a program that the executor can take.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "emulator/ptx/fatbin.h"
#include "emulator/ptx/program.h"
#include "proto/base/result.h"

namespace drgpum::emulator::ptx {

// Parsed, linked, verified, with basic blocks. One text per translation unit; `name` stands in
// front of errors, followed by the unit's number where there are several.
Result<Program> load_texts(std::span<const std::string_view> texts, std::string_view name);

// The same from fatbin entries: of each unit the best PTX for `capability` (86 for 8.6). The
// unit of libcudadevrt, which comes along with -rdc, is left out: its functions stay without body.
Result<Program> load_units(std::span<const std::vector<FatbinEntry>> units,
                           std::uint32_t capability, std::string_view name);

// The same from an image as cuModuleLoadData gets it: a fatbin, a wrapper's container, or PTX text.
// Only the length of a container is known from its header; text ends at its NUL.
Result<Program> load_image(std::span<const std::byte> image, std::uint32_t capability,
                           std::string_view name);

}  // namespace drgpum::emulator::ptx
