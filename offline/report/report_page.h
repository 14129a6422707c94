// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as one HTML file that works without a network: the web application with the report in
// it.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "offline/report/report.h"
#include "proto/base/result.h"

namespace drgpum {

struct PageParts {
  // The built web application; it has an empty <script id="drgpum-report"> for the report.
  std::string_view application;
  // A line of a source file, from 1; empty when it is not there. Without it no lines go in.
  std::function<std::string_view(const std::string& file, std::uint32_t line)> source_line;
};

// What the page reads: the members of proto/report.schema.json, with `objects` as columns and with
// `calls` (at most kMaxPageCalls, else none) and `sources` (lines around the sites of findings) as
// in gui/src/model/report.ts.
void write_page_data(std::span<const Report> reports, const PageParts& parts, std::ostream& out);

// Calls beyond this number are left out of pages.
inline constexpr std::uint32_t kMaxPageCalls = 500'000;

// Names in the report are data in the page, never markup: small reports go in as JSON without "<",
// large ones deflated (RFC 1951) in base64. kUnsupported: there is no application.
Status write_page(std::span<const Report> reports, const PageParts& parts, std::ostream& out);
// The same around JSON that stands ready.
Status write_page_around(std::string_view json, std::string_view application, std::ostream& out);

}  // namespace drgpum
