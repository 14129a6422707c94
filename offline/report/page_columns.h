// SPDX-License-Identifier: Apache-2.0
#pragma once
// The objects of a report as columns: ObjectColumns in gui/src/model/report.ts.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "offline/report/column_pack.h"
#include "offline/report/json_writer.h"
#include "offline/report/report.h"

namespace drgpum {

// Where columns go: as lists into the JSON, or into a pack, with their place in the JSON.
class ColumnWriter {
 public:
  ColumnWriter(JsonWriter& json, ColumnPack* pack) : json_(json), pack_(pack) {}

  template <typename Value>
  void column(std::string_view key, std::size_t count, Value value) const {
    json_.key(key);
    if (pack_ != nullptr) return pack_->write(count, json_, value);
    json_.begin_array();
    for (std::size_t i = 0; i < count; ++i)
      json_.number(value(static_cast<std::uint32_t>(i)));
    json_.end_array();
  }
  JsonWriter& json() const { return json_; }

 private:
  JsonWriter& json_;
  ColumnPack* pack_;
};

// Texts by the place of their first appearance.
class NumberedTexts {
 public:
  std::uint32_t number_of(const std::string& text);
  void write(std::string_view key, JsonWriter& json) const;

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> texts_;
};

// Call paths and the frames in them, numbered.
class PathTable {
 public:
  explicit PathTable(const Report& report);

  std::int64_t path_of(std::uint32_t api) const;  // -1: none
  std::int64_t site_of(std::uint32_t api) const;  // a place in the frames; -1: none
  void write(const ColumnWriter& to) const;

 private:
  std::uint32_t number_of(const SourceFrame& frame);

  const Report& report_;
  std::vector<const SourceFrame*> frames_;
  std::vector<std::vector<std::uint32_t>> paths_;  // places in frames_, innermost first
  std::vector<std::uint32_t> sites_;               // by path: a place in frames_
  std::unordered_map<std::uint32_t, std::uint32_t> path_number_;  // by call path
  std::map<std::pair<std::string_view, std::pair<std::string_view, std::uint32_t>>, std::uint32_t>
      frame_number_;
};

// The objects that a page carries when at most `most` may be there: those that findings among the
// first `findings` and the highest peak name, then the largest by bytes times calls held; by rising
// place, with the objects that they are parts of.
std::vector<std::uint32_t> objects_to_show(const Report& report, std::size_t most,
                                           std::size_t findings);

// The lane of each object in `shown` such that no two that share one are alive at once, in as few
// lanes as that takes; each takes the lane that came free last.
std::vector<std::uint32_t> lanes_of(const Report& report, std::span<const std::uint32_t> shown);

// Uses beyond this number are left out of pages.
inline constexpr std::size_t kMaxPageUses = 500'000;

// The value of `objects`, for the objects in `shown`.
void write_object_columns(const Report& report, std::span<const std::uint32_t> shown,
                          const PathTable& paths, const ColumnWriter& to);

// The value of `curves`: for each device the exact highest and lowest live bytes of every stretch
// of calls, at most kCurveStretches of them; of all objects, whether the page shows them or not.
// Where tensors are counted, `reserved` too: the most that their pools and all other allocations
// hold.
inline constexpr std::uint32_t kCurveStretches = 1u << 14;
void write_curves(const Report& report, const ColumnWriter& to);

// The value of `packing`: where the planned pool puts each of its objects; null without one.
void write_packing(const Report& report, const ColumnWriter& to);

}  // namespace drgpum
