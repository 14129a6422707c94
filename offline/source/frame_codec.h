// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frames as protobuf fields, for the pipe from a child and for the cache.

#include <cstdint>
#include <optional>
#include <span>

#include "offline/source/dwarf_lines.h"
#include "proto/wire.h"

namespace drgpum {

// A field `number` that holds the frame.
void encode_frame(std::uint32_t number, const AddressFrame& frame, wire::Encoder& out);
// nullopt: the bytes are no frame.
std::optional<AddressFrame> decode_frame(std::span<const std::uint8_t> message);

}  // namespace drgpum
