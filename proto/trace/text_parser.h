// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds records from the statements of a text trace. The language is in trace_text.h; the
// declarations, the facts and the calls are each read in a file of their own.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/trace/names.h"
#include "proto/trace/record.h"
#include "proto/trace/text_words.h"

namespace drgpum::trace {

inline constexpr std::uint64_t kDefaultDeviceMemory = 1 << 30;

inline Error bad_text(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

template <typename Enum>
std::optional<Enum> enum_of(std::string_view word) {
  for (std::size_t k = 0; k < kEnumNames<Enum>.size(); ++k)
    if (kEnumNames<Enum>[k] == word) return static_cast<Enum>(k);
  return std::nullopt;
}

// Gives a call what its statement did not: the name, whether the host waits.
void set_rest(GpuApi& api, ApiKind kind, const char* name, bool blocks, Words& words);

struct TextRange {
  ObjectId object;
  Region region;
  bool whole = true;
};

class TextParser {
 public:
  Status statement(Words words);
  Result<std::vector<Record>> finish() {
    begin_context_if_none();
    return std::move(records_);
  }

 private:
  struct Object {
    ObjectId id;
    std::uint64_t size = 0;
    std::uint64_t address = 0;
  };
  struct Call {  // the fields that all calls have
    GpuApi api;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> time;
    std::vector<AccessRecord> accesses;
  };
  using Handler = Status (TextParser::*)(Words&);
  using CallHandler = Status (TextParser::*)(Words&, Call&);

  void begin_process();
  void begin_device_if_none();
  void begin_context_if_none();
  void begin_context(const std::string& name, DeviceId device);

  Status process(Words&);
  Status device(Words&);
  Status context(Words&);
  Status cubin(Words&);
  Status stream(Words&);
  Status end_stream(Words&);
  Status end_context(Words&);
  Status end_object(Words&);
  Status name(Words&);
  Status global(Words&);
  Status path(Words&);
  Status module(Words&);
  Status end_module(Words&);
  Status map(Words&);
  Status site(Words&);
  Status coverage(Words&);
  Status end(Words&);

  Status call(Words& words, CallHandler handler);
  Status common(Words&, Call&);
  Status alloc(Words&, Call&);
  Status alloc_failed(Words&, Call&);
  Status free(Words&, Call&);
  Status memcpy(Words&, Call&);
  Status memset(Words&, Call&);
  Status launch(Words&, Call&);
  Status record_event(Words&, Call&);
  Status wait(Words&, Call&);
  Status sync(Words&, Call&);
  Status query(Words&, Call&);
  Status graph(Words&, Call&);
  Status host_function(Words&, Call&);
  Status push(Words& words, Call& call) { return mark(words, call, MarkKind::kRangePush); }
  Status pop(Words& words, Call& call) { return mark(words, call, MarkKind::kRangePop); }
  Status instant(Words& words, Call& call) { return mark(words, call, MarkKind::kInstant); }
  Status iteration(Words& words, Call& call) { return mark(words, call, MarkKind::kIteration); }
  Status start(Words& words, Call& call) { return mark(words, call, MarkKind::kCaptureStart); }
  Status stop(Words& words, Call& call) { return mark(words, call, MarkKind::kCaptureStop); }
  Status mark(Words&, Call&, MarkKind);
  Status synchronize(Words&, Call&, bool query);

  static const std::map<std::string_view, Handler>& declarations();
  static const std::map<std::string_view, CallHandler>& calls();

  Result<ObjectRecord> new_object(Words&, ObjectKind kind);
  Result<Object> object(const std::string& name) const;
  Result<ObjectId> object_option(Words&, std::string_view key) const;
  Result<StreamId> find_stream(const std::string& name) const;
  Result<TextRange> range(const std::string& text) const;
  Status access(Call&, const std::string& how, const std::string& text, std::uint64_t widths[2]);
  KernelId kernel(const std::string& name);
  EventId event(const std::string& name);
  Result<ApiId> subject(Words&) const;
  void set_stream(Call& call) const;

  std::vector<Record> records_;
  bool has_device_ = false;
  bool process_begun_ = false;
  std::uint32_t contexts_made_ = 0;
  ContextId context_;
  DeviceId device_;
  CubinId cubin_;
  std::uint32_t cubins_made_ = 0;
  std::map<std::string, std::pair<ContextId, DeviceId>, std::less<>> contexts_;
  std::uint32_t streams_made_ = 0;
  std::map<std::uint32_t, StreamId> default_streams_;  // by context
  std::map<std::string, StreamId, std::less<>> streams_;
  std::map<std::string, Object, std::less<>> objects_;
  std::uint32_t objects_made_ = 0;
  std::uint64_t next_address_ = 0x7f0000000000;
  std::map<std::pair<std::uint32_t, std::string>, KernelId> kernels_;
  std::map<std::string, EventId, std::less<>> events_;
  std::map<std::uint32_t, ApiId> recorded_;  // by event
  std::map<std::string, CallPathId, std::less<>> paths_;
  std::map<std::string, ModuleId, std::less<>> modules_;
  std::map<std::string, std::uint64_t, std::less<>> graphs_;
  std::uint64_t graph_launches_ = 0;
  std::uint64_t next_api_ = 0;
};

}  // namespace drgpum::trace
