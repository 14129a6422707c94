// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two compressions that fatbins use.

#include <cstddef>
#include <span>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::emulator::ptx {

enum class Compression : std::uint8_t { kNone, kLz4, kZstd };

// `size` is what the result must have; a message without a place, for the caller to complete.
Result<std::vector<std::byte>> decompress(Compression compression, std::span<const std::byte> bytes,
                                          std::size_t size);

}  // namespace drgpum::emulator::ptx
