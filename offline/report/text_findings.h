// SPDX-License-Identifier: Apache-2.0
#pragma once
// The findings in the report for a terminal.

#include <cstdint>
#include <iosfwd>
#include <set>
#include <string>
#include <utility>

#include "offline/report/finding_rows.h"
#include "offline/report/text_lines.h"

namespace drgpum {

class TextFindings {
 public:
  TextFindings(const Report& report, const TextStyle& style, std::ostream& out)
      : r_(report), style_(style), lines_(style, out), out_(out) {}
  // The best TextStyle::top of them in full.
  void write();

 private:
  void finding(const FindingRow& row);
  void title(std::uint32_t place, const Finding& f);
  void what_to_do(const Finding& f);
  void source_around(const SourceFrame* site);
  void access_lines(std::uint32_t object);
  void rest(const std::vector<FindingRow>& rows, std::size_t shown);
  void suppressed();
  std::string line_of_code(const std::string& file, std::uint32_t line) const;

  const Report& r_;
  TextStyle style_;
  TextLines lines_;
  std::ostream& out_;
  std::set<std::pair<std::string, std::uint32_t>> shown_;  // sites whose lines were printed
};

}  // namespace drgpum
