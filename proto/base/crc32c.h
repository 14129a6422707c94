// SPDX-License-Identifier: Apache-2.0
#pragma once
// CRC-32C (Castagnoli, polynomial 0x1EDC6F41 reflected), as iSCSI (RFC 3720, B.4) defines it.

#include <cstddef>
#include <cstdint>

namespace drgpum {

// The checksum of what `crc` already covers followed by `size` bytes; start with 0.
std::uint32_t crc32c_extend(std::uint32_t crc, const void* data, std::size_t size) noexcept;

}  // namespace drgpum
