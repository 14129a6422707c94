// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as JSON: the stable, versioned form that other programs read. Its schema is
// proto/report.schema.json.

#include <functional>
#include <iosfwd>
#include <span>

#include "offline/report/report.h"

namespace drgpum {

class JsonWriter;

struct JsonForm {
  // Writes the member `objects`, and more, in another form than the schema's.
  std::function<void(const Report& report, JsonWriter& json)> objects_and_more;
};

// One report as it is; several under `programs`, with what they have in common in front.
void write_json(std::span<const Report> reports, std::ostream& out, const JsonForm& form = {});

}  // namespace drgpum
