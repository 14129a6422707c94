// SPDX-License-Identifier: Apache-2.0
// Our declarations of CPython 3.11's layout against its headers.
#include "profiler/python_abi.h"

#include <vector>

#include <gtest/gtest.h>

extern "C" const std::size_t kPythonLayout[19];

namespace drgpum::profiler::python {

TEST(PythonAbi, IsThatOfTheHeaders) {
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  const std::vector<std::size_t> ours{
      kVersion,
      offsetof(Thread, calls),
      offsetof(Calls, current),
      offsetof(Frame, code),
      offsetof(Frame, previous),
      offsetof(Frame, last_instruction),
      offsetof(Frame, is_entry),
      offsetof(Object, type),
      offsetof(Code, first_line),
      offsetof(Code, file),
      offsetof(Code, qualified_name),
      offsetof(Code, line_table),
      offsetof(Code, instructions),
      offsetof(Sized, size),
      offsetof(Bytes, data),
      offsetof(Text, length),
      offsetof(Text, state),
      sizeof(Text),
      sizeof(Text) + 24,
  };
  EXPECT_EQ(ours, std::vector<std::size_t>(std::begin(kPythonLayout), std::end(kPythonLayout)));
}

}  // namespace drgpum::profiler::python
