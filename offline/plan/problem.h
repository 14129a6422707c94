// SPDX-License-Identifier: Apache-2.0
#pragma once
// The planning problem: objects with sizes and half-open lifetimes, and the events behind them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/result.h"

namespace drgpum {

inline constexpr std::int64_t kNoOffset = -1;
inline constexpr std::uint32_t kNoObject = UINT32_MAX;

struct TimeRange {  // [lower, upper)
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

struct PlanObject {
  std::string id;
  TimeRange life;                         // on the planning axis, see Problem
  std::int64_t size = 0;                  // bytes
  std::int64_t alignment = 1;             // bytes; the offset is a multiple of it
  std::int64_t fixed_offset = kNoOffset;  // bytes; where the planner has to put it
  std::vector<TimeRange> gaps = {};  // sorted, disjoint, inside `life`: its bytes are free then
};

enum class EventKind : std::uint8_t { kMalloc, kFree, kRead, kWrite, kIteration, kLayer };

struct PlanEvent {
  std::int64_t time_ns = 0;
  std::uint32_t object = kNoObject;  // index into objects; into layer_names for kLayer
  EventKind kind = EventKind::kRead;
  std::int64_t busy_ns = 0;  // how long an access goes on; 0 where only its start is known
};

// Lifetimes are on the planning axis: the reader's own numbers where only lifetimes are known
// (`events` is empty), and indices into `events` otherwise, so that simultaneous calls keep their
// order. An object that is never freed lives until events.size().
struct Problem {
  std::string source;  // for messages: the file it came from
  std::vector<PlanObject> objects;
  std::vector<PlanEvent> events;  // times never fall
  std::vector<std::string> layer_names;
  bool has_times = false;  // event times are measured; otherwise issue order stands for time
  std::vector<std::string> caveats;  // what makes a plan less than sure, a sentence each
};

// The part of an object's life in which its bytes are in use: `life` less `gaps`.
std::vector<TimeRange> busy_ranges(const PlanObject& object);

// What the reader of a plan calls an object's lifetime: nanoseconds where events carry times.
TimeRange shown_life(const Problem& problem, const PlanObject& object);

// The largest sum of sizes that are live together: no plan can need less. Bytes.
std::int64_t load_of(const Problem& problem);

// kInvalidArgument when lifetimes, sizes, alignments or gaps do not make sense, when ids repeat or
// when the sum of all sizes (and alignments) overflows 63 bits.
Status validate(const Problem& problem);

}  // namespace drgpum
