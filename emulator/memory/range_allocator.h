// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hands out address ranges of one region: best fit, ties to the lowest address, so that a run gets
// the same addresses every time and a block freed is the block that an equal request gets next.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace drgpum::emulator {

// Not thread safe. Addresses and sizes in bytes.
class RangeAllocator {
 public:
  RangeAllocator(std::uint64_t begin, std::uint64_t end);

  // `alignment` is a power of two. Nothing when no free range is large enough.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);

  // The given range if all of it is free.
  bool take_at(std::uint64_t address, std::uint64_t size);

  // A range, or part of one, that was taken.
  void give_back(std::uint64_t address, std::uint64_t size);

 private:
  using Free = std::map<std::uint64_t, std::uint64_t>;  // begin -> end

  void insert(std::uint64_t begin, std::uint64_t end);
  void erase(Free::iterator range);
  void cut(Free::iterator range, std::uint64_t begin, std::uint64_t end);

  Free free_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // (size, begin)
};

}  // namespace drgpum::emulator
