// SPDX-License-Identifier: Apache-2.0
#include "offline/import/history_builder.h"

#include <algorithm>
#include <utility>

namespace drgpum {
namespace {

constexpr std::size_t kMostStreams = 0xffff;

}  // namespace

HistoryBuilder::HistoryBuilder(std::string format) {
  history.format = std::move(format);
  text("");
  history.stack_begin.push_back(0);
  history.stack_begin.push_back(0);
  history.notes.emplace_back();
  history.streams.push_back(0);
  stream_of_.emplace(0, std::uint16_t{0});
  history.pools.emplace_back(0, 0);
}

std::uint32_t HistoryBuilder::frame(std::string_view function, std::string_view file,
                                    std::uint32_t line) {
  const HistoryFrame frame{text(function), text(file), line};
  const auto [at, fresh] = frame_of_.try_emplace(
      {frame.function, frame.file, frame.line}, static_cast<std::uint32_t>(history.frames.size()));
  if (fresh) history.frames.push_back(frame);
  return at->second;
}

std::uint32_t HistoryBuilder::stack(std::span<const std::uint32_t> frames) {
  if (frames.empty()) return 0;
  const auto number = static_cast<std::uint32_t>(history.stack_begin.size() - 1);
  const auto [at, fresh] =
      stack_of_.try_emplace(std::vector<std::uint32_t>(frames.begin(), frames.end()), number);
  if (!fresh) return at->second;
  history.stack_frames.append(frames.data(), frames.size());
  history.stack_begin.push_back(static_cast<std::uint32_t>(history.stack_frames.size()));
  return number;
}

std::uint32_t HistoryBuilder::note(std::uint32_t text, std::uint32_t call) {
  if (text == 0 && call == 0) return 0;
  const auto [at, fresh] =
      note_of_.try_emplace({text, call}, static_cast<std::uint32_t>(history.notes.size()));
  if (fresh) history.notes.push_back({text, 0, call});
  return at->second;
}

std::uint16_t HistoryBuilder::stream(std::uint64_t handle) {
  const auto found = stream_of_.find(handle);
  if (found != stream_of_.end()) return found->second;
  if (history.streams.size() == kMostStreams) {
    fault(FaultKind::kBadField, "streams beyond the first 65,535, taken for the default stream");
    return 0;
  }
  const auto number = static_cast<std::uint16_t>(history.streams.size());
  history.streams.push_back(handle);
  stream_of_.emplace(handle, number);
  return number;
}

void HistoryBuilder::fault(FaultKind kind, const std::string& text, std::uint64_t count) {
  if (count == 0) return;
  const auto [at, fresh] = fault_of_.try_emplace({kind, text}, history.faults.size());
  if (fresh) history.faults.push_back({text, 0, kind});
  history.faults[at->second].count += count;
}

void HistoryBuilder::property(std::string_view key, std::string_view value) {
  std::string line(value);
  std::replace(line.begin(), line.end(), '\n', ' ');
  history.properties += std::string(key) + '=' + line + '\n';
}

void HistoryBuilder::add_part(std::uint32_t device, bool host, std::vector<AllocatorEvent> events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const AllocatorEvent& a, const AllocatorEvent& b) { return a.tick < b.tick; });
  history.parts.push_back({device, host, history.events.size(), events.size()});
  history.events.append(events.data(), events.size());
}

AllocatorHistory HistoryBuilder::finish() && {
  std::stable_sort(history.works.begin(), history.works.end(),
                   [](const HistoryWork& a, const HistoryWork& b) { return a.tick < b.tick; });
  std::stable_sort(
      history.annotations.begin(), history.annotations.end(),
      [](const HistoryAnnotation& a, const HistoryAnnotation& b) { return a.tick < b.tick; });
  return std::move(history);
}

Error bad_value(const std::string& where, const std::string& what, const std::string& value,
                const std::string& why) {
  return {ErrorCode::kCorrupt, where + ": '" + what + "' is " + value + ": " + why};
}

}  // namespace drgpum
