// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of a trace that is made of a history: numbered from 0, never back in time, each after the
// call path and the stream that it names.

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "offline/import/allocator_history.h"
#include "offline/trace/trace.h"

namespace drgpum {

class CallWriter {
 public:
  CallWriter(const AllocatorHistory& history, const RecordSink& sink)
      : history_(history), sink_(sink) {}

  // Nanoseconds count from here.
  void start_at(std::int64_t tick) { start_ = tick; }
  std::uint64_t ns_of(std::int64_t tick) const;
  // The time of what comes next, which happened at `tick` or could not be earlier.
  std::uint64_t advance(std::int64_t tick);
  std::uint64_t now() const { return now_ns_; }

  // The frames that call paths name.
  Status tell_frames();

  ApiId next() const { return ApiId{next_api_}; }
  // A call to be filled, with what all have in common. The stream is a place in the history's.
  Result<trace::GpuApi*> call(std::uint32_t device, trace::ApiKind kind, std::string_view name,
                              std::uint16_t stream, std::uint32_t stack, std::uint64_t ns);
  Status issue();
  Status mark(std::uint32_t device, trace::MarkKind kind, std::string_view name,
              std::uint32_t stack, std::uint64_t ns);

 private:
  Status tell_stack(std::uint32_t stack);
  Result<StreamId> stream_of(std::uint32_t device, std::uint16_t number);

  const AllocatorHistory& history_;
  const RecordSink& sink_;
  std::unordered_map<std::uint64_t, std::uint32_t> streams_;
  std::vector<bool> stack_told_;
  std::int64_t start_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t next_api_ = 0;
  trace::Record call_ = trace::GpuApi{};
};

}  // namespace drgpum
