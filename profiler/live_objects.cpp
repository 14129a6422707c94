// SPDX-License-Identifier: Apache-2.0
#include "profiler/live_objects.h"

#include <algorithm>

namespace drgpum::profiler {

const LiveObject* LiveObjects::find(std::uint64_t address) const {
  auto after = by_begin_.upper_bound(address);
  if (after == by_begin_.begin()) return nullptr;
  const LiveObject& object = std::prev(after)->second;
  return address < object.end ? &object : nullptr;
}

const LiveObject* LiveObjects::find_beginning(std::uint64_t address) const {
  const auto found = by_begin_.find(address);
  return found == by_begin_.end() ? nullptr : &found->second;
}

const LiveObject* LiveObjects::first_in(std::uint64_t begin, std::uint64_t end) const {
  if (const LiveObject* at_begin = find(begin)) return at_begin;
  const auto next = by_begin_.lower_bound(begin);
  return next == by_begin_.end() || next->first >= end ? nullptr : &next->second;
}

std::vector<LiveObject> LiveObjects::insert(const LiveObject& object) {
  if (object.begin >= object.end) return {};
  std::vector<LiveObject> displaced = remove_inside(object.begin, object.end);
  by_begin_[object.begin] = object;
  table_.reset();
  return displaced;
}

std::optional<LiveObject> LiveObjects::remove(std::uint64_t begin) {
  const auto found = by_begin_.find(begin);
  if (found == by_begin_.end()) return std::nullopt;
  const LiveObject object = found->second;
  by_begin_.erase(found);
  table_.reset();
  return object;
}

std::vector<LiveObject> LiveObjects::remove_of_context(ContextId context) {
  std::vector<LiveObject> removed;
  std::erase_if(by_begin_, [&](const auto& entry) {
    if (entry.second.context != context) return false;
    removed.push_back(entry.second);
    return true;
  });
  if (!removed.empty()) table_.reset();
  return removed;
}

std::vector<LiveObject> LiveObjects::remove_inside(std::uint64_t begin, std::uint64_t end) {
  std::vector<LiveObject> removed;
  auto at = by_begin_.lower_bound(begin);
  if (at != by_begin_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != by_begin_.end() && at->second.begin < end) {
    removed.push_back(at->second);
    at = by_begin_.erase(at);
  }
  if (!removed.empty()) table_.reset();
  return removed;
}

std::shared_ptr<const ObjectTable> LiveObjects::table() {
  if (table_ == nullptr) {
    auto table = std::make_shared<ObjectTable>();
    table->ranges.reserve(by_begin_.size());
    table->ids.reserve(by_begin_.size());
    table->kinds.reserve(by_begin_.size());
    for (const auto& [begin, object] : by_begin_) {
      table->ranges.push_back({begin, object.end});
      table->ids.push_back(object.id);
      table->kinds.push_back(object.kind);
    }
    table_ = std::move(table);
  }
  return table_;
}

}  // namespace drgpum::profiler
