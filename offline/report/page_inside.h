// SPDX-License-Identifier: Apache-2.0
#pragma once
// What launches do inside of objects, from the access maps of a trace: InsideColumns in
// gui/src/model/report.ts.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "offline/report/page_columns.h"
#include "offline/report/report.h"

namespace drgpum {

// Which part of an object a page tells apart at most, launches it shows one by one, and numbers in
// all.
inline constexpr std::size_t kInsideParts = 512;
inline constexpr std::size_t kInsideRows = 24;
inline constexpr std::size_t kInsideNumbers = 1'500'000;

// Accesses to an object, in equal parts of it: one row for each launch whose map is known, or for as
// many that follow each other, summed.
struct InsideRow {
  std::uint32_t first = 0;  // launches, as calls
  std::uint32_t last = 0;
  std::uint32_t launches = 0;
};
enum InsideFlag : std::uint8_t {
  kInsideRead = 1,
  kInsideWritten = 2,
  kInsidePartly = 4,  // some bytes of the part are touched, others not
};
struct InsideObject {
  std::uint32_t object = 0;
  std::uint32_t launches = 0;  // with a map
  bool sampled = false;        // maps of some of the blocks of a launch
  std::size_t parts = 0;
  std::vector<InsideRow> rows;
  std::vector<std::uint64_t> counts;  // row by row
  std::vector<std::uint8_t> touched;  // InsideFlag, by part, over all launches
};

// nullopt where no launch has a map of it.
std::optional<InsideObject> inside_of(const Evidence& evidence, std::uint32_t object);

// The value of `inside`: of the objects in `shown` those with maps, those of findings first, then
// the largest, as far as kInsideNumbers reach.
void write_inside(const Report& report, std::span<const std::uint32_t> shown,
                  const ColumnWriter& to);

}  // namespace drgpum
