// SPDX-License-Identifier: Apache-2.0
#include "offline/import/call_writer.h"

#include <algorithm>
#include <string>

namespace drgpum {

using namespace trace;

std::uint64_t CallWriter::ns_of(std::int64_t tick) const {
  if (tick == kNoTick || tick <= start_) return 0;
  const auto since = static_cast<std::uint64_t>(tick) - static_cast<std::uint64_t>(start_);
  const auto length = static_cast<std::uint64_t>(history_.tick_ns);
  return since > UINT64_MAX / length ? UINT64_MAX : since * length;
}

std::uint64_t CallWriter::advance(std::int64_t tick) {
  return now_ns_ = std::max(now_ns_, ns_of(tick));
}

Status CallWriter::tell_frames() {
  for (std::size_t i = 0; i < history_.frames.size(); ++i) {
    const HistoryFrame& frame = history_.frames[i];
    SourceFrameRecord record;
    record.frame = i + 1;
    record.function = history_.texts[frame.function];
    record.file = history_.texts[frame.file];
    record.line = frame.line;
    RETURN_IF_ERROR(sink_(record));
  }
  stack_told_.resize(history_.stack_begin.size(), false);
  return Ok{};
}

Status CallWriter::tell_stack(std::uint32_t stack) {
  if (stack == 0 || stack_told_[stack]) return Ok{};
  stack_told_[stack] = true;
  CallPathRecord path;
  path.id = CallPathId{stack};
  for (std::uint32_t i = history_.stack_begin[stack]; i < history_.stack_begin[stack + 1]; ++i)
    path.frames.push_back(std::uint64_t{history_.stack_frames[i]} + 1);
  return sink_(path);
}

Result<StreamId> CallWriter::stream_of(std::uint32_t device, std::uint16_t number) {
  const std::uint64_t key = std::uint64_t{device} << 16 | number;
  const auto [at, fresh] = streams_.try_emplace(key, static_cast<std::uint32_t>(streams_.size()));
  if (fresh) {
    StreamRecord record;
    record.id = StreamId{at->second};
    record.context = ContextId{device};
    const std::uint64_t handle = history_.streams[number];
    record.kind = handle == 0 ? StreamKind::kLegacyDefault : StreamKind::kBlocking;
    record.name = std::to_string(handle);
    RETURN_IF_ERROR(sink_(record));
  }
  return StreamId{at->second};
}

Result<GpuApi*> CallWriter::call(std::uint32_t device, ApiKind kind, std::string_view name,
                                 std::uint16_t stream, std::uint32_t stack, std::uint64_t ns) {
  RETURN_IF_ERROR(tell_stack(stack));
  GpuApi& api = std::get<GpuApi>(call_);
  ASSIGN_OR_RETURN(api.stream, stream_of(device, stream));
  api.id = next();
  api.kind = kind;
  api.context = ContextId{device};
  api.host_begin_ns = api.host_end_ns = ns;
  api.name = name;
  api.call_path = CallPathId{stack};
  return &api;
}

Status CallWriter::issue() {
  ++next_api_;
  return sink_(call_);
}

Status CallWriter::mark(std::uint32_t device, MarkKind kind, std::string_view name,
                        std::uint32_t stack, std::uint64_t ns) {
  ASSIGN_OR_RETURN(GpuApi * api, call(device, ApiKind::kMark, "mark", 0, stack, ns));
  api->stream = kNoStream;
  api->payload = MarkApi{kind, std::string(name)};
  return issue();
}

}  // namespace drgpum
