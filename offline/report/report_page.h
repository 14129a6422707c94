// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as one HTML file that works without a network: the web application with the report in
// it.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "offline/report/column_pack.h"
#include "offline/report/report.h"
#include "proto/base/result.h"

namespace drgpum {

struct PageParts {
  // The built web application; it has an empty <script id="drgpum-report"> for the report.
  std::string_view application;
  // A line of a source file, from 1; empty when it is not there. Without it no lines go in.
  std::function<std::string_view(const std::string& file, std::uint32_t line)> source_line;
  std::size_t max_objects = 1'000'000;  // the rest is left out, and counted
  std::size_t max_findings = 5'000;
};

// What the page reads: a head in JSON with the members of proto/report.schema.json, but `objects` in
// columns, and with `calls`, `curves`, `phases`, `clock`, `inside`, `packing` and `sources` (lines
// around the sites of findings) as in gui/src/model/report.ts. Columns are lists in the head where there are few objects and calls; else
// they lie in `columns` (column_pack.h).
class ReportPage {
 public:
  // The reports have to outlive it.
  ReportPage(std::span<const Report> reports, const PageParts& parts);
  ~ReportPage();

  const std::string& head() const { return head_; }
  const std::string& columns() const { return columns_; }
  // A container with one page of a program's calls, where they are too many for the page itself;
  // nullopt when there is no such page.
  std::optional<std::string> calls_page(std::size_t program, std::uint32_t number,
                                        bool by_level) const;

 private:
  struct Program;
  void write_report(const Report& report, const PageParts& parts, JsonWriter& json);

  std::vector<std::unique_ptr<Program>> programs_;
  ColumnPack pack_;
  bool packs_ = false;
  std::string head_;
  std::string columns_;
};

// The application with the report in it. Names in the report are data in the page, never markup:
// small reports go in as JSON without "<", large ones as pieces of a container, in base64.
// kUnsupported: there is no application.
Status write_page(std::span<const Report> reports, const PageParts& parts, std::ostream& out);
// The same around JSON that stands ready.
Status write_page_around(std::string_view json, std::string_view application, std::ostream& out);
// The application alone, told to ask for `pieces` of its container, one by one.
Result<std::string> page_that_asks(std::size_t pieces, std::string_view application);

}  // namespace drgpum
