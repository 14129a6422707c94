// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reports as the page of the web application that this program carries.

#include <iosfwd>
#include <span>

#include "offline/report/report.h"
#include "offline/source/source_text.h"
#include "proto/base/result.h"

namespace drgpum {

// With the lines around what the reports name, as far as their files are on this machine.
// kUnsupported: this program was built without the application.
Status write_report_page(std::span<const Report> reports, const SourcePlaces& places,
                         std::ostream& out);

// The same page around JSON that stands ready: a report or a plan.
Status write_json_page(std::string_view json, std::ostream& out);

}  // namespace drgpum
