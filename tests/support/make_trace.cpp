// SPDX-License-Identifier: Apache-2.0
// make_trace TEXT TRACE: writes the trace that a text describes, for tests of whole programs.
// make_trace --large CALLS TRACE [LIVE]: one of so many calls, with an object for every ten, so many
// alive at once (large_trace.h).

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "proto/trace/trace_text.h"
#include "proto/trace/trace_writer.h"
#include "tests/support/large_trace.h"

namespace {

int fail(const char* path, const std::string& what) {
  std::fprintf(stderr, "make_trace: %s: %s\n", path, what.c_str());
  return 1;
}

int write_large(std::uint64_t calls, const char* path, std::uint32_t live) {
  using namespace drgpum::trace;
  ProcessRecord process;
  process.argv = {"generated"};
  auto writer = TraceWriter::create(path, process, {0, true});
  if (!writer) return fail(path, writer.error().message);
  drgpum::make_large_trace({calls, 4, 1, live},
                           [&](const Record& record) { (*writer)->append(record); });
  (*writer)->finish();
  return (*writer)->stopped() ? fail(path, (*writer)->stop_reason()) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace drgpum::trace;
  if ((argc == 4 || argc == 5) && std::string_view(argv[1]) == "--large")
    return write_large(std::strtoull(argv[2], nullptr, 10), argv[3],
                       argc == 5 ? static_cast<std::uint32_t>(std::strtoul(argv[4], nullptr, 10))
                                 : drgpum::LargeTrace().live);
  if (argc != 3)
    return fail("usage", "make_trace TEXT TRACE, or make_trace --large CALLS TRACE [LIVE]");
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
