// SPDX-License-Identifier: Apache-2.0
#pragma once
// The containers that carry device code inside a host program. Source: the bytes that nvcc 13
// writes, and the public header fatbinary_section.h; the entry format has no other document.
//
//   container  magic 0xBA55ED50, u16 version 1, u16 header size, u64 bytes that follow the header
//   entry      u16 kind, u16 version 0x0101, u32 header size, u64 payload bytes, u32 compressed
//              bytes (0: raw), u32, u16 ISA minor, u16 ISA major, u32 arch, u32 name offset,
//              u32 name length, u64 flags, u64, u64 uncompressed bytes
//   wrapper    magic 0x466243B1, u32 version, container, name of a file or, in version 2, a
//              null-terminated array of containers, one per translation unit (-rdc)

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::emulator::ptx {

enum class FatbinKind : std::uint8_t { kPtx, kElf, kOther };

struct FatbinEntry {
  FatbinKind kind = FatbinKind::kOther;
  std::uint32_t arch = 0;       // 75 for sm_75 and compute_75
  std::uint32_t isa_major = 0;  // of the PTX
  std::uint32_t isa_minor = 0;
  char variant = '\0';  // 'a' (compute_90a): that architecture alone; 'f': its family (10.x)
  std::string name;     // mostly empty
  std::vector<std::byte> payload;  // uncompressed

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
};

// All entries of all containers in `bytes`. kCorrupt names the byte where the format breaks.
Result<std::vector<FatbinEntry>> read_fatbin(std::span<const std::byte> bytes);

// Bytes of the container at `container` in memory, header included; 0 when there is none.
std::size_t fatbin_size(const void* container);

// The translation units behind a __fatBinC_Wrapper_t in memory, as __cudaRegisterFatBinary gets
// it, each with its entries: one for version 1, one per linked file for version 2. The unit of
// libcudadevrt, which comes along with -rdc, is left out: its functions stay without a body.
Result<std::vector<std::vector<FatbinEntry>>> read_fatbin_wrapper(const void* wrapper);

// The PTX to use on a device of compute capability `capability` (86 for 8.6): the highest
// architecture that is no higher. kNotFound says what is there instead and how to build.
Result<const FatbinEntry*> pick_ptx(std::span<const FatbinEntry> entries, std::uint32_t capability);

}  // namespace drgpum::emulator::ptx
