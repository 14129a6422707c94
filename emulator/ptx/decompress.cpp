// SPDX-License-Identifier: Apache-2.0
// The two compressions that fatbins use.

#include "emulator/ptx/decompress.h"

#include <string>

#include <lz4.h>
#include <zstd.h>

namespace drgpum::emulator::ptx {
namespace {

// No module is larger; keeps a damaged size from asking for all the memory there is.
constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr std::size_t kMostPerByte = 255;  // what one byte of LZ4 can stand for at best

Error corrupt(std::string what) {
  return {ErrorCode::kCorrupt, std::move(what)};
}

Result<std::vector<std::byte>> from_lz4(std::span<const std::byte> bytes, std::size_t size) {
  if (size > (bytes.size() + 1) * kMostPerByte) return corrupt("LZ4 cannot grow that much");
  std::vector<std::byte> result(size);
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes.data()),
                                      reinterpret_cast<char*>(result.data()),
                                      static_cast<int>(bytes.size()), static_cast<int>(size));
  if (got < 0 || static_cast<std::size_t>(got) != size) return corrupt("LZ4 data is damaged");
  return result;
}

Result<std::vector<std::byte>> from_zstd(std::span<const std::byte> bytes, std::size_t size) {
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size) {
    return corrupt("zstd frame of another size than the entry says");
  }
  std::vector<std::byte> result(size);
  const std::size_t got = ZSTD_decompress(result.data(), size, bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0) return corrupt(std::string("zstd: ") + ZSTD_getErrorName(got));
  if (got != size) return corrupt("zstd frame of another size than the entry says");
  return result;
}

}  // namespace

Result<std::vector<std::byte>> decompress(Compression compression, std::span<const std::byte> bytes,
                                          std::size_t size) {
  if (compression == Compression::kNone) return std::vector<std::byte>(bytes.begin(), bytes.end());
  if (size > kLargest || bytes.size() > kLargest) {
    return corrupt(std::to_string(size) + " bytes are more than the largest entry, 1 GiB");
  }
  return compression == Compression::kLz4 ? from_lz4(bytes, size) : from_zstd(bytes, size);
}

}  // namespace drgpum::emulator::ptx
