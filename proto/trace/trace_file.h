// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes around the records: file header, frames, footer, trailer. FORMAT.md draws them. All
// numbers are little-endian.

#include <array>
#include <cstddef>
#include <cstdint>

namespace drgpum::trace {

// A file that passed through a text conversion loses the first or the last bytes of this.
inline constexpr std::array<std::uint8_t, 8> kFileMagic{0x89, 'D', 'R', 'G', 'P', '\r', '\n', 0x1a};
inline constexpr std::array<std::uint8_t, 8> kTrailerMagic{'D', 'R', 'G', 'P', 'E', 'N', 'D', '\n'};
inline constexpr std::uint16_t kMajorVersion = 1;  // another major: this reader refuses the file
inline constexpr std::uint16_t kMinorVersion = 3;  // a later minor: only additions, skipped

struct FileHeader {
  std::array<std::uint8_t, 8> magic = kFileMagic;
  std::uint16_t major = kMajorVersion;
  std::uint16_t minor = kMinorVersion;
  std::uint32_t header_bytes = 64;  // where the first frame begins; a multiple of 8
  std::uint64_t pid = 0;
  std::uint64_t start_unix_ns = 0;
  std::array<std::uint8_t, 28> reserved{};
  std::uint32_t crc = 0;  // of the 60 bytes before
};
static_assert(sizeof(FileHeader) == 64);

// Frames begin at multiples of 8. Length and checksum are one aligned word, so that the writer can
// publish a record in an open frame by a single store: a frame is always in a valid state. A word
// of zero means that no frame begins here.
struct FrameHeader {
  std::uint32_t length = 0;    // of the payload, which zeros pad to a multiple of 8
  std::uint32_t crc = 0;       // CRC-32C of `sequence` and the payload
  std::uint64_t sequence = 0;  // rises by one from 0
};
static_assert(sizeof(FrameHeader) == 16);

inline constexpr std::size_t kMaxPayload = 64 << 10;

struct FileTrailer {
  std::uint64_t footer_offset = 0;  // of the frame that holds the Footer
  std::array<std::uint8_t, 8> magic = kTrailerMagic;
};
static_assert(sizeof(FileTrailer) == 16);

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

// Fields of the message Chunk, a frame's payload.
inline constexpr std::uint32_t kChunkRecord = 1;    // repeated Record
inline constexpr std::uint32_t kChunkPart = 2;      // bytes of a Record too large for a frame
inline constexpr std::uint32_t kChunkPartLast = 3;  // bool: the Record is whole with this part
inline constexpr std::uint32_t kChunkFooter = 4;    // Footer

// Fields of the message Footer.
inline constexpr std::uint32_t kFooterRecords = 1;  // number of Record messages
inline constexpr std::uint32_t kFooterFrames = 2;   // number of frames before this one
inline constexpr std::uint32_t kFooterApis = 3;     // number of GpuApi records
inline constexpr std::uint32_t kFooterIndex = 4;    // repeated IndexEntry, in order of offset
inline constexpr std::uint32_t kFooterStopped = 5;  // bytes: why recording stopped before the end
inline constexpr std::uint32_t kIndexOffset = 1;    // where a frame begins
inline constexpr std::uint32_t kIndexSequence = 2;  // its sequence
inline constexpr std::uint32_t kIndexApis = 3;      // GpuApi records before it

}  // namespace drgpum::trace
