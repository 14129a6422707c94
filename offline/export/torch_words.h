// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a memory snapshot calls things: streams, pools, notes, stacks.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "offline/export/export_format.h"
#include "offline/export/export_words.h"
#include "offline/export/pickle_writer.h"
#include "offline/report/report.h"

namespace drgpum {

// By stream: the handle where the trace has it (the name of a stream in an imported snapshot), else
// the trace's own number, or the next that is not taken. The legacy default stream is 0.
std::vector<std::uint64_t> stream_handles(const Evidence& evidence);

// Segments of imported snapshots are called by their pool; others are of the default one.
struct SnapshotPool {
  std::uint64_t owner = 0;
  std::uint64_t number = 0;
};
SnapshotPool snapshot_pool(const std::string& name);

// What the object is called, what the program noted, and the patterns that it is found in.
std::string snapshot_note(const Report& report, const FindingsByObject& findings,
                          std::uint32_t object);

// The frames of calls; each list and each frame is written once.
class SnapshotStacks {
 public:
  SnapshotStacks(const Report& report, PickleWriter& pickle) : report_(report), pickle_(pickle) {}
  // kNone, or nothing known: an empty list.
  void write(std::uint32_t api);

 private:
  using Key = std::tuple<std::string, std::string, std::uint32_t>;
  void write_frame(const SourceFrame& frame);

  const Report& report_;
  PickleWriter& pickle_;
  std::unordered_map<std::uint32_t, std::uint32_t> paths_;  // memos, by call path; 0: empty
  std::map<Key, std::uint32_t> frames_;
};

// What events and segments have in common.
class SnapshotFields {
 public:
  SnapshotFields(const ExportInput& input, PickleWriter& pickle);

  const Evidence& evidence() const { return e_; }
  PickleWriter& pickle() { return pickle_; }
  std::uint32_t top_of(std::uint32_t object) const;  // the allocation that it lies in, or itself
  std::uint64_t stream_of(std::uint32_t api) const;  // 0: none
  // The call from which on the object's memory waits for streams; none where it is freed at once.
  std::optional<std::uint32_t> request_of(std::uint32_t object) const;

  // Times never fall until the next restart. Nothing where the trace has none.
  void restart_time() { last_us_ = 0; }
  void write_time(std::uint32_t api);
  void write_frames(std::uint32_t api);
  void write_pool(std::uint32_t object, std::string_view key);
  void write_note(std::uint32_t object);  // nothing where there is none

 private:
  const ExportInput& input_;
  const Evidence& e_;
  PickleWriter& pickle_;
  const FindingsByObject findings_;
  const std::vector<std::uint64_t> handles_;  // by stream
  SnapshotStacks stacks_;
  std::unordered_map<std::uint32_t, std::uint32_t> requests_;  // by object
  std::uint64_t last_us_ = 0;
};

}  // namespace drgpum
