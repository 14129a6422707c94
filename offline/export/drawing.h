// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a timeline draws: work of the device, lives of objects and phases of the program as slices
// in lanes, and how many bytes are live when.
//
// The axis is the time of the device where the trace has it, from its first work on; calls that it
// does not time are where the work that follows them begins. Else it is issue order, one call to a
// microsecond.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "offline/export/export_format.h"
#include "offline/order/phases.h"

namespace drgpum {

inline constexpr std::uint64_t kCallNs = 1000;  // of a call, in issue order

enum class LaneKind : std::uint8_t { kWork, kObjects, kPhases };

// Slices of one lane do not cross; those of kWork and kObjects do not nest either.
struct Lane {
  LaneKind kind = LaneKind::kWork;
  std::uint16_t device = 0;
  std::uint32_t owner = 0;  // kWork: the stream, kNone for none; kPhases: the host thread
  std::uint32_t nth = 0;    // of that owner
};

struct Slice {
  std::uint64_t begin = 0;  // ns on the axis; [begin, end), empty where the end is not known
  std::uint64_t end = 0;
  std::uint32_t lane = 0;
  std::uint32_t index = 0;  // kWork: the call; kObjects: the object; kPhases: in `phases`
};

struct Curve {
  std::string name;
  std::optional<std::uint16_t> device;  // none: of the host
  std::vector<LivePoint> points;
};

struct Axis {
  bool has_device_time = false;
  std::uint64_t start_ns = 0;          // of the device's times, where the axis is 0
  std::vector<std::uint64_t> moments;  // of each call, and of the end; never fall
  std::string_view words() const {     // for a person
    return has_device_time ? "time of the device" : "issue order, one call to a microsecond";
  }
};

struct Drawing {
  Axis axis;
  std::vector<Lane> lanes;    // by kind, device, owner
  std::vector<Slice> slices;  // by kind; in a lane by begin, what encloses first
  std::vector<Phase> phases;
  std::vector<Curve> curves;
};

Axis axis_of(const Evidence& evidence);
Drawing draw(const ExportInput& input);
std::string lane_words(const Evidence& evidence, const Lane& lane);
std::string curve_words(const Evidence& evidence, const Curve& curve);
// Every device that has objects, rising.
std::vector<std::uint16_t> devices_with_objects(const Evidence& evidence);

}  // namespace drgpum
