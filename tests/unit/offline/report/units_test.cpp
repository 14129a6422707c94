// SPDX-License-Identifier: Apache-2.0
#include "offline/report/units.h"

#include <sstream>

#include <gtest/gtest.h>

#include "offline/report/json_writer.h"

namespace drgpum {
namespace {

TEST(Units, ShowBytesInIecUnitsAndExactly) {
  EXPECT_EQ(iec_bytes(1), "1 byte");
  EXPECT_EQ(iec_bytes(1023), "1023 bytes");
  EXPECT_EQ(iec_bytes(1024), "1.0 KiB");
  EXPECT_EQ(iec_bytes(83886080), "80.0 MiB");
  EXPECT_EQ(iec_bytes((1 << 20) - 1), "1.0 MiB") << "never 1024.0 KiB";
  EXPECT_EQ(iec_and_exact(83886080), "80.0 MiB (83,886,080 bytes)");
  EXPECT_EQ(iec_bytes(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(exact_bytes(999), "999");
}

TEST(Units, ShowShares) {
  EXPECT_EQ(percent_of(32, 80), "40 %");
  EXPECT_EQ(percent_of(1, 200), "0.5 %");
  EXPECT_EQ(percent_of(1, 0), "0 %");
}

TEST(Units, CountThings) {
  EXPECT_EQ(plural(1, "launch"), "1 launch");
  EXPECT_EQ(plural(2, "launch"), "2 launches");
  EXPECT_EQ(plural(2, "copy"), "2 copies");
  EXPECT_EQ(plural(1234, "object"), "1,234 objects");
}

TEST(Units, MakeControlBytesVisible) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\u{1b}[31mb\\u{a}");
  EXPECT_EQ(printable("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u{202e}") << "right-to-left override";
  EXPECT_EQ(printable("\xc3\xbc"), "\xc3\xbc");
}

std::string json_of(std::string_view text) {
  std::ostringstream out;
  {
    JsonWriter json(out);
    json.begin_array().text(text).end_array();
  }
  return out.str();
}

TEST(Units, DemangleOnlyWhatIsMangled) {
  EXPECT_EQ(demangled("_Z3addPKfS0_Pf"), "add(float const*, float const*, float*)");
  // These are mangled names of types, but of kernels they are names in C.
  for (const char* name : {"f", "l", "Pc", "main", "", "_Zwrong"})
    EXPECT_EQ(demangled(name), name);
}

TEST(JsonWriter, WritesValidTextOnly) {
  EXPECT_EQ(json_of("a\"\\\n\x01"), "[\n \"a\\\"\\\\\\u000a\\u0001\"\n]\n");
  EXPECT_EQ(json_of("\xed\xa0\x80"), "[\n \"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n]\n")
      << "a surrogate is no UTF-8";
  EXPECT_EQ(json_of("\xf0\x9f\x98\x80"), "[\n \"\xf0\x9f\x98\x80\"\n]\n");
}

TEST(JsonWriter, WritesNumbersWhole) {
  std::ostringstream out;
  {
    JsonWriter json(out);
    json.begin_object();
    json.field("big", UINT64_MAX);
    json.field("small", std::int32_t{-5});
    json.field("half", 0.5);
    json.key("none").real(1.0 / 0.0);
    json.end_object();
  }
  EXPECT_EQ(
      out.str(),
      "{\n \"big\":18446744073709551615,\n \"small\":-5,\n \"half\":0.5,\n \"none\":null\n}\n");
}

}  // namespace
}  // namespace drgpum
