// SPDX-License-Identifier: Apache-2.0
// One trace gives the same bytes in every form, whatever the locale and the number of threads.

#include <locale>
#include <map>
#include <sstream>

#include "offline/report/programs.h"
#include "offline/report/report_diff.h"
#include "offline/report/report_dot.h"
#include "offline/report/report_formats.h"
#include "offline/report/report_json.h"
#include "offline/report/report_text.h"
#include "tests/support/judged.h"
#include "tests/support/random_program.h"

namespace drgpum {
namespace {

// 1.234,5 as in many countries, with groups of two so that hardly a number stays as it is.
class ForeignNumbers : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\2"; }
  std::string do_truename() const override { return "wahr"; }
};

class GlobalLocale {
 public:
  explicit GlobalLocale(const std::locale& locale) : before_(std::locale::global(locale)) {}
  ~GlobalLocale() { std::locale::global(before_); }
  GlobalLocale(const GlobalLocale&) = delete;
  GlobalLocale& operator=(const GlobalLocale&) = delete;

 private:
  std::locale before_;
};

std::vector<std::locale> locales() {
  std::vector<std::locale> all{std::locale(std::locale::classic(), new ForeignNumbers)};
  for (const char* name : {"C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "hi_IN", "ja_JP.UTF-8"}) {
    try {
      all.emplace_back(name);
    } catch (const std::runtime_error&) {  // not installed
    }
  }
  return all;
}

std::string program() {
  return RandomProgram(11, true).text();
}

// Every form, by name.
std::map<std::string, std::string> forms(unsigned threads) {
  ReportOptions options;
  options.threads = threads;
  const std::vector<Report> reports{report_from_text(program(), options),
                                    report_from_text(RandomProgram(12, true).text(), options)};
  const Report& report = reports.front();
  std::map<std::string, std::string> result;
  const auto add = [&](const std::string& name, auto write) {
    std::ostringstream out;
    write(out);
    result[name] = out.str();
  };
  TextStyle style;
  style.top = 0;
  add("text", [&](std::ostream& out) { write_text(report, style, out); });
  add("brief", [&](std::ostream& out) { write_brief(report, out); });
  add("json", [&](std::ostream& out) { write_json({&report, 1}, out); });
  add("merged json", [&](std::ostream& out) { write_json(reports, out); });
  add("md", [&](std::ostream& out) { write_markdown(report, 0, out); });
  add("csv", [&](std::ostream& out) { write_csv(report, out); });
  add("sarif", [&](std::ostream& out) { write_sarif(report, {{}, "1.2.3"}, out); });
  add("html", [&](std::ostream& out) { write_html(report, out); });
  add("dot", [&](std::ostream& out) { write_dot(report, 0, report.evidence.api_count(), out); });
  add("programs", [&](std::ostream& out) { write_programs(reports, false, out); });
  const ReportDiff diff = diff_reports(reports[0], reports[1]);
  add("diff", [&](std::ostream& out) { write_diff_text(diff, out); });
  add("diff md", [&](std::ostream& out) { write_diff_markdown(diff, out); });
  add("diff json", [&](std::ostream& out) { write_diff_json(diff, out); });
  return result;
}

TEST(Stability, FormsDoNotDependOnTheLocale) {
  const auto expected = forms(1);
  for (const std::locale& locale : locales()) {
    const GlobalLocale global(locale);
    EXPECT_EQ(forms(1), expected) << locale.name();
  }
  for (const auto& [name, text] : expected)
    EXPECT_GT(text.size(), 50u) << name;
}

TEST(Stability, FormsDoNotDependOnTheNumberOfThreads) {
  const auto expected = forms(1);
  for (const unsigned threads : {2u, 3u, 7u, 50u})
    EXPECT_EQ(forms(threads), expected) << threads;
}

}  // namespace
}  // namespace drgpum
