// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ids to indices.

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "offline/order/evidence.h"

namespace drgpum {

// Ids of our own profiler count up from 0; a map takes any that do not.
class IndexOf {
 public:
  std::uint32_t find(std::uint32_t id) const {
    if (id < dense_.size()) return dense_[id];
    const auto at = sparse_.find(id);
    return at == sparse_.end() ? kNone : at->second;
  }
  void set(std::uint32_t id, std::uint32_t index) {
    if (id >= kDense) {
      sparse_[id] = index;
      return;
    }
    if (id >= dense_.size()) dense_.resize(std::max<std::size_t>(id + 1, dense_.size() * 2), kNone);
    dense_[id] = index;
  }

 private:
  static constexpr std::uint32_t kDense = 1u << 24;
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint32_t, std::uint32_t> sparse_;
};

}  // namespace drgpum
