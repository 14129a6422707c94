// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/device_times.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <unistd.h>

#include "profiler/launcher/match_works.h"
#include "proto/trace/trace_writer.h"

namespace drgpum::profiler {
namespace {

struct Times {
  std::vector<trace::TimeRecord> records;  // by rising api
  TimedCalls calls;
};

Times times_of(const TraceWorks& trace, const TraceWorks& timing) {
  Times times;
  const std::vector<std::size_t> found = match_works(trace.works, timing.works);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool timed = found[i] != kNoWork;
    times.calls.device_calls += trace.works[i].on_device();
    times.calls.timed += timed && trace.works[i].on_device();
    if (!timed) continue;
    const Work& again = timing.works[found[i]];
    times.records.push_back({trace.works[i].api, again.begin_ns, again.end_ns});
  }
  std::sort(times.records.begin(), times.records.end(),
            [](const trace::TimeRecord& a, const trace::TimeRecord& b) {
              return a.api.value < b.api.value;
            });
  return times;
}

std::string share_of(const TimedCalls& calls) {
  char text[96];
  std::snprintf(text, sizeof text, "the timing run matched %llu of %llu (%.1f %%)",
                static_cast<unsigned long long>(calls.timed),
                static_cast<unsigned long long>(calls.device_calls),
                100.0 * static_cast<double>(calls.timed) / static_cast<double>(calls.device_calls));
  return text;
}

void append_times(trace::TraceWriter& writer, const Times& times) {
  for (const trace::TimeRecord& time : times.records)
    writer.append(time);
  const std::uint64_t untimed = times.calls.device_calls - times.calls.timed;
  if (untimed == 0) return;
  writer.append(trace::CoverageRecord{trace::CoverageKind::kUntimedCall, std::nullopt,
                                      trace::kNoObject, untimed,
                                      "kernels, copies and sets without device times: " +
                                          share_of(times.calls)});
}

// Times go before the EndRecord, which stays the last one.
Status rewrite(const std::string& path, const std::string& copy, const Times& times) {
  ASSIGN_OR_RETURN(trace::TraceReader reader, trace::TraceReader::open(path));
  std::unique_ptr<trace::TraceWriter> writer;
  trace::Record record;
  while (reader.next(record)) {
    if (const auto* process = std::get_if<trace::ProcessRecord>(&record); process && !writer) {
      trace::TraceWriter::Options options;
      options.replace = true;
      ASSIGN_OR_RETURN(writer, trace::TraceWriter::create(copy, *process, options));
      continue;
    }
    if (!writer) return Error{ErrorCode::kCorrupt, path + " does not begin with its process"};
    if (std::holds_alternative<trace::EndRecord>(record)) append_times(*writer, times);
    writer->append(record);
  }
  if (!writer) return Error{ErrorCode::kCorrupt, path + " is empty"};
  writer->finish();
  if (writer->stopped()) return Error{ErrorCode::kIo, copy + ": " + writer->stop_reason()};
  return Ok{};
}

}  // namespace

Result<TimedCalls> add_device_times(const std::string& path, const TraceWorks& timing) {
  ASSIGN_OR_RETURN(const TraceWorks works, works_of_trace(path));
  if (works.summary.completeness != trace::Completeness::kComplete) {
    return Error{ErrorCode::kUnsupported, "'" + path + "' gets no times: " + works.summary.reason};
  }
  const Times times = times_of(works, timing);
  const std::string copy = path + ".timed";
  Status status = rewrite(path, copy, times);
  if (status && std::rename(copy.c_str(), path.c_str()) != 0) {
    status = Error{ErrorCode::kIo, "cannot replace '" + path + "': " + std::strerror(errno)};
  }
  if (!status) {
    unlink(copy.c_str());
    return std::move(status).error();
  }
  return times.calls;
}

}  // namespace drgpum::profiler
