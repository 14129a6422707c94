// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts records into the trace in the order that the format asks for. An API gets its id when it is
// issued and is written when its call returns, or earlier when another thread issues one: so one
// thread's calls carry their end times, and no thread waits for another.

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/trace/record.h"
#include "proto/trace/trace_writer.h"

namespace drgpum::profiler {

// Not thread-safe: the session's lock is held around each call.
class Recorder {
 public:
  explicit Recorder(std::unique_ptr<trace::TraceWriter> writer) : writer_(std::move(writer)) {}

  // The id of the next API to be issued.
  [[nodiscard]] ApiId next_api() const { return ApiId{next_api_}; }

  // Gives `api` its id and keeps it until complete(). `host_begin_ns` ends the calls of other
  // threads that are still open.
  ApiId issue(trace::GpuApi api);

  // The API while it is kept; nullptr once it is in the file.
  [[nodiscard]] trace::GpuApi* kept(ApiId id);

  // The call that issued the kept APIs of this thread has returned.
  void complete(ThreadId thread, std::uint64_t end_ns);

  // Takes back the API issued last, if it is still kept: the driver refused the call.
  void retract(ApiId id);

  // At once, before APIs that are kept; for records that no kept API has to precede.
  template <typename T>
  void write(const T& record) {
    if (writer_ != nullptr) static_cast<void>(writer_->append(record));
  }
  // Everything that is kept, then the record.
  template <typename T>
  void write_after_kept(const T& record) {
    write_kept();
    write(record);
  }

  // After the API it is about, without ending calls that came later.
  template <typename T>
  void write_about(ApiId api, const T& record) {
    if (kept(api) != nullptr) write_kept();
    write(record);
  }

  void finish();   // closes the file in order
  void abandon();  // in a forked child

  [[nodiscard]] const trace::TraceWriter* writer() const { return writer_.get(); }

 private:
  void write_kept();

  std::unique_ptr<trace::TraceWriter> writer_;
  const trace::TraceWriter* abandoned_ = nullptr;
  std::vector<trace::GpuApi> kept_;  // of one thread, ids ending at next_api_
  std::uint64_t next_api_ = 0;
};

}  // namespace drgpum::profiler
