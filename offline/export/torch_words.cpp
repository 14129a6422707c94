// SPDX-License-Identifier: Apache-2.0
#include "offline/export/torch_words.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>

#include "offline/report/units.h"

namespace drgpum {
namespace {

std::optional<std::uint64_t> known_handle(const Evidence& evidence, const Stream& stream) {
  const std::string& name = evidence.names[stream.name];
  const char* const last = name.data() + name.size();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), last, number);
  if (!name.empty() && error == std::errc() && end == last) return number;
  if (stream.kind == trace::StreamKind::kLegacyDefault) return 0;
  return std::nullopt;
}

}  // namespace

std::vector<std::uint64_t> stream_handles(const Evidence& evidence) {
  std::vector<std::uint64_t> handles(evidence.streams.size(), 0);
  std::set<std::uint64_t> taken{0};
  for (std::size_t s = 0; s < handles.size(); ++s)
    if (const auto known = known_handle(evidence, evidence.streams[s])) {
      handles[s] = *known;
      taken.insert(*known);
    }
  for (std::size_t s = 0; s < handles.size(); ++s) {
    if (known_handle(evidence, evidence.streams[s])) continue;
    handles[s] = evidence.streams[s].id;
    while (!taken.insert(handles[s]).second)
      ++handles[s];
  }
  return handles;
}

SnapshotPool snapshot_pool(const std::string& name) {
  unsigned long long owner = 0;
  unsigned long long number = 0;
  if (std::sscanf(name.c_str(), "private pool (%llu, %llu)", &owner, &number) != 2) return {};
  return {owner, number};
}

std::string snapshot_note(const Report& report, const FindingsByObject& findings,
                          std::uint32_t object) {
  std::string text = object < report.names.size() ? report.names[object] : std::string();
  const auto add = [&](std::string_view more) {
    if (!more.empty()) text += (text.empty() ? "" : ", ") + std::string(more);
  };
  const std::vector<ObjectDetail>& details = report.evidence.object_details;
  const auto detail = std::lower_bound(
      details.begin(), details.end(), object,
      [](const ObjectDetail& one, std::uint32_t about) { return one.object < about; });
  if (detail != details.end() && detail->object == object) add(report.evidence.names[detail->text]);
  std::string_view last;
  for (const std::uint32_t f : findings.of(object)) {
    const std::string_view pattern = name_of(report.findings[f].pattern);
    if (pattern != last) add(pattern);
    last = pattern;
  }
  return text;
}

void SnapshotStacks::write(std::uint32_t api) {
  const auto frames = frames_of(report_, api);
  const std::uint32_t path = frames.empty() ? 0 : report_.evidence.apis[api].call_path;
  const auto known = paths_.find(path);
  if (known != paths_.end()) return pickle_.recall(known->second);
  pickle_.begin_list();
  for (const SourceFrame& frame : frames)
    write_frame(frame);
  pickle_.end_list();
  paths_.emplace(path, pickle_.remember());
}

void SnapshotStacks::write_frame(const SourceFrame& frame) {
  const Key key(frame.function, frame.file, frame.line);
  const auto known = frames_.find(key);
  if (known != frames_.end()) return pickle_.recall(known->second);
  pickle_.begin_dict();
  pickle_.word("name");
  pickle_.text(printable(frame.function));
  pickle_.word("filename");
  pickle_.text(frame.file.empty() ? "??" : printable(frame.file));
  pickle_.word("line");
  pickle_.number(frame.line);
  pickle_.end_dict();
  frames_.emplace(key, pickle_.remember());
}

SnapshotFields::SnapshotFields(const ExportInput& input, PickleWriter& pickle)
    : input_(input),
      e_(input.report.evidence),
      pickle_(pickle),
      findings_(input.report),
      handles_(stream_handles(e_)),
      stacks_(input.report, pickle) {
  for (const FreeRequest& request : e_.free_requests) {
    const Object& object = e_.objects[request.object];
    if (request.api >= object.alloc && request.api < object.end)
      requests_.emplace(request.object, request.api);
  }
}

std::uint32_t SnapshotFields::top_of(std::uint32_t object) const {
  while (e_.objects[object].parent != kNone)
    object = e_.objects[object].parent;
  return object;
}

std::uint64_t SnapshotFields::stream_of(std::uint32_t api) const {
  if (!input_.report.has_call(api) || e_.apis[api].stream == kNone) return 0;
  return handles_[e_.apis[api].stream];
}

std::optional<std::uint32_t> SnapshotFields::request_of(std::uint32_t object) const {
  const auto found = requests_.find(object);
  return found == requests_.end() ? std::nullopt : std::optional(found->second);
}

void SnapshotFields::write_time(std::uint32_t api) {
  if (!input_.calls.has_host_times()) return;
  const std::uint64_t ns = input_.calls.host_ns(std::min(api, e_.api_count() - 1));
  last_us_ = std::max(last_us_, (e_.process.start_unix_ns + ns) / 1000);
  pickle_.word("time_us");
  pickle_.number(last_us_);
}

void SnapshotFields::write_frames(std::uint32_t api) {
  pickle_.word("frames");
  stacks_.write(api);
}

void SnapshotFields::write_pool(std::uint32_t object, std::string_view key) {
  const SnapshotPool pool = snapshot_pool(e_.names[e_.objects[top_of(object)].name]);
  pickle_.word(key);
  pickle_.pair(pool.owner, pool.number);
}

void SnapshotFields::write_note(std::uint32_t object) {
  const std::string text = snapshot_note(input_.report, findings_, object);
  if (text.empty()) return;
  pickle_.word("user_metadata");
  pickle_.text(printable(text));
}

}  // namespace drgpum
