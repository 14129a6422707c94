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

// More than a single file carries: the browser is on this machine.
constexpr std::size_t kServedObjects = 4'000'000;
constexpr std::size_t kServedFindings = 20'000;

PageParts parts_of(SourceText& text) {
  PageParts parts;
  parts.application = application();
  parts.source_line = [&text](const std::string& file, std::uint32_t line) {
    return text.line(file, line);
  };
  return parts;
}

class ReportSource : public ViewSource {
 public:
  ReportSource(std::vector<Report> reports, const SourcePlaces& places)
      : reports_(std::move(reports)) {
    SourceText text(places);
    PageParts parts = parts_of(text);
    parts.max_objects = kServedObjects;
    parts.max_findings = kServedFindings;
    page_ = std::make_unique<ReportPage>(reports_, parts);
    pieces_ = deflated_pieces(container_of(page_->head(), page_->columns()));
  }
  void set_html(std::string html) { html_ = std::move(html); }

  const std::string& html() const override { return html_; }
  const std::vector<std::string>& pieces() const override { return pieces_; }
  std::optional<std::string> calls_page(std::uint32_t program, std::uint32_t number,
                                        bool by_level) const override {
    const auto page = page_->calls_page(program, number, by_level);
    if (!page) return std::nullopt;
    return deflated(*page);
  }

 private:
  std::vector<Report> reports_;
  std::unique_ptr<ReportPage> page_;
  std::vector<std::string> pieces_;
  std::string html_;
};

class JsonSource : public ViewSource {
 public:
  explicit JsonSource(std::string json) : pieces_(deflated_pieces(container_of(json, {}))) {}
  void set_html(std::string html) { html_ = std::move(html); }

  const std::string& html() const override { return html_; }
  const std::vector<std::string>& pieces() const override { return pieces_; }
  std::optional<std::string> calls_page(std::uint32_t, std::uint32_t, bool) const override {
    return std::nullopt;
  }

 private:
  std::vector<std::string> pieces_;
  std::string html_;
};

template <typename Source>
Result<std::unique_ptr<ViewSource>> with_html(std::unique_ptr<Source> source) {
  ASSIGN_OR_RETURN(std::string html, page_that_asks(source->pieces().size(), application()));
  source->set_html(std::move(html));
  return std::unique_ptr<ViewSource>(std::move(source));
}

}  // namespace

Result<std::unique_ptr<ViewSource>> source_of_reports(std::vector<Report> reports,
                                                      const SourcePlaces& places) {
  return with_html(std::make_unique<ReportSource>(std::move(reports), places));
}

Result<std::unique_ptr<ViewSource>> source_of_json(std::string json) {
  return with_html(std::make_unique<JsonSource>(std::move(json)));
}

Status write_report_page(std::span<const Report> reports, const SourcePlaces& places,
                         std::ostream& out) {
  SourceText text(places);
  return write_page(reports, parts_of(text), out);
}

Status write_json_page(std::string_view json, std::ostream& out) {
  return write_page_around(json, application(), out);
}

}  // namespace drgpum
