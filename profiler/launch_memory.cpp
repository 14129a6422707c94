// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch_memory.h"

#include <algorithm>

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
  return least <= room ? std::min(std::max(least, kChunkBytes), room) : 0;
}

void LaunchMemory::add_chunk(std::uint64_t address, std::uint64_t bytes) {
  chunks_.push_back({address, bytes, 0, 0});
  current_ = chunks_.size() - 1;
  total_ += bytes;
}

}  // namespace drgpum::profiler
