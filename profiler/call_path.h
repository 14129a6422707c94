// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where in the program a call was made: return addresses, resolved to lines only offline.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/host_modules.h"
#include "proto/base/strong_id.h"

namespace drgpum::profiler {

inline constexpr std::size_t kMaxFrames = 192;

// The return addresses of the calling thread, innermost first; at most kMaxFrames, from the inner
// end. No lock is taken, nothing is allocated.
struct RawCallPath {
  std::array<std::uint64_t, kMaxFrames> frames;
  std::size_t count = 0;
};
void capture_call_path(RawCallPath* path) noexcept;

// The part of a path that belongs to the program: without the tool's and CUDA's frames at the inner
// end (and the libc frames between them), and without start-up code at the outer end.
std::span<const std::uint64_t> program_part(std::span<const std::uint64_t> frames,
                                            const HostModules& modules);

// The function of the shared CUDA runtime that the program called, where the path goes through one;
// else "". `program` is the program's part of `frames`.
std::string runtime_function(std::span<const std::uint64_t> frames,
                             std::span<const std::uint64_t> program, const HostModules& modules);

// Gives equal paths equal ids. 0 is the empty path.
class CallPaths {
 public:
  struct Interned {
    CallPathId id;
    bool is_new = false;
  };
  Interned intern(std::span<const std::uint64_t> frames);

  // After an unload: addresses may come to mean other code, so known paths get new ids.
  void forget() { ids_.clear(); }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<std::uint64_t>& frames) const noexcept;
  };
  std::unordered_map<std::vector<std::uint64_t>, CallPathId, Hash> ids_;
  std::vector<std::uint64_t> key_;  // kept to reuse its memory
  std::uint32_t next_id_ = 1;
};

}  // namespace drgpum::profiler
