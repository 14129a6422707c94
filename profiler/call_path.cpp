// SPDX-License-Identifier: Apache-2.0
#include "profiler/call_path.h"

#include <unwind.h>

namespace drgpum::profiler {

void capture_call_path(RawCallPath* path) noexcept {
  path->count = 0;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* out) {
        auto* captured = static_cast<RawCallPath*>(out);
        const std::uint64_t address = _Unwind_GetIP(context);
        if (address == 0 || captured->count == kMaxFrames) return _URC_END_OF_STACK;
        captured->frames[captured->count++] = address;
        return _URC_NO_REASON;
      },
      path);
}

std::span<const std::uint64_t> program_part(std::span<const std::uint64_t> frames,
                                            const HostModules& modules) {
  const auto kind = [&](std::size_t i) { return modules.kind_of(frames[i]); };
  std::size_t first = 0;
  for (std::size_t i = 0; i < frames.size() && kind(i) != FrameKind::kProgram; ++i) {
    if (kind(i) == FrameKind::kCuda) first = i + 1;
  }
  std::size_t end = frames.size();
  const bool has_start = end >= first + 2 && kind(end - 1) == FrameKind::kProgram &&
                         kind(end - 2) == FrameKind::kLibc;  // _start, called by nobody
  if (has_start) --end;
  while (end > first && kind(end - 1) == FrameKind::kLibc)
    --end;
  return frames.subspan(first, end - first);
}

std::size_t CallPaths::Hash::operator()(const std::vector<std::uint64_t>& frames) const noexcept {
  std::uint64_t hash = frames.size();
  for (const std::uint64_t frame : frames) {
    hash = (hash ^ frame) * 0x9e3779b97f4a7c15ull;  // 2^64 / golden ratio
    hash ^= hash >> 32;
  }
  return hash;
}

CallPaths::Interned CallPaths::intern(std::span<const std::uint64_t> frames) {
  if (frames.empty()) return {};
  key_.assign(frames.begin(), frames.end());
  const auto [entry, is_new] = ids_.try_emplace(key_, CallPathId{next_id_});
  if (is_new) ++next_id_;
  return {entry->second, is_new};
}

}  // namespace drgpum::profiler
