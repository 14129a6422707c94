// SPDX-License-Identifier: Apache-2.0
// Best-fit address ranges.

#include "emulator/memory/range_allocator.h"

#include <iterator>

namespace drgpum::emulator {

RangeAllocator::RangeAllocator(std::uint64_t begin, std::uint64_t end) {
  insert(begin, end);
}

void RangeAllocator::insert(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  free_.emplace(begin, end);
  by_size_.emplace(end - begin, begin);
}

void RangeAllocator::erase(Free::iterator range) {
  by_size_.erase({range->second - range->first, range->first});
  free_.erase(range);
}

void RangeAllocator::cut(Free::iterator range, std::uint64_t begin, std::uint64_t end) {
  const auto [free_begin, free_end] = *range;
  erase(range);
  insert(free_begin, begin);
  insert(end, free_end);
}

std::optional<std::uint64_t> RangeAllocator::take(std::uint64_t size, std::uint64_t alignment) {
  for (auto it = by_size_.lower_bound({size, 0}); it != by_size_.end(); ++it) {
    const std::uint64_t begin = (it->second + alignment - 1) & ~(alignment - 1);
    const std::uint64_t end = it->second + it->first;
    if (begin > end || end - begin < size) continue;
    cut(free_.find(it->second), begin, begin + size);
    return begin;
  }
  return std::nullopt;
}

bool RangeAllocator::take_at(std::uint64_t address, std::uint64_t size) {
  auto range = free_.upper_bound(address);
  if (range == free_.begin()) return false;
  --range;
  if (address > range->second || range->second - address < size) return false;
  cut(range, address, address + size);
  return true;
}

void RangeAllocator::give_back(std::uint64_t address, std::uint64_t size) {
  std::uint64_t begin = address;
  std::uint64_t end = address + size;
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == end) {
    end = next->second;
    erase(next);
  }
  next = free_.lower_bound(begin);
  if (next != free_.begin() && std::prev(next)->second == begin) {
    begin = std::prev(next)->first;
    erase(std::prev(next));
  }
  insert(begin, end);
}

}  // namespace drgpum::emulator
