// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reports as the page of the web application that this program carries.

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "offline/report/report.h"
#include "offline/source/source_text.h"
#include "proto/base/result.h"

namespace drgpum {

// What `drgpum view` serves: the application, the pieces of its data, and pages of calls.
class ViewSource {
 public:
  virtual ~ViewSource() = default;
  virtual const std::string& html() const = 0;
  virtual const std::vector<std::string>& pieces() const = 0;  // deflated
  // Deflated; nullopt when there is none.
  virtual std::optional<std::string> calls_page(std::uint32_t program, std::uint32_t number,
                                                bool by_level) const = 0;
};
// Keeps the reports. kUnsupported: this program was built without the application.
Result<std::unique_ptr<ViewSource>> source_of_reports(std::vector<Report> reports,
                                                      const SourcePlaces& places);
Result<std::unique_ptr<ViewSource>> source_of_json(std::string json);

// With the lines around what the reports name, as far as their files are on this machine.
// kUnsupported: this program was built without the application.
Status write_report_page(std::span<const Report> reports, const SourcePlaces& places,
                         std::ostream& out);

// The same page around JSON that stands ready: a report or a plan.
Status write_json_page(std::string_view json, std::ostream& out);

}  // namespace drgpum
