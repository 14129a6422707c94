// SPDX-License-Identifier: Apache-2.0
// Calls in a text trace that order others: events, waits, synchronisations, graphs, marks.
#include "proto/trace/text_parser.h"

namespace drgpum::trace {

Status TextParser::record_event(Words& words, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the event"));
  set_stream(call);
  set_rest(call.api, ApiKind::kEventRecord, "cudaEventRecord", false, words);
  const EventId id = event(name);
  recorded_[id.value] = call.api.id;
  call.api.payload = EventApi{id, {}, false};
  return Ok{};
}

Status TextParser::wait(Words& words, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the event"));
  set_stream(call);
  set_rest(call.api, ApiKind::kStreamWait, "cudaStreamWaitEvent", false, words);
  const EventId id = event(name);
  const auto found = recorded_.find(id.value);
  const bool recorded = found != recorded_.end();
  call.api.payload = EventApi{id, recorded ? found->second : ApiId{}, recorded};
  return Ok{};
}

Status TextParser::sync(Words& words, Call& call) {
  return synchronize(words, call, false);
}
Status TextParser::query(Words& words, Call& call) {
  return synchronize(words, call, true);
}

Status TextParser::synchronize(Words& words, Call& call, bool query) {
  SynchronizeApi sync;
  sync.query = query;
  ASSIGN_OR_RETURN(const std::string scope, words.take("device, context, stream or event"));
  const auto known = enum_of<SyncScope>(scope);
  if (!known) return bad_text("'" + scope + "' is not device, context, stream or event");
  sync.scope = *known;
  const char* name = "cudaDeviceSynchronize";
  if (sync.scope == SyncScope::kContext) name = "cuCtxSynchronize";
  if (sync.scope == SyncScope::kStream) {
    name = query ? "cudaStreamQuery" : "cudaStreamSynchronize";
    if (!words.empty()) {
      ASSIGN_OR_RETURN(const std::string stream, words.take("the stream"));
      ASSIGN_OR_RETURN(call.api.stream, find_stream(stream));
    }
    set_stream(call);
  }
  if (sync.scope == SyncScope::kEvent) {
    name = query ? "cudaEventQuery" : "cudaEventSynchronize";
    ASSIGN_OR_RETURN(const std::string which, words.take("the event"));
    sync.event = event(which);
    const auto found = recorded_.find(sync.event.value);
    sync.recorded = found != recorded_.end();
    if (sync.recorded) sync.recorded_by = found->second;
  }
  set_rest(call.api, ApiKind::kSynchronize, name, true, words);
  call.api.payload = sync;
  return Ok{};
}

Status TextParser::graph(Words& words, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the graph"));
  set_stream(call);
  set_rest(call.api, ApiKind::kGraphLaunch, "cudaGraphLaunch", false, words);
  const std::uint64_t id = graphs_.emplace(name, graphs_.size()).first->second;
  call.api.payload = GraphLaunchApi{id, ++graph_launches_};
  return Ok{};
}

Status TextParser::host_function(Words& words, Call& call) {
  set_stream(call);
  set_rest(call.api, ApiKind::kHostFunction, "cudaLaunchHostFunc", false, words);
  call.api.payload = HostFunctionApi{};
  return Ok{};
}

Status TextParser::mark(Words& words, Call& call, MarkKind kind) {
  MarkApi mark{kind, ""};
  set_rest(call.api, ApiKind::kMark, "", false, words);
  if (!words.empty()) {
    ASSIGN_OR_RETURN(mark.name, words.take("the name"));
  }
  call.api.payload = mark;
  return Ok{};
}

}  // namespace drgpum::trace
