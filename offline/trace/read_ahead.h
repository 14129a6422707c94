// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a trace on a thread of its own, a few batches ahead of who takes the records.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "proto/trace/record.h"
#include "proto/trace/trace_reader.h"

namespace drgpum {

class ReadAhead {
 public:
  explicit ReadAhead(trace::TraceReader reader);
  ~ReadAhead();  // may be earlier than the end of the trace
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The records that follow, good until the next call; empty at the end.
  std::span<const trace::Record> next();
  // Up to the batch that was given last.
  [[nodiscard]] std::uint64_t bytes_read() const;
  // Final once next() was empty.
  [[nodiscard]] const trace::ReadSummary& summary() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace drgpum
