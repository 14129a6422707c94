// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a launch, one of its worker threads and one resident block hold.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "emulator/exec/executor.h"
#include "emulator/exec/image.h"
#include "emulator/exec/warp.h"

namespace drgpum::emulator::exec {

// Generic addresses of the spaces that have no device address of their own. No user-space mapping
// of Linux on x86-64 lies here unless it asks to.
inline constexpr std::uint64_t kWindowBits = 40;
inline constexpr std::uint64_t kSharedWindow = 0x3000'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x3100'0000'0000;
inline constexpr std::uint64_t kParameterWindow = 0x3200'0000'0000;
// %envreg1 and 2 point here in a cooperative launch: the grid barrier of cooperative groups.
inline constexpr std::uint64_t kGridWorkspace = 0x3300'0000'0000;
inline constexpr std::uint32_t kGridWorkspaceBytes = 256;

inline constexpr unsigned kBarriers = 16;
inline constexpr std::uint32_t kMaxLocalBytes = 512 * 1024;  // per thread: CUDA's limit

struct WarpGeometry {
  alignas(64) std::uint32_t thread[3][kLanes];
  std::uint32_t mask = 0;
};

struct Launch {
  const LaunchConfig* config = nullptr;
  const KernelImage* image = nullptr;
  AddressSpace* memory = nullptr;
  std::vector<std::byte> parameters;
  std::vector<WarpGeometry> geometry;
  std::uint32_t threads_per_block = 0;
  std::uint32_t shared_bytes = 0;
  std::uint64_t cluster_count = 0;
  std::uint64_t hooked_spaces = 0;  // as WarpContext's
  bool shared_atomics = false;  // several workers: atomics must be atomic on the host
  std::array<std::uint64_t, kGridWorkspaceBytes / 8> grid_workspace{};
  std::atomic<std::uint64_t> next_cluster{0};
  std::atomic<bool> halted{false};
  std::mutex mutex;  // guards fault
  std::optional<Fault> fault;
};

// The allocation that an access found last, in a direct-mapped table keyed by its op; any entry
// that holds the address serves.
struct CachedAllocation {
  std::uint64_t begin = 1;
  std::uint64_t end = 0;
  std::ptrdiff_t alias = 0;
  bool read_only = false;
};

// The hook's short path for an op; in a table as CachedAllocation's.
struct KnownPath {
  const Op* op = nullptr;
  ShortPath path;
};

// Sums of what LaunchStats reports.
struct Work {
  std::uint64_t lanes[4] = {0, 0, 0, 0};  // as BlockCost::lane
  std::uint64_t warp_instructions = 0;
  std::uint64_t global_sectors = 0;
  std::uint64_t global_bytes = 0;
  std::uint64_t shared_wavefronts = 0;
};

struct Worker {
  static constexpr unsigned kCacheEntries = 256;
  Launch* launch = nullptr;
  Work work;
  std::uint64_t scattered = 0;  // accesses, for sampling
  std::uint64_t epoch = 0;
  std::array<CachedAllocation, kCacheEntries> cache{};
  std::vector<KnownPath> paths;  // kCacheEntries of them where there is a hook

  static std::size_t entry_of(const Op* op) {
    return (reinterpret_cast<std::uintptr_t>(op) / sizeof(Op)) % kCacheEntries;
  }
  CachedAllocation& cached(const Op* op) { return cache[entry_of(op)]; }
  // Takes the hook's short path for an access by all lanes of `bytes` bytes in all; false: there is
  // none.
  [[nodiscard]] bool take_path(const Op* op, ShortPath::Row ShortPath::*pattern,
                               std::uint64_t first, std::uint64_t bytes) const {
    const KnownPath& known = paths[entry_of(op)];
    if (known.op != op || !known.path.range.holds(first, bytes)) return false;
    if (const ShortPath::Row tell = known.path.*pattern) tell(known.path, first);
    return true;
  }
  void count(WarpContext& warp, const BlockCost& cost) {
    const auto lanes = static_cast<std::uint64_t>(__builtin_popcount(warp.mask));
    for (unsigned i = 0; i < 4; ++i)
      work.lanes[i] += cost.lane[i] * lanes;
    work.warp_instructions += cost.instructions;
    warp.issued += cost.instructions;
  }
};

struct Barrier {
  std::uint32_t arrived = 0;   // threads
  std::uint32_t expected = 0;  // threads; 0: all that live
  std::uint32_t count = 0;     // bar.red.popc, over arrived threads
  std::uint32_t voted = 0;     // threads that brought a predicate
};

struct Cluster;  // cluster.h

struct Block {
  Dim3 index{0, 0, 0};
  Cluster* cluster = nullptr;
  std::uint32_t rank = 0;  // within the cluster
  std::uint32_t live_threads = 0;
  std::uint64_t started = 0;
  std::array<Barrier, kBarriers> barriers{};
  std::vector<std::byte> shared;
  std::vector<std::unique_ptr<WarpContext>> warps;
  std::vector<std::uint32_t> order;  // of warps
};

// Barriers that only waited for these threads open.
void threads_exited(Block& block, std::uint32_t count);
// Stops the launch with a fault; nullptr for handlers to return.
const Op* raise(WarpContext& warp, const Op* op, Fault fault);
const Op* raise(WarpContext& warp, const Op* op, FaultKind kind, std::uint32_t lane,
                const std::string& what);
// "kernel(...) at file.cu:12, block (0,0,0), thread (1,0,0)": where a lane is.
std::string describe_place(const WarpContext& warp, const Op* op, std::uint32_t lane);
std::uint64_t pc_of(const WarpContext& warp, const Op* op);
Dim3 thread_of(const WarpContext& warp, std::uint32_t lane);
inline constexpr std::size_t kMaxDepth = 8192;  // nested calls
// Makes room for `needed` bytes of local memory per lane; contents and addresses stay.
void grow_local(WarpContext& warp, std::uint32_t needed);
// Calls `callee` for the current lanes; the frame's parameter rows are filled by the caller.
Frame* enter_function(WarpContext& warp, const Op* op, const LoweredFunction& callee);

}  // namespace drgpum::emulator::exec
