// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a trace in text to the forms of other programs.

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "offline/export/export_format.h"
#include "tests/support/judged.h"

namespace drgpum {

// Every call path has two frames, with the path's number in them; `evil` is part of their names.
class NumberedSources : public SourceLookup {
 public:
  explicit NumberedSources(std::string evil = "") : evil_(std::move(evil)) {}
  std::vector<SourceFrame> frames(std::uint32_t call_path) override {
    const std::string number = std::to_string(call_path);
    return {{"make" + number + evil_, "src/a" + evil_ + ".cpp", 10 + call_path},
            {"main", "src/main.cpp", 3}};
  }

 private:
  std::string evil_;
};

// Names that break forms which do not escape: markup, control bytes, bytes that are no UTF-8.
inline const std::string kEvilName = "<b>&\"'\\\x1b[31m\x07\n\xff\xc3(\xed\xa0\x80,=cmd|`${x}";

struct Exported {
  Report report;
  CallFacts calls;

  explicit Exported(const std::vector<trace::Record>& records, std::string evil = "",
                    ReportOptions options = {}) {
    for (const trace::Record& record : records)
      calls.add(record);
    NumberedSources sources(std::move(evil));
    report = build_report(evidence_from(records), true, "", sources, options);
  }
  explicit Exported(std::string_view text, std::string evil = "", ReportOptions options = {})
      : Exported(*trace::trace_from_text(text), std::move(evil), std::move(options)) {}

  ExportInput input() const { return {report, calls, "1.2.3"}; }
  std::string as(std::string_view type) const {
    std::ostringstream out;
    const ExportFormat* format = export_format(type);
    EXPECT_NE(format, nullptr) << type;
    if (format == nullptr) return {};
    const Status status = format->write(input(), out);
    EXPECT_TRUE(status) << status.error().message;
    return out.str();
  }
};

// A trace whose objects, streams, kernels, marks and calls have the evil name.
inline std::vector<trace::Record> evil_records() {
  auto records = *trace::trace_from_text(
      "stream s\npath P 0x10\nalloc a 1M path=P\nlaunch k writes a on=s path=P\nmemset a\nmark "
      "here\npush there\npop\n"
      "alloc b 4096\nfree a\nend exit=0\n");
  for (trace::Record& record : records) {
    if (auto* object = std::get_if<trace::ObjectRecord>(&record)) object->name = kEvilName;
    if (auto* stream = std::get_if<trace::StreamRecord>(&record)) stream->name = kEvilName;
    if (auto* kernel = std::get_if<trace::KernelRecord>(&record)) kernel->name = kEvilName;
    auto* call = std::get_if<trace::GpuApi>(&record);
    if (call == nullptr) continue;
    call->name = kEvilName;
    if (auto* mark = std::get_if<trace::MarkApi>(&call->payload)) mark->name = kEvilName;
  }
  return records;
}

// Valid UTF-8 without control bytes.
inline bool is_clean(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0x20 || first == 0x7f || (first >= 0x80 && first < 0xc2) || first > 0xf4)
      return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    if (first == 0xed && byte(i + 1) >= 0xa0) return false;
    i += length;
  }
  return true;
}

}  // namespace drgpum
