// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a trace as it happens: once append() has returned, the record is in the file, whatever
// becomes of the process. Nothing here throws, prints or raises a signal; when the file cannot take
// more, recording stops, the trace says why, and the program goes on. Not thread-safe: the caller
// holds a lock around each call.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "proto/base/result.h"
#include "proto/trace/encode.h"
#include "proto/trace/output_file.h"
#include "proto/trace/record.h"
#include "proto/trace/trace_file.h"
#include "proto/wire.h"

namespace drgpum::trace {

class TraceWriter {
 public:
  struct Options {
    std::uint64_t max_bytes = 0;  // of the file; 0: no limit; else at least 64 KiB
    bool replace = false;         // an existing regular file
  };

  // Creates the file and writes `process` as its first record.
  static Result<std::unique_ptr<TraceWriter>> create(const std::string& path,
                                                     const ProcessRecord& process, Options options);
  static Result<std::unique_ptr<TraceWriter>> create(const std::string& path,
                                                     const ProcessRecord& process) {
    return create(path, process, Options());
  }

  // False: recording has stopped (stop_reason()), now or before. Any record but NameRecord, which
  // the writer makes itself. Instantiated for every alternative of Record.
  template <typename T>
  bool append(const T& record) noexcept;
  bool append(const Record& record) noexcept;

  // Closes the file in order. An EndRecord should have been the last to be appended.
  void finish() noexcept;

  // In a forked child: lets go of the file without touching it.
  void abandon() noexcept;

  [[nodiscard]] bool stopped() const noexcept { return stop_reason_ != nullptr; }
  [[nodiscard]] const char* stop_reason() const noexcept { return stop_reason_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return frame_begin_; }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

 private:
  struct IndexEntry {
    std::uint64_t offset;
    std::uint64_t sequence;
    std::uint64_t apis;
  };
  using Bytes = std::span<const std::uint8_t>;

  TraceWriter(OutputFile file, const Options& options);
  [[nodiscard]] bool write_header(const ProcessRecord& process) noexcept;
  template <typename T>
  [[nodiscard]] bool append_or_throw(const T& record);
  [[nodiscard]] bool append_message(Bytes message) noexcept;
  [[nodiscard]] bool append_parts(Bytes message) noexcept;
  [[nodiscard]] bool reserve(std::size_t bytes) noexcept;
  [[nodiscard]] bool add_to_frame(Bytes prefix, Bytes body) noexcept;
  [[nodiscard]] bool extend_mapped_frame(Bytes prefix, Bytes body) noexcept;
  [[nodiscard]] bool write_whole_frame(Bytes prefix, Bytes body) noexcept;
  void end_frame() noexcept;
  void note_frame() noexcept;
  bool stop(CoverageKind kind, const char* reason) noexcept;
  void write_footer() noexcept;

  OutputFile file_;
  std::uint64_t max_bytes_;
  wire::Encoder message_;  // the record being written
  wire::Encoder chunk_;    // what goes before it in the frame: tag and length
  wire::Encoder frame_;    // a whole frame, for files that cannot be mapped
  NameTable names_;
  std::uint64_t frame_begin_ = sizeof(FileHeader);
  std::uint64_t sequence_ = 0;
  std::uint32_t frame_length_ = 0;
  std::uint32_t frame_crc_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t apis_ = 0;
  static constexpr std::size_t kMaxIndex = 96;  // fits with the rest of the footer in the reserve
  IndexEntry index_[kMaxIndex];
  std::size_t index_size_ = 0;
  std::uint64_t index_stride_ = 1;  // frames from entry to entry
  bool open_ = true;
  const char* stop_reason_ = nullptr;
};

}  // namespace drgpum::trace
