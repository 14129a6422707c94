// SPDX-License-Identifier: Apache-2.0
// make_trace TEXT TRACE: writes the trace that a text describes, for tests of whole programs.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "proto/trace/trace_text.h"
#include "proto/trace/trace_writer.h"

namespace {

int fail(const char* path, const std::string& what) {
  std::fprintf(stderr, "make_trace: %s: %s\n", path, what.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace drgpum::trace;
  if (argc != 3) return fail("usage", "make_trace TEXT TRACE");
  std::ifstream file(argv[1]);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(argv[1], "cannot be read");
  const auto records = trace_from_text(text.str());
  if (!records) return fail(argv[1], records.error().message);
  ProcessRecord process;
  for (const Record& record : *records)
    if (const auto* found = std::get_if<ProcessRecord>(&record)) process = *found;
  auto writer = TraceWriter::create(argv[2], process, {0, true});
  if (!writer) return fail(argv[2], writer.error().message);
  for (const Record& record : *records)
    if (!std::holds_alternative<ProcessRecord>(record) && !(*writer)->append(record))
      return fail(argv[2], (*writer)->stop_reason());
  (*writer)->finish();
  return 0;
}
