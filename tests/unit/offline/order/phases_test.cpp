// SPDX-License-Identifier: Apache-2.0
#include "offline/order/phases.h"

#include <gtest/gtest.h>

#include "tests/support/judged.h"

namespace drgpum {
namespace {

// "step 0:6 row 0", a line each.
std::string phases_in(std::string_view text) {
  const Evidence evidence = evidence_from_text(text);
  std::string lines;
  for (const Phase& phase : phases_of(evidence))
    lines += evidence.names[phase.name] + " " + std::to_string(phase.begin) + ":" +
             std::to_string(phase.end) + " row " + std::to_string(phase.row) + "\n";
  return lines;
}

TEST(Phases, AreFromPushToPopAndNest) {
  EXPECT_EQ(phases_in("push step; push forward; launch k; pop; push backward; launch k; pop; pop"),
            "step 0:7 row 0\nforward 1:3 row 1\nbackward 4:6 row 1\n");
}

TEST(Phases, AnEndWithANameClosesTheLatestOfThatNameOfAnyThread) {
  EXPECT_EQ(phases_in("push a; push b; launch k; pop a thread=1; launch k; pop b"),
            "a 0:3 row 0\nb 1:5 row 1\n");
  EXPECT_EQ(phases_in("push a; push a; launch k; pop a; launch k; pop a"),
            "a 0:5 row 0\na 1:3 row 1\n");
}

TEST(Phases, EachThreadHasRowsOfItsOwn) {
  EXPECT_EQ(phases_in("push a; push b thread=1; push c; pop; pop thread=1; pop"),
            "a 0:5 row 0\nb 1:4 row 2\nc 2:3 row 1\n");
}

TEST(Phases, LastToTheEndWhereNothingClosesThem) {
  EXPECT_EQ(phases_in("pop; push a; launch k; pop other; launch k"), "a 1:5 row 0\n");
  EXPECT_EQ(phases_in("launch k"), "");
}

}  // namespace
}  // namespace drgpum
