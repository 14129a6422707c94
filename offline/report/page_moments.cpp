// SPDX-License-Identifier: Apache-2.0
#include "offline/report/page_moments.h"

#include <algorithm>
#include <numeric>

#include "offline/order/device_moments.h"
#include "offline/order/phases.h"

namespace drgpum {
namespace {

std::uint32_t length(const Phase& phase) {
  return phase.end - phase.begin;
}

// The longest, still by rising begin.
std::vector<Phase> phases_to_show(const Evidence& evidence) {
  std::vector<Phase> phases = phases_of(evidence);
  if (phases.size() <= kMaxPagePhases) return phases;
  std::vector<std::uint32_t> lengths;
  for (const Phase& phase : phases)
    lengths.push_back(length(phase));
  const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(kMaxPagePhases - 1);
  std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
  std::size_t room = kMaxPagePhases;  // for those that are just as long as the shortest shown
  for (const Phase& phase : phases)
    if (length(phase) > *last) --room;
  std::erase_if(phases, [&](const Phase& phase) {
    if (length(phase) != *last) return length(phase) < *last;
    if (room == 0) return true;
    --room;
    return false;
  });
  return phases;
}

}  // namespace

void write_phases(const Report& report, const ColumnWriter& to) {
  const Evidence& e = report.evidence;
  const std::vector<Phase> phases = phases_to_show(e);
  const std::size_t n = phases.size();
  const auto begins = std::count_if(e.range_marks.begin(), e.range_marks.end(),
                                    [](const RangeMark& mark) { return mark.begins; });
  NumberedTexts names;
  std::vector<std::uint32_t> numbers;
  for (const Phase& phase : phases)
    numbers.push_back(names.number_of(e.names[phase.name]));
  JsonWriter& json = to.json();
  json.begin_object();
  json.field("count", n);
  json.field("total_count", static_cast<std::size_t>(begins));
  to.column("begin", n, [&](std::uint32_t i) { return phases[i].begin; });
  to.column("length", n, [&](std::uint32_t i) { return length(phases[i]); });
  to.column("row", n, [&](std::uint32_t i) { return phases[i].row; });
  to.column("name", n, [&](std::uint32_t i) { return numbers[i]; });
  names.write("names", json);
  to.column("iterations", e.iteration_marks.size(),
            [&](std::uint32_t i) { return e.iteration_marks[i]; });
  json.end_object();
}

void write_clock(const Report& report, const ColumnWriter& to) {
  const Evidence& e = report.evidence;
  JsonWriter& json = to.json();
  if (e.begin_ns.empty()) {
    json.null();
    return;
  }
  const std::uint32_t calls = std::max<std::uint32_t>(e.api_count(), 1);
  const std::uint32_t stretch = (calls + kClockPoints - 1) / kClockPoints;
  std::vector<std::uint32_t> at;
  for (std::uint64_t call = 0; call < calls; call += stretch)
    at.push_back(static_cast<std::uint32_t>(call));
  const std::vector<std::uint64_t> moments = moments_of(e, at);
  json.begin_object();
  json.field("stretch", stretch);
  json.field("end_ns", device_time_ns(e));
  to.column("ns", moments.size(), [&](std::uint32_t i) { return moments[i]; });
  json.end_object();
}

std::vector<std::uint64_t> times_of_calls(const Report& report) {
  const Evidence& e = report.evidence;
  std::vector<std::uint32_t> calls(e.api_count());
  std::iota(calls.begin(), calls.end(), 0u);
  std::vector<std::uint64_t> times = moments_of(e, calls);
  if (times.empty()) return times;
  const std::uint64_t start = *std::min_element(e.begin_ns.begin(), e.begin_ns.end());
  for (std::size_t call = 0; call < std::min(times.size(), e.begin_ns.size()); ++call)
    if (e.begin_ns[call] != kNoTime) times[call] = e.begin_ns[call] - start;
  return times;
}

}  // namespace drgpum
