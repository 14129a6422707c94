// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/page_output.h"

#include <cstddef>

#include "offline/report/report_page.h"

extern "C" {
extern const unsigned char drgpum_gui_bundle[];
extern const std::size_t drgpum_gui_bundle_size;
}

namespace drgpum {
namespace {

std::string_view application() {
  return {reinterpret_cast<const char*>(drgpum_gui_bundle), drgpum_gui_bundle_size};
}

}  // namespace

Status write_report_page(std::span<const Report> reports, const SourcePlaces& places,
                         std::ostream& out) {
  SourceText text(places);
  PageParts parts;
  parts.application = application();
  parts.source_line = [&](const std::string& file, std::uint32_t line) {
    return text.line(file, line);
  };
  return write_page(reports, parts, out);
}

Status write_json_page(std::string_view json, std::ostream& out) {
  return write_page_around(json, application(), out);
}

}  // namespace drgpum
