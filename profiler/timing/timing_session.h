// SPDX-License-Identifier: Apache-2.0
#pragma once
// The timing run: CUPTI's activity records of one process, written as a trace of its own (streams,
// kernels, calls and their times, no accesses). The launcher matches it with the trace that tells
// the accesses. Records come in the order in which CUPTI hands them over; times tell that of calls.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "profiler/timing/cupti_api.h"
#include "proto/trace/record.h"
#include "proto/trace/trace_writer.h"

namespace drgpum::profiler {

// One per process, for CUPTI's callbacks carry nothing that tells one from another.
class TimingSession {
 public:
  TimingSession(const CuptiApi& api, std::unique_ptr<trace::TraceWriter> writer);
  TimingSession(TimingSession&&) = delete;
  ~TimingSession();

  // Subscribes, which fails where another tool has, and enables kernels, copies, sets, memory and
  // synchronisation. Times count from here.
  Status start();

  // Asks for the records that are left and closes the file. Later calls do nothing.
  void finish(int exit_code) noexcept;

  // In a forked child: lets go of the file.
  void abandon() noexcept;

 private:
  static void on_buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records);
  static void on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t size, std::size_t valid_bytes);
  static void on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data);

  void take_all(std::uint8_t* buffer, std::size_t valid_bytes);
  void take(const CUpti_Activity& record);
  void take(const CUpti_ActivityKernel10& kernel);
  void take(const CUpti_ActivityMemcpy6& copy);
  void take(const CUpti_ActivityMemset4& set);
  void take(const CUpti_ActivityMemory4& memory);
  void take(const CUpti_ActivitySynchronization2& wait);
  void write(trace::GpuApi api, std::uint32_t stream, std::uint64_t begin, std::uint64_t end);
  KernelId kernel_named(const char* name);
  StreamId stream_numbered(std::uint32_t number);

  const CuptiApi api_;
  std::mutex mutex_;  // buffers are handed over on threads of CUPTI's
  std::unique_ptr<trace::TraceWriter> writer_;
  std::unordered_map<std::string, KernelId> kernels_;
  std::unordered_set<std::uint32_t> streams_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t next_api_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace drgpum::profiler
