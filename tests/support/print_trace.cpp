// SPDX-License-Identifier: Apache-2.0
// print_trace FILE: the records of a trace, one a line, as trace_text.h has them.

#include <cstdio>

#include "proto/trace/trace_reader.h"
#include "proto/trace/trace_text.h"

int main(int argc, char** argv) {
  using namespace drgpum::trace;
  if (argc != 2) return 2;
  auto reader = TraceReader::open(argv[1]);
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().message.c_str());
    return 3;
  }
  std::vector<Record> records;
  Record record;
  while (reader->next(record))
    records.push_back(record);
  std::fputs(to_text(records).c_str(), stdout);
  return reader->summary().completeness == Completeness::kComplete ? 0 : 4;
}
