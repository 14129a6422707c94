// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a trace record by record, checking length, checksum and sequence of each frame. It stops at
// the first byte that is not as written and says where; all records before that are good. Memory
// does not depend on what the file claims: the largest record present is all that is held.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proto/base/result.h"
#include "proto/trace/decode.h"
#include "proto/trace/record.h"
#include "proto/trace/trace_file.h"
#include "proto/wire.h"

namespace drgpum::trace {

enum class Completeness : std::uint8_t {
  kComplete,    // the EndRecord and the footer are there
  kUnfinished,  // good as far as it goes: killed, cut off, or recording stopped
  kDamaged,     // bytes are not those that were written
};

struct ReadSummary {
  Completeness completeness = Completeness::kUnfinished;
  std::uint64_t valid_bytes = 0;  // everything before this offset is good
  std::string reason;             // for a person; empty when complete
  std::uint64_t file_bytes = 0;
  std::uint64_t records = 0;  // messages `Record`, those of later versions among them
  std::uint64_t apis = 0;
  std::uint64_t frames = 0;
  std::uint64_t unknown_records = 0;
  std::uint64_t unknown_fields = 0;
  FileHeader header;
};

class TraceReader {
 public:
  static Result<TraceReader> open(const std::string& path);
  static Result<TraceReader> from_bytes(std::vector<std::uint8_t> bytes);

  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) = delete;
  ~TraceReader();

  // Fills `out` with the next record. False at the end; summary() is final from then on.
  [[nodiscard]] bool next(Record& out);
  [[nodiscard]] const ReadSummary& summary() const { return summary_; }
  [[nodiscard]] std::uint64_t bytes_read() const { return frame_begin_; }

 private:
  class Source;
  enum class Step : std::uint8_t { kRecord, kAgain, kEnd };

  explicit TraceReader(std::unique_ptr<Source> source);
  [[nodiscard]] Status read_header();
  [[nodiscard]] bool load_frame();
  [[nodiscard]] Step take_field(const wire::Field& field, Record& out);
  [[nodiscard]] Step take_message(std::span<const std::uint8_t> message, Record& out);
  [[nodiscard]] Step take_footer(std::span<const std::uint8_t> footer);
  void read_trailer(std::uint64_t at);
  bool end_at(std::uint64_t offset, Completeness completeness, std::string reason);
  bool end_of_frames(std::uint64_t offset, const char* fault);
  [[nodiscard]] bool zeros_from(std::uint64_t offset);

  std::unique_ptr<Source> source_;
  RecordDecoder decoder_;
  ReadSummary summary_;
  std::vector<std::uint8_t> payload_;
  wire::Decoder chunk_{{}};
  std::vector<std::uint8_t> part_;
  bool part_whole_ = false;
  std::uint64_t frame_begin_ = 0;
  std::uint64_t next_frame_ = 0;
  std::string stop_reason_;
  bool dirty_padding_ = false;
  bool end_record_ = false;
  bool finished_ = false;
};

}  // namespace drgpum::trace
