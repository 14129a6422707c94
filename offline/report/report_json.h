// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as JSON: the stable, versioned form that other programs read. Its schema is
// proto/report.schema.json.

#include <iosfwd>
#include <span>

#include "offline/report/report.h"

namespace drgpum {

// One report as it is; several under `programs`, with what they have in common in front.
void write_json(std::span<const Report> reports, std::ostream& out);

}  // namespace drgpum
