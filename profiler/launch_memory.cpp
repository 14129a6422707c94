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

// Where the last region ended, or else in the first gap.
std::optional<std::uint64_t> LaunchMemory::place_in(const Chunk& chunk, std::uint64_t bytes) {
  const auto fits = [&](std::uint64_t begin, std::uint64_t end) { return end - begin >= bytes; };
  const auto after = chunk.regions.lower_bound(chunk.next);
  if (fits(chunk.next, after == chunk.regions.end() ? chunk.bytes : after->first)) return chunk.next;
  std::uint64_t free_from = 0;
  for (const auto& [offset, taken] : chunk.regions) {
    if (fits(free_from, offset)) return free_from;
    free_from = offset + taken;
  }
  if (fits(free_from, chunk.bytes)) return free_from;
  return std::nullopt;
}

std::optional<Region> LaunchMemory::take(std::size_t chunk, std::uint64_t bytes) {
  Chunk& from = chunks_[chunk];
  if (from.regions.empty()) from.next = 0;
  const auto place = place_in(from, bytes);
  if (!place) return std::nullopt;
  from.regions.emplace(*place, bytes);
  from.next = *place + bytes;
  return Region{from.address + *place, bytes, chunk};
}

std::optional<Region> LaunchMemory::reserve(std::uint64_t bytes) {
  bytes = aligned(std::max<std::uint64_t>(bytes, 1));
  for (std::size_t tried = 0; tried < chunks_.size(); ++tried) {
    const std::size_t chunk = (current_ + tried) % chunks_.size();
    if (auto region = take(chunk, bytes)) {
      current_ = chunk;
      return region;
    }
  }
  return std::nullopt;
}

void LaunchMemory::release(const Region& region) {
  Chunk& chunk = chunks_[region.chunk];
  chunk.regions.erase(region.address - chunk.address);
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
  chunks_[current_] = {address, bytes, 0, {}};
  total_ += bytes;
}

std::vector<std::uint64_t> LaunchMemory::drop_unused() {
  std::vector<std::uint64_t> addresses;
  for (Chunk& chunk : chunks_) {
    if (!chunk.regions.empty() || chunk.bytes == 0) continue;
    addresses.push_back(chunk.address);
    total_ -= chunk.bytes;
    chunk = {0, 0, 0, {}};
  }
  return addresses;
}

}  // namespace drgpum::profiler
