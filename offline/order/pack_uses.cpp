// SPDX-License-Identifier: Apache-2.0
#include "offline/order/pack_uses.h"

#include <algorithm>

namespace drgpum {
namespace {

void sort_uses(std::vector<RawUse>& raw_uses, Evidence& out) {
  std::vector<std::uint64_t>& begin = out.use_begin;
  begin.assign(out.objects.size() + 1, 0);
  for (const RawUse& raw : raw_uses)
    ++begin[raw.object + 1];
  for (std::size_t i = 1; i < begin.size(); ++i)
    begin[i] += begin[i - 1];
  out.uses.resize(raw_uses.size());
  std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
  for (const RawUse& raw : raw_uses)
    out.uses[next[raw.object]++] = raw.use;
  std::vector<RawUse>().swap(raw_uses);
  const auto earlier = [](const Use& a, const Use& b) { return a.api < b.api; };
  for (std::size_t object = 0; object < out.objects.size(); ++object) {
    const auto first = out.uses.begin() + static_cast<std::ptrdiff_t>(begin[object]);
    const auto last = out.uses.begin() + static_cast<std::ptrdiff_t>(begin[object + 1]);
    if (!std::is_sorted(first, last, earlier)) std::stable_sort(first, last, earlier);
  }
}

Use merged(Use a, Use b, std::vector<UseDetail>& details) {
  const std::uint32_t flags = a.flags() | b.flags();
  if (!a.has_detail() || !b.has_detail()) {
    // Extents and maps of either side still hold for their own half; bounds no longer do.
    const Use with = a.has_detail() ? a : b;
    if (!with.has_detail()) return {a.api, flags};
    UseDetail& detail = details[with.detail()];
    if (detail.map == kNone) detail.bounds = {};
    if (detail.map == kNone && detail.extent_read == kNone && detail.extent_written == kNone)
      return {a.api, flags};
    return {a.api, flags | (with.packed & ~63u)};
  }
  UseDetail& into = details[a.detail()];
  const UseDetail& from = details[b.detail()];
  if (into.extent_read == kNone) into.extent_read = from.extent_read;
  if (into.extent_written == kNone) into.extent_written = from.extent_written;
  if (into.map == kNone) into.map = from.map;
  if (into.bounds.end == 0) {
    into.bounds = from.bounds;
  } else if (from.bounds.end != 0) {
    into.bounds = {std::min(into.bounds.begin, from.bounds.begin),
                   std::max(into.bounds.end, from.bounds.end)};
  }
  return {a.api, flags | (a.packed & ~63u)};
}

void merge_uses(Evidence& out) {
  std::uint64_t write = 0;
  for (std::size_t object = 0; object < out.objects.size(); ++object) {
    const std::uint64_t first = out.use_begin[object];
    const std::uint64_t last = out.use_begin[object + 1];
    out.use_begin[object] = write;
    for (std::uint64_t i = first; i < last; ++i) {
      const Use use = out.uses[i];
      const bool same = write > out.use_begin[object] && out.uses[write - 1].api == use.api;
      if (same) {
        out.uses[write - 1] = merged(out.uses[write - 1], use, out.details);
      } else {
        out.uses[write++] = use;
      }
    }
  }
  out.use_begin.back() = write;
  out.uses.resize(write);
}

}  // namespace

void pack_uses(std::vector<RawUse> raw, Evidence& evidence) {
  sort_uses(raw, evidence);
  merge_uses(evidence);
}

}  // namespace drgpum
