// SPDX-License-Identifier: Apache-2.0
// Lines of Python's location tables; processes without a Python.
#include "profiler/python_frames.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

// The head of an entry of `kind` for `length` instructions.
constexpr unsigned char head(unsigned kind, unsigned length) {
  return static_cast<unsigned char>(0x80 | kind << 3 | (length - 1));
}

TEST(PythonLines, EveryKindOfEntry) {
  const std::vector<unsigned char> table{
      head(0, 2),  0x12,             // instructions 0, 1: the first line
      head(11, 1), 4,    9,          // 2: one line on
      head(13, 8), 6,                // 3 to 10: three more
      head(14, 1), 3,    0, 1, 1,    // 11: one back
      head(15, 2),                   // 12, 13: none
      head(14, 1), 0x40 | 4, 2, 1, 1, 1,  // 14: 66 on
  };
  const std::vector<std::uint32_t> expected{10, 10, 11, 14, 14, 14, 14, 14, 14, 14, 14, 13, 0, 0, 79, 0};
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(python_line(table, 10, static_cast<std::int64_t>(k)), expected[k]) << k;
  EXPECT_EQ(python_line({}, 10, 0), 0u);
  for (std::size_t size = 0; size < table.size(); ++size)
    python_line(std::span(table).first(size), 10, 100);
}

TEST(PythonFrames, WithoutAPythonPathsStayNative) {
  const PythonInterpreter python = find_python();
  EXPECT_EQ(python.this_thread, nullptr);
  PythonFrames frames(python);
  const std::array<std::uint64_t, 2> path{0x1000, 0x2000};
  EXPECT_EQ(frames.merged(path).data(), path.data());
  EXPECT_TRUE(frames.take_new().empty());
}

// What a thread's state points to is nowhere: the first look finds out, and is the last.
TEST(PythonFrames, OtherLayoutsAreLeftAlone) {
  static int calls = 0;
  static python::Thread state{};
  state.calls = reinterpret_cast<const python::Calls*>(0x10);
  PythonInterpreter python;
  python.code_type = &state;
  python.this_thread = [] {
    ++calls;
    return static_cast<const python::Thread*>(&state);
  };
  PythonFrames frames(python);
  const std::array<std::uint64_t, 1> path{0x1000};
  EXPECT_EQ(frames.merged(path).data(), path.data());
  EXPECT_EQ(frames.merged(path).data(), path.data());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace drgpum::profiler
