// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report for other readers than people at a terminal: pull requests, tables, code hosts,
// browsers.

#include <iosfwd>
#include <string>
#include <vector>

#include "offline/report/report.h"

namespace drgpum {

// GitHub-flavoured Markdown: a headline, a table of the findings that lower the peak (at most
// `top`; 0: all), the rest folded away.
void write_markdown(const Report& report, std::size_t top, std::ostream& out);

// RFC 4180, one line for each finding, with a header line.
void write_csv(const Report& report, std::ostream& out);

struct SarifPlaces {
  std::vector<std::string> source_roots;  // cut from file names, so that they are the repository's
  std::string tool_version;
};
// SARIF 2.1.0 with one run. Code hosts take at most 25,000 results and show 5,000: the first 5,000
// findings are written, and a notification says how many were left out.
void write_sarif(const Report& report, const SarifPlaces& places, std::ostream& out);

// One page that needs nothing else: the curve of live bytes, the peak, the findings.
void write_html(const Report& report, std::ostream& out);

}  // namespace drgpum
