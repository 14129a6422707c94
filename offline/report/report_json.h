// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as JSON: the stable, versioned form that other programs read. Its schema is
// proto/report.schema.json.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <vector>

#include "offline/report/report.h"

namespace drgpum {

class JsonWriter;

struct JsonForm {
  // Writes the member `objects`, and more, in another form than the schema's.
  std::function<void(const Report& report, JsonWriter& json)> objects_and_more;
  // Findings beyond this number are left out, and counted by pattern in `findings_left_out`.
  std::size_t max_findings = SIZE_MAX;
};

// In the report as it is stored; text shows fewer.
inline constexpr std::size_t kMostAccessLines = 100;
// An array of the first kMostAccessLines of `lines`.
void write_access_lines(const std::vector<AccessLine>& lines, JsonWriter& json);

// One report as it is; several under `programs`, with what they have in common in front.
void write_json(std::span<const Report> reports, std::ostream& out, const JsonForm& form = {});

}  // namespace drgpum
