// SPDX-License-Identifier: Apache-2.0
#include "offline/report/finding_rows.h"

#include "tests/support/judged.h"

namespace drgpum {
namespace {

// Two objects of one line and one of another, all late, behind a peak that none of them lowers.
Report late_objects() {
  std::string text = "path P 0x70\npath Q 0x80\n";
  for (const char* object : {"A", "B", "C"})
    text += std::string("alloc ") + object + " 100 path=" + (*object == 'C' ? "Q" : "P") + "\n";
  for (const char* object : {"A", "B", "C"})
    text += std::string("launch k reads ") + object + "\n";
  text += "launch l\nfree A\nfree B\nfree C\nalloc D 5000\nlaunch k reads D\nfree D";
  Report report = report_from_text(text);
  for (const Object& object : report.evidence.objects) {
    SourceFrame frame;
    frame.file = "/src/app.cu";
    frame.line = report.evidence.apis[object.alloc].call_path;
    report.call_paths[frame.line] = CallPath{{frame}, 0};
  }
  return report;
}

std::string described(const Report& report) {
  std::string text;
  for (const FindingRow& row : finding_rows(report)) {
    const Finding& f = report.findings[row.first];
    text += std::string(name_of(f.pattern)) + " " + report.label(f.object) + " " +
            describe_like(row) + "\n";
  }
  return text;
}

TEST(FindingRows, GatherWhatIsSaidOfOneLine) {
  const Report report = late_objects();
  for (const Finding& f : report.findings)
    EXPECT_FALSE(lowers_the_peak(f)) << line_of(report, f);
  const std::vector<FindingRow> rows = finding_rows(report);
  std::size_t count = 0;
  for (const FindingRow& row : rows)
    count += 1 + row.like.size();
  EXPECT_EQ(count, report.findings.size());
  EXPECT_LT(rows.size(), report.findings.size()) << described(report);
}

TEST(FindingRows, NameTheOthersUntilTheyAreMany) {
  EXPECT_EQ(describe_like({0, {}}), "");
  EXPECT_EQ(describe_like({0, {4}}), "Of this line also finding 5.");
  EXPECT_EQ(describe_like({0, {4, 6, 8}}), "Of this line also findings 5, 7 and 9.");
  EXPECT_EQ(describe_like({0, {1, 2, 3, 4, 5, 6, 7}}),
            "Of this line also findings 2, 3, 4, 5, 6 and 2 more.");
}

TEST(FindingRows, KeepWhatLowersThePeakApart) {
  Report report = late_objects();
  for (Finding& f : report.findings)
    f.peak_saving_bytes = 1;
  EXPECT_EQ(finding_rows(report).size(), report.findings.size());
}

}  // namespace
}  // namespace drgpum
