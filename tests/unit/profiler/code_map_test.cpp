// SPDX-License-Identifier: Apache-2.0
#include "profiler/code_map.h"

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

CodeMap placed() {
  CodeMap map(".entry a()\n{\nret;\n}\n.func b()\n{\nmov.u32 %r1, 1;\nret;\n}\n");
  map.place("b", 0x1000, 32);
  map.place("a", 0x2000, 16);
  map.place("c", 0x3000, 16);  // only the driver names it
  map.sort();
  return map;
}

TEST(CodeMap, AnAddressBelongsToTheFunctionThatBeginsLastBeforeIt) {
  CodeMap map = placed();
  EXPECT_EQ(map.first(), 0x1000u);
  EXPECT_EQ(map.at(0xfff), nullptr);
  EXPECT_EQ(map.at(0x1010)->name, "b");
  EXPECT_EQ(map.at(0x1800)->name, "b") << "code without a symbol of its own";
  EXPECT_EQ(map.at(0x3000)->name, "c");
}

TEST(CodeMap, OffsetsAreBytesOfMachineCodeOrLinesOfPtx) {
  CodeMap map = placed();
  const CodeFunction& b = *map.named("b");
  EXPECT_EQ(CodeMap::offset_of(b, 0x1010, false), 0x10u);
  EXPECT_EQ(CodeMap::offset_of(b, 0x1000, true), 7u);
  EXPECT_EQ(CodeMap::offset_of(b, 0x1010, true), 8u);
  EXPECT_EQ(CodeMap::offset_of(b, 0x1020, true), std::nullopt);
}

TEST(CodeMap, AFunctionWhoseInstructionsWereCountedOtherwiseHasNoLines) {
  CodeMap map = placed();
  EXPECT_EQ(CodeMap::offset_of(*map.named("c"), 0x3000, true), std::nullopt);
}

TEST(CodeMap, WhatIsNotPlacedIsStillAskedFor) {
  CodeMap map(".entry a() { ret; }\n.entry b() { ret; }");
  map.place("b", 0x1000, 16);
  map.sort();
  EXPECT_EQ(map.unplaced(), std::vector<std::string>{"a"});
  EXPECT_EQ(map.first(), 0x1000u);
}

}  // namespace
}  // namespace drgpum::profiler
