// SPDX-License-Identifier: Apache-2.0
#include "offline/export/call_facts.h"

#include <algorithm>

namespace drgpum {
namespace {

std::uint64_t bytes_of(const trace::Region& region) {
  return region.width * std::max<std::uint64_t>(region.height, 1) *
         std::max<std::uint64_t>(region.depth, 1);
}

}  // namespace

void CallFacts::add_call(const trace::GpuApi& call) {
  if (call.id.value >= kNone) return;
  const auto api = static_cast<std::uint32_t>(call.id.value);
  if (api < host_.size()) return;  // ids rise
  host_.resize(api, host_.empty() ? 0 : host_.back());
  host_.push_back(call.host_begin_ns);
  has_host_times_ |= call.host_begin_ns != 0;
  if (const auto* copy = std::get_if<trace::MemcpyApi>(&call.payload)) {
    const std::uint64_t bytes = std::max(bytes_of(copy->source), bytes_of(copy->destination));
    transfers_.push_back({api, false, copy->direction, bytes});
  } else if (const auto* set = std::get_if<trace::MemsetApi>(&call.payload)) {
    transfers_.push_back({api, true, {}, bytes_of(set->destination)});
  } else if (const auto* mark = std::get_if<trace::MarkApi>(&call.payload)) {
    const auto thread = static_cast<std::uint16_t>(call.thread.value);
    marks_.push_back({api, thread, mark->kind, mark->name});
  }
}

void CallFacts::add(const trace::Record& record) {
  if (const auto* call = std::get_if<trace::GpuApi>(&record)) return add_call(*call);
  const auto* time = std::get_if<trace::TimeRecord>(&record);
  if (time == nullptr || time->api.value >= host_.size()) return;
  if (time->api.value >= device_.size()) device_.resize(time->api.value + 1);
  device_[time->api.value] = {time->begin_ns, std::max(time->begin_ns, time->end_ns)};
}

const TransferFact* CallFacts::transfer(std::uint32_t api) const {
  const auto at = std::lower_bound(
      transfers_.begin(), transfers_.end(), api,
      [](const TransferFact& fact, std::uint32_t call) { return fact.api < call; });
  return at == transfers_.end() || at->api != api ? nullptr : &*at;
}

}  // namespace drgpum
