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

// As a benchmark of an allocator makes them: a loop of buffers that nothing uses.
Report unused_objects(int count) {
  std::string text = "path P 0x70\n";
  for (int i = 0; i < count; ++i)
    text += "alloc A" + std::to_string(i) + " 100 path=P\n";
  text += "launch l\n";
  for (int i = 0; i < count; ++i)
    text += "free A" + std::to_string(i) + "\n";
  Report report = report_from_text(text);
  SourceFrame frame;
  frame.file = "/src/app.cu";
  frame.line = 7;
  for (const Object& object : report.evidence.objects)
    report.call_paths[report.evidence.apis[object.alloc].call_path] = CallPath{{frame}, 0};
  return report;
}

TEST(FindingRows, GatherManyThatLowerThePeakByAsMuch) {
  const std::vector<FindingRow> many = finding_rows(unused_objects(20));
  ASSERT_EQ(many.size(), 1U);
  EXPECT_EQ(many[0].like.size(), 19U);
  EXPECT_EQ(describe_like(many[0]),
            "Of this line also findings 2, 3, 4, 5, 6 and 14 more, which save as much each.");
  EXPECT_EQ(finding_rows(unused_objects(4)).size(), 4U);
}

TEST(FindingRows, KeepApartWhatSavesDifferently) {
  Report report = unused_objects(20);
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    report.findings[i].joint_saving_bytes = 1 + i;
  EXPECT_EQ(finding_rows(report).size(), 20U);
}

}  // namespace
}  // namespace drgpum
