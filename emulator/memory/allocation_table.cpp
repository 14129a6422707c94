// SPDX-License-Identifier: Apache-2.0
// Finds allocations by address.

#include "emulator/memory/allocation_table.h"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace drgpum::emulator {
namespace {

constexpr std::size_t kRemembered = 64;

std::uint64_t distance(const Allocation& range, std::uint64_t address) {
  if (address < range.begin) return range.begin - address;
  return address < range.end ? 0 : address - range.end + 1;
}

}  // namespace

Block* AllocationTable::block_at(std::uint64_t address) const noexcept {
  const std::shared_lock lock(mutex_);
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return nullptr;
  Block* block = std::prev(it)->second.get();
  return address < block->range.end ? block : nullptr;
}

const Allocation* AllocationTable::find(std::uint64_t address) const noexcept {
  const Block* block = block_at(address);
  return block != nullptr ? &block->range : nullptr;
}

Block* AllocationTable::first_in(std::uint64_t begin, std::uint64_t end) const noexcept {
  const std::shared_lock lock(mutex_);
  auto it = live_.upper_bound(begin);
  if (it != live_.begin() && std::prev(it)->second->range.end > begin) --it;
  return it != live_.end() && it->first < end ? it->second.get() : nullptr;
}

const Allocation* AllocationTable::nearest(std::uint64_t address) const noexcept {
  const std::shared_lock lock(mutex_);
  const Allocation* best = nullptr;
  const auto consider = [&](const Allocation& range) {
    if (best == nullptr || distance(range, address) < distance(*best, address)) best = &range;
  };
  // The youngest first: of several that lay at one address the last is meant.
  for (std::size_t i = 0; i < std::min(removed_.size(), kRemembered); ++i) {
    const Block& gone = *removed_[removed_.size() - 1 - i];
    if (!gone.reused) consider(gone.range);
  }
  auto above = live_.upper_bound(address);
  if (above != live_.end()) consider(above->second->range);
  if (above != live_.begin()) consider(std::prev(above)->second->range);
  return best;
}

std::vector<Block*> AllocationTable::blocks_of(const void* context) const {
  const std::shared_lock lock(mutex_);
  std::vector<Block*> found;
  for (const auto& [address, block] : live_)
    if (block->context == context) found.push_back(block.get());
  return found;
}

Block* AllocationTable::insert(const Block& block) {
  auto owned = std::make_unique<Block>(block);
  Block* result = owned.get();
  const std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < std::min(removed_.size(), kRemembered); ++i) {
    Block& gone = *removed_[removed_.size() - 1 - i];
    if (gone.range.begin < block.range.end && block.range.begin < gone.range.end)
      gone.reused = true;
  }
  live_[block.range.begin] = std::move(owned);
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  return result;
}

void AllocationTable::remove(Block* block) {
  const std::unique_lock lock(mutex_);
  auto it = live_.find(block->range.begin);
  it->second->range.freed = true;
  removed_.push_back(std::move(it->second));
  live_.erase(it);
  if (readers_.load() == 0)
    while (removed_.size() > kRemembered)
      removed_.pop_front();
  epoch_.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace drgpum::emulator
