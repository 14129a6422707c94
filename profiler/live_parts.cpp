// SPDX-License-Identifier: Apache-2.0
#include "profiler/live_parts.h"

#include <algorithm>

namespace drgpum::profiler {

LiveParts::Place LiveParts::place_of(const LiveObject& part) {
  return {part.begin, UINT64_MAX - part.end, part.id.value};
}

const LiveObject* LiveParts::enclosing(const LiveObject& part) const {
  const auto pool = pools_.find(part.parent.value);
  return pool == pools_.end() ? nullptr : &parts_.at(pool->second);
}

const LiveObject* LiveParts::find_around(std::uint64_t begin, std::uint64_t end) const {
  auto after = parts_.upper_bound(Place{begin, UINT64_MAX, UINT32_MAX});
  if (after == parts_.begin()) return nullptr;
  const LiveObject* part = &std::prev(after)->second;
  while (part != nullptr && part->end < end)
    part = enclosing(*part);
  return part;
}

const LiveObject* LiveParts::find(std::uint64_t address) const {
  return address == UINT64_MAX ? nullptr : find_around(address, address + 1);
}

const LiveObject* LiveParts::find_beginning(std::uint64_t address, bool is_pool) const {
  for (auto at = parts_.upper_bound(Place{address, UINT64_MAX, UINT32_MAX});
       at != parts_.begin();) {
    --at;
    if (at->first.begin != address) return nullptr;
    if (at->second.is_pool == is_pool) return &at->second;
  }
  return nullptr;
}

std::vector<LiveObject> LiveParts::insert(LiveObject& part) {
  std::vector<LiveObject> displaced;
  const auto displace = [&](const LiveObject& old) {
    for (LiveObject& gone : remove(LiveObject(old)))
      displaced.push_back(std::move(gone));
  };
  // From the outside in: pools that hold the part stay, all else in its way goes.
  const LiveObject* around = nullptr;
  const auto holds = [&](const LiveObject& other) {
    const bool same_range = other.begin == part.begin && other.end == part.end;
    return other.is_pool && other.begin <= part.begin && other.end >= part.end &&
           !(part.is_pool && same_range);
  };
  std::vector<const LiveObject*> chain;
  for (const LiveObject* outer = find(part.begin); outer != nullptr; outer = enclosing(*outer))
    chain.push_back(outer);
  while (!chain.empty() && holds(*chain.back())) {
    around = chain.back();
    chain.pop_back();
  }
  if (!chain.empty()) displace(*chain.back());
  for (auto at = parts_.lower_bound(Place{part.begin, 0, 0});
       at != parts_.end() && at->first.begin < part.end;) {
    if (holds(at->second)) {
      ++at;
      continue;
    }
    const Place place = at->first;
    displace(at->second);
    at = parts_.lower_bound(place);
  }
  part.parent = around == nullptr ? part.root : around->id;
  parts_.emplace(place_of(part), part);
  if (part.is_pool) pools_.emplace(part.id.value, place_of(part));
  return displaced;
}

std::vector<LiveObject> LiveParts::remove(const LiveObject& part) {
  const auto first = parts_.find(place_of(part));
  if (first == parts_.end()) return {};
  std::vector<LiveObject> removed;
  auto at = first;
  while (at != parts_.end() && at->second.begin < part.end) {
    pools_.erase(at->second.id.value);
    removed.push_back(at->second);
    ++at;
  }
  parts_.erase(first, at);
  return removed;
}

std::vector<LiveObject> LiveParts::remove_if(std::uint64_t begin, std::uint64_t end,
                                             const std::function<bool(const LiveObject&)>& goes) {
  std::vector<LiveObject> removed;
  auto at = parts_.lower_bound(Place{begin, 0, 0});
  while (at != parts_.end() && at->first.begin < end) {
    if (!goes(at->second)) {
      ++at;
      continue;
    }
    pools_.erase(at->second.id.value);
    removed.push_back(at->second);
    at = parts_.erase(at);
  }
  return removed;
}

std::vector<LiveParts::Piece> LiveParts::pieces() const {
  std::vector<Piece> pieces;
  std::vector<const LiveObject*> open;
  std::uint64_t at = 0;
  const auto emit_until = [&](std::uint64_t end) {
    if (at < end) pieces.push_back({at, end, open.back()});
    at = std::max(at, end);
  };
  const auto close_until = [&](std::uint64_t begin) {
    while (!open.empty() && open.back()->end <= begin) {
      emit_until(open.back()->end);
      open.pop_back();
    }
  };
  for (const auto& [place, part] : parts_) {
    close_until(part.begin);
    if (!open.empty()) emit_until(part.begin);
    at = part.begin;
    open.push_back(&part);
  }
  close_until(UINT64_MAX);
  return pieces;
}

}  // namespace drgpum::profiler
