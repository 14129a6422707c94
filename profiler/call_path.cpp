// SPDX-License-Identifier: Apache-2.0
#include "profiler/call_path.h"

#include <dlfcn.h>
#include <unwind.h>

#include "profiler/unwind_rule.h"

namespace drgpum::profiler {

namespace {

// What a frame needs to give its caller's.
struct Registers {
  std::uint64_t rip;
  std::uint64_t rsp;
  std::uint64_t rbp;
};

std::uint64_t word_at(std::uint64_t address) {
  return *reinterpret_cast<const std::uint64_t*>(address);
}

enum class Step : std::uint8_t { kCaller, kEnd, kUnknown };

// One frame outwards. A frame below its caller, on a stack of sane size, or it is none.
Step to_caller(Registers* registers) {
  constexpr std::uint64_t kLargestFrame = 64 << 20;
  const UnwindRule rule = unwind_rule_at(registers->rip);
  std::uint64_t cfa = 0;
  switch (rule.kind) {
    case UnwindRule::kFromRsp:
      cfa = registers->rsp + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
      break;
    case UnwindRule::kFromRbp:
      cfa = registers->rbp + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
      break;
    case UnwindRule::kFromStackRbp:
      cfa = word_at(registers->rbp + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset}));
      break;
    case UnwindRule::kEnd:
      return Step::kEnd;
    case UnwindRule::kOther:
      return Step::kUnknown;
  }
  if (cfa % 8 != 0 || cfa <= registers->rsp || cfa - registers->rsp > kLargestFrame) {
    return Step::kUnknown;
  }
  if (rule.kind == UnwindRule::kFromStackRbp) {
    registers->rbp = word_at(registers->rbp);
  } else if (rule.rbp_offset != UnwindRule::kRbpKept) {
    registers->rbp = word_at(cfa + static_cast<std::uint64_t>(std::int64_t{rule.rbp_offset}));
  }
  registers->rip = word_at(cfa - 8);
  registers->rsp = cfa;
  return Step::kCaller;
}

// False: some frame was not of the simple kind.
bool walk(Registers registers, RawCallPath* path) {
  while (path->count < kMaxFrames) {
    const Step step = to_caller(&registers);
    if (step == Step::kUnknown) return false;
    if (step == Step::kEnd || registers.rip == 0) return true;
    path->frames[path->count++] = registers.rip;
  }
  return true;
}

void capture_slowly(RawCallPath* path) {
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

}  // namespace

__attribute__((noinline)) void capture_call_path(RawCallPath* path) noexcept {
  Registers registers;
  asm volatile("leaq 0f(%%rip), %0\n0:\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
               : "=r"(registers.rip), "=r"(registers.rsp), "=r"(registers.rbp));
  path->count = 0;
  if (!walk(registers, path)) capture_slowly(path);
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

std::string runtime_function(std::span<const std::uint64_t> frames,
                             std::span<const std::uint64_t> program, const HostModules& modules) {
  if (program.empty() || program.data() == frames.data()) return "";
  const std::uint64_t outermost = *(program.data() - 1) - 1;  // inside the call
  const HostModule* module = modules.find(outermost);
  if (module == nullptr || module->path.find("libcudart.so") == std::string::npos) return "";
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(outermost), &info) != 0;
  return found && info.dli_sname != nullptr ? info.dli_sname : "";
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
