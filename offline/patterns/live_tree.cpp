// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/live_tree.h"

#include <algorithm>

namespace drgpum {
namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

LiveTree::LiveTree(const std::vector<std::uint32_t>& places) {
  std::uint32_t last = 0;
  for (const std::uint32_t place : places)
    last = std::max(last, place);
  slot_.assign(static_cast<std::size_t>(last) + 1, 0);
  for (const std::uint32_t place : places)
    slot_[place] = 1;
  for (std::uint32_t place = 0; place <= last; ++place) {
    if (slot_[place] == 0) continue;
    slot_[place] = static_cast<std::uint32_t>(place_.size());
    place_.push_back(place);
  }
  while (leaves_ < place_.size())
    leaves_ *= 2;
  best_.assign(2 * leaves_, 0);
  pending_.assign(leaves_, 0);
}

std::uint32_t LiveTree::place_of_peak() const {
  if (place_.empty()) return 0;
  std::size_t node = 1;
  while (node < leaves_)
    node = best_[2 * node] >= best_[2 * node + 1] ? 2 * node : 2 * node + 1;
  return place_[std::min(node - leaves_, place_.size() - 1)];
}

void LiveTree::rebuild_above(std::size_t node) {
  for (node /= 2; node >= 1; node /= 2)
    best_[node] = sum(std::max(best_[2 * node], best_[2 * node + 1]), pending_[node]);
}

void LiveTree::add(std::uint32_t begin, std::uint32_t end, std::int64_t bytes) {
  if (begin >= end || bytes == 0) return;
  const std::size_t first = slot_[begin] + leaves_;
  const std::size_t last = slot_[end] + leaves_;
  const auto apply = [&](std::size_t node) {
    best_[node] = sum(best_[node], bytes);
    if (node < leaves_) pending_[node] = sum(pending_[node], bytes);
  };
  for (std::size_t l = first, r = last; l < r; l /= 2, r /= 2) {
    if (l & 1) apply(l++);
    if (r & 1) apply(--r);
  }
  rebuild_above(first);
  rebuild_above(last - 1);
}

std::int64_t LiveTree::peak_within(std::uint32_t begin, std::uint32_t end) const {
  if (begin >= end) return 0;
  // Best of what was taken so far on either side, with all additions up to the current level.
  std::size_t l = slot_[begin] + leaves_;
  std::size_t r = slot_[end] + leaves_ - 1;
  std::int64_t left = best_[l];
  std::int64_t right = best_[r];
  while (l / 2 != r / 2) {
    if (!(l & 1)) left = std::max(left, best_[l + 1]);
    if (r & 1) right = std::max(right, best_[r - 1]);
    l /= 2;
    r /= 2;
    left = sum(left, pending_[l]);
    right = sum(right, pending_[r]);
  }
  std::int64_t result = l == r ? left : std::max(left, right);
  for (l /= 2; l >= 1; l /= 2)
    result = sum(result, pending_[l]);
  return result;
}

}  // namespace drgpum
