// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the exact search has proven to fail.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace drgpum {

// A set of 64-bit state keys; when full it forgets everything, which only costs time.
class FailedStates {
 public:
  bool contains(std::uint64_t key) const {
    key |= key == 0;
    for (std::size_t at = key & mask();; at = (at + 1) & mask()) {
      if (slots_[at] == key) return true;
      if (slots_[at] == 0) return false;
    }
  }

  void insert(std::uint64_t key) {
    key |= key == 0;
    if (2 * used_ >= slots_.size()) grow();
    std::size_t at = key & mask();
    while (slots_[at] != 0)
      at = (at + 1) & mask();
    slots_[at] = key;
    ++used_;
  }

 private:
  static constexpr std::size_t kMaxSlots = std::size_t{1} << 24;  // 128 MiB

  std::size_t mask() const { return slots_.size() - 1; }

  void grow() {
    std::vector<std::uint64_t> old(std::min(slots_.size() * 2, kMaxSlots));
    const bool forget = old.size() == slots_.size();
    old.swap(slots_);
    used_ = 0;
    if (forget) return;
    for (const std::uint64_t key : old)
      if (key != 0) insert(key);
  }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(std::size_t{1} << 12);
  std::size_t used_ = 0;
};

}  // namespace drgpum
