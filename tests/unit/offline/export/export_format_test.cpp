// SPDX-License-Identifier: Apache-2.0
// The list of forms, and what holds for all of them.

#include <locale>
#include <map>
#include <set>

#include "tests/support/random_program.h"
#include "tests/unit/offline/export/exported.h"

namespace drgpum {
namespace {

TEST(ExportFormats, AreFoundByName) {
  std::set<std::string_view> names;
  for (const ExportFormat& format : export_formats()) {
    EXPECT_TRUE(names.insert(format.name).second);
    EXPECT_EQ(export_format(format.name), &format);
    EXPECT_FALSE(format.what.empty());
  }
  EXPECT_EQ(export_format("excel"), nullptr);
}

class ForeignNumbers : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\2"; }
};

std::map<std::string_view, std::string> all_forms() {
  const Exported exported(RandomProgram(11, true).text());
  std::map<std::string_view, std::string> forms;
  for (const ExportFormat& format : export_formats())
    forms[format.name] = exported.as(format.name);
  return forms;
}

TEST(ExportFormats, AreTheSameBytesEachTimeAndInAnyLocale) {
  const auto expected = all_forms();
  EXPECT_EQ(all_forms(), expected);
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new ForeignNumbers));
  const auto foreign = all_forms();
  std::locale::global(before);
  for (const auto& [name, bytes] : expected) {
    EXPECT_TRUE(foreign.at(name) == bytes) << name;
    EXPECT_GT(bytes.size(), 100u) << name;
  }
}

// A stream that is full says so; no writer hides it.
TEST(ExportFormats, AStreamThatTakesNothingIsNoticed) {
  const Exported exported(RandomProgram(11, true).text());
  for (const ExportFormat& format : export_formats()) {
    std::ostream nowhere(nullptr);
    EXPECT_TRUE(format.write(exported.input(), nowhere)) << format.name;
    EXPECT_FALSE(nowhere) << format.name;
  }
}

}  // namespace
}  // namespace drgpum
