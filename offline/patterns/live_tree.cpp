// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/live_tree.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace drgpum {
namespace {

constexpr std::size_t kBoundBlock = 64;  // slots; a power of two

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

void LiveTree::begin_batch() {
  change_.assign(place_.size() + 1, 0);
  in_batch_ = true;
}

void LiveTree::end_batch() {
  in_batch_ = false;
  for (std::size_t node = 1; node < leaves_; ++node) {
    for (const std::size_t child : {2 * node, 2 * node + 1}) {
      std::int64_t& below = child < leaves_ ? pending_[child] : best_[child];
      below = sum(below, pending_[node]);
    }
    pending_[node] = 0;
  }
  std::int64_t so_far = 0;
  for (std::size_t slot = 0; slot < place_.size(); ++slot) {
    so_far = sum(so_far, change_[slot]);
    best_[leaves_ + slot] = sum(best_[leaves_ + slot], so_far);
  }
  std::vector<std::int64_t>().swap(change_);
  for (std::size_t node = leaves_; node-- > 1;)
    best_[node] = std::max(best_[2 * node], best_[2 * node + 1]);
}

void LiveTree::take_bounds() {
  const std::size_t blocks = std::max<std::size_t>(leaves_ / kBoundBlock, 1);
  bounds_.assign(1, std::vector<std::int64_t>(blocks));
  for (std::size_t block = 0; block < blocks; ++block) {
    std::int64_t bound = best_[blocks + block];
    for (std::size_t node = (blocks + block) / 2; node >= 1; node /= 2)
      bound = sum(bound, pending_[node]);
    bounds_[0][block] = bound;
  }
  for (std::size_t width = 2; width <= bounds_[0].size(); width *= 2) {
    const std::vector<std::int64_t>& half = bounds_.back();
    std::vector<std::int64_t> whole(bounds_[0].size() - width + 1);
    for (std::size_t i = 0; i < whole.size(); ++i)
      whole[i] = std::max(half[i], half[i + width / 2]);
    bounds_.push_back(std::move(whole));
  }
}

std::int64_t LiveTree::bound_within(std::uint32_t begin, std::uint32_t end) const {
  if (begin >= end) return 0;
  const std::size_t first = slot_[begin] / kBoundBlock;
  const std::size_t last = (slot_[end] - 1) / kBoundBlock + 1;
  const auto level = static_cast<std::size_t>(std::bit_width(last - first) - 1);
  return std::max(bounds_[level][first], bounds_[level][last - (std::size_t{1} << level)]);
}

void LiveTree::rebuild_above(std::size_t node) {
  for (node /= 2; node >= 1; node /= 2)
    best_[node] = sum(std::max(best_[2 * node], best_[2 * node + 1]), pending_[node]);
}

void LiveTree::add(std::uint32_t begin, std::uint32_t end, std::int64_t bytes) {
  if (begin >= end || bytes == 0) return;
  if (in_batch_) {
    change_[slot_[begin]] = sum(change_[slot_[begin]], bytes);
    change_[slot_[end]] = sum(change_[slot_[end]], -bytes);
    return;
  }
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
