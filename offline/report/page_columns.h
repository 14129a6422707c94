// SPDX-License-Identifier: Apache-2.0
#pragma once
// Objects and calls as columns, which a browser reads a million of in a second.

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "offline/report/json_writer.h"
#include "offline/report/report.h"

namespace drgpum {

class PageColumns {
 public:
  explicit PageColumns(const Report& report);

  // The value of `objects`: ObjectColumns in gui/src/model/report.ts.
  void write_objects(JsonWriter& json) const;
  // The value of `calls`: CallColumns there.
  void write_calls(JsonWriter& json) const;

 private:
  std::uint32_t number_of(const SourceFrame& frame);
  std::int64_t path_of(std::uint32_t api) const;  // -1: none
  void write_tables(JsonWriter& json) const;

  const Report& report_;
  std::vector<const SourceFrame*> frames_;
  std::vector<std::vector<std::uint32_t>> paths_;  // places in frames_, innermost first
  std::vector<std::uint32_t> sites_;               // by path: a place in frames_
  std::unordered_map<std::uint32_t, std::uint32_t> path_number_;  // by call path
  std::map<std::pair<std::string_view, std::pair<std::string_view, std::uint32_t>>, std::uint32_t>
      frame_number_;
};

}  // namespace drgpum
