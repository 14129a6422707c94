// SPDX-License-Identifier: Apache-2.0
#pragma once
// One source file with what a report says of its lines.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "offline/report/report.h"
#include "proto/base/result.h"

namespace drgpum {

struct LineTotals {
  std::uint64_t allocated_bytes = 0;  // by device allocations at the line, over the whole run
  std::uint64_t objects = 0;
  std::uint64_t peak_bytes = 0;  // of those, alive at the highest peak
  std::uint64_t reads = 0;       // by lanes of kernels
  std::uint64_t writes = 0;
  std::vector<std::size_t> findings;  // places in the report, about objects allocated at the line
};

struct Annotations {
  std::string file;  // as the report names it
  std::map<std::uint32_t, LineTotals> lines;
};

// `wanted` names a file as the report does, or by the end of that path ("src/app.cu"); a path on
// this machine is compared from its end. kNotFound: no line of such a file is in the report, the
// message names some that are; kInvalidArgument: several files fit equally well.
Result<Annotations> annotate(const Report& report, const std::string& wanted);

struct AnnotatedStyle {
  std::size_t width = 100;
  std::size_t context = 0;  // lines around those with figures; 0: the whole file
  std::uint32_t line_count = 0;  // of the source; 0: it is not there
  std::function<std::string_view(std::uint32_t line)> source_line;
};

// A table, one row for each line, with the findings named below their line.
void write_annotated(const Report& report, const Annotations& annotations,
                     const AnnotatedStyle& style, std::ostream& out);

}  // namespace drgpum
