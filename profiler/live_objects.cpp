// SPDX-License-Identifier: Apache-2.0
#include "profiler/live_objects.h"

#include <algorithm>

namespace drgpum::profiler {

std::uint64_t LiveObjects::device_bytes(ContextId context) const {
  const auto found = device_bytes_.find(context.value);
  return found == device_bytes_.end() ? 0 : found->second.lasting + found->second.most_pooled;
}

void LiveObjects::count(const LiveObject& object, bool added) {
  using trace::ObjectKind;
  const bool elsewhere = object.kind == ObjectKind::kHostPinned ||
                         object.kind == ObjectKind::kManaged ||
                         object.kind == ObjectKind::kImported;
  if (elsewhere) return;
  constexpr std::uint64_t kGranule = 512;  // what the driver rounds up to, at least
  const std::uint64_t bytes = (object.end - object.begin + kGranule - 1) / kGranule * kGranule;
  DeviceBytes& of = device_bytes_[object.context.value];
  std::uint64_t& sum = object.kind == ObjectKind::kAsync ? of.pooled : of.lasting;
  sum += added ? bytes : std::uint64_t{0} - bytes;
  of.most_pooled = std::max(of.most_pooled, of.pooled);
}

const LiveObject* LiveObjects::find(std::uint64_t address) const {
  const LiveObject* part = parts_.find(address);
  return part != nullptr ? part : find_allocation(address);
}

const LiveObject* LiveObjects::find_around(std::uint64_t begin, std::uint64_t end) const {
  const LiveObject* part = parts_.find_around(begin, std::max(end, begin + 1));
  return part != nullptr ? part : find_allocation(begin);
}

const LiveObject* LiveObjects::find_allocation(std::uint64_t address) const {
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
  if (const LiveObject* at_begin = find_allocation(begin)) return at_begin;
  const auto next = by_begin_.lower_bound(begin);
  return next == by_begin_.end() || next->first >= end ? nullptr : &next->second;
}

std::vector<LiveObject> LiveObjects::insert(const LiveObject& object) {
  if (object.begin >= object.end) return {};
  std::vector<LiveObject> displaced = remove_inside(object.begin, object.end);
  by_begin_[object.begin] = object;
  count(object, true);
  table_.reset();
  for (const LiveObject& part : remove_orphans(object.begin, object.end))
    displaced.push_back(part);
  return displaced;
}

std::optional<LiveObject> LiveObjects::remove(std::uint64_t begin) {
  const auto found = by_begin_.find(begin);
  if (found == by_begin_.end()) return std::nullopt;
  const LiveObject object = found->second;
  by_begin_.erase(found);
  count(object, false);
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
  device_bytes_.erase(context.value);
  const auto parts =
      parts_.remove_if(0, UINT64_MAX, [&](const LiveObject& p) { return p.context == context; });
  removed.insert(removed.end(), parts.begin(), parts.end());
  if (!removed.empty()) table_.reset();
  return removed;
}

std::vector<LiveObject> LiveObjects::insert_part(LiveObject& part) {
  table_.reset();
  return parts_.insert(part);
}

const LiveObject* LiveObjects::find_part(std::uint64_t begin, bool is_pool) const {
  return parts_.find_beginning(begin, is_pool);
}

std::vector<LiveObject> LiveObjects::remove_part(const LiveObject& part) {
  table_.reset();
  return parts_.remove(part);
}

std::vector<LiveObject> LiveObjects::remove_parts_of(const LiveObject& object) {
  auto removed = parts_.remove_if(object.begin, object.end, [&](const LiveObject& part) {
    // What lies in a pool was carved out of it later.
    return object.is_pool ? part.end <= object.end && part.id.value > object.id.value
                          : part.root == object.id;
  });
  if (!removed.empty()) table_.reset();
  return removed;
}

std::vector<LiveObject> LiveObjects::remove_orphans(std::uint64_t begin, std::uint64_t end) {
  if (parts_.empty()) return {};
  auto removed = parts_.remove_if(begin, end, [&](const LiveObject& part) {
    const LiveObject* root = find_allocation(part.begin);
    return root == nullptr || root->id != part.root;
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
    count(at->second, false);
    at = by_begin_.erase(at);
  }
  if (!removed.empty()) table_.reset();
  return removed;
}

void LiveObjects::add_range(ObjectTable* table, std::uint64_t begin, std::uint64_t end,
                            const LiveObject& object) const {
  if (begin >= end) return;
  table->ranges.push_back({begin, end});
  table->ids.push_back(object.id);
  table->kinds.push_back(object.kind);
  if (parts_.empty()) return;
  table->pieces.push_back({begin - object.begin, object.end - object.begin});
}

// Parts first; allocations fill what lies between them.
std::shared_ptr<const ObjectTable> LiveObjects::table() {
  if (table_ != nullptr) return table_;
  auto table = std::make_shared<ObjectTable>();
  table->ranges.reserve(by_begin_.size());
  table->ids.reserve(by_begin_.size());
  table->kinds.reserve(by_begin_.size());
  const std::vector<LiveParts::Piece> pieces = parts_.pieces();
  auto piece = pieces.begin();
  std::uint64_t covered = 0;
  for (const auto& [begin, object] : by_begin_) {
    covered = std::max(covered, begin);
    for (; piece != pieces.end() && piece->begin < object.end; ++piece) {
      add_range(table.get(), covered, piece->begin, object);
      add_range(table.get(), piece->begin, piece->end, *piece->part);
      covered = std::max(covered, piece->end);
    }
    add_range(table.get(), covered, object.end, object);
  }
  table_ = std::move(table);
  return table_;
}

}  // namespace drgpum::profiler
