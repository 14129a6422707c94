// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members of the JSON report beyond objects and findings.

#include "offline/report/json_writer.h"
#include "offline/report/report.h"

namespace drgpum {

// `lines`, `devices`, `pools` and `timeline`, within an object that is open.
void write_overview(const Report& report, JsonWriter& json);

}  // namespace drgpum
