// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch_memory.h"

#include <algorithm>
#include <bit>

namespace drgpum::profiler {
namespace {

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + LaunchMemory::kAlignment - 1) / LaunchMemory::kAlignment *
         LaunchMemory::kAlignment;
}

}  // namespace

std::optional<Region> LaunchMemory::take(std::size_t chunk, std::uint64_t bytes) {
  Chunk& from = chunks_[chunk];
  if (from.regions == 0) from.used = 0;
  if (from.bytes - from.used < bytes) return std::nullopt;
  const Region region{from.address + from.used, bytes, chunk};
  from.used += bytes;
  ++from.regions;
  return region;
}

std::optional<Region> LaunchMemory::reserve(std::uint64_t bytes) {
  bytes = aligned(bytes);
  for (std::size_t tried = 0; tried < chunks_.size(); ++tried) {
    const std::size_t chunk = (current_ + tried) % chunks_.size();
    const bool is_open = tried == 0 || chunks_[chunk].regions == 0;
    if (!is_open) continue;
    if (auto region = take(chunk, bytes)) {
      current_ = chunk;
      return region;
    }
  }
  return std::nullopt;
}

void LaunchMemory::release(const Region& region) {
  --chunks_[region.chunk].regions;
}

std::uint64_t LaunchMemory::chunk_to_add(std::uint64_t bytes) const {
  const std::uint64_t room = (budget_ - std::min(budget_, total_)) / kAlignment * kAlignment;
  const std::uint64_t least = aligned(bytes);
  return least <= room ? std::min(std::bit_ceil(std::max(least, kChunkBytes)), room) : 0;
}

std::uint64_t LaunchMemory::least_chunk(std::uint64_t bytes) {
  return aligned(bytes);
}

// Regions name chunks by number, so a chunk that was dropped leaves its place to another.
void LaunchMemory::add_chunk(std::uint64_t address, std::uint64_t bytes) {
  const auto dropped = std::find_if(chunks_.begin(), chunks_.end(),
                                    [](const Chunk& chunk) { return chunk.bytes == 0; });
  current_ = static_cast<std::size_t>(dropped - chunks_.begin());
  if (dropped == chunks_.end()) chunks_.emplace_back();
  chunks_[current_] = {address, bytes, 0, 0};
  total_ += bytes;
}

std::vector<std::uint64_t> LaunchMemory::drop_unused() {
  std::vector<std::uint64_t> addresses;
  for (Chunk& chunk : chunks_) {
    if (chunk.regions != 0 || chunk.bytes == 0) continue;
    addresses.push_back(chunk.address);
    total_ -= chunk.bytes;
    chunk = {0, 0, 0, 0};
  }
  return addresses;
}

}  // namespace drgpum::profiler
