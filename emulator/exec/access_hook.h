// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an observer of executing kernels is told, warp by warp, before each event takes place.

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/ptx/program.h"

namespace drgpum::emulator::exec {

enum AccessFlags : std::uint32_t {
  kRead = 1,
  kWrite = 2,
  kAtomic = 4,  // set together with kRead and, but for pure reads, kWrite
  kPrefetch = 8,
};

enum class AccessKind : std::uint8_t {
  kPlain,      // ld, st, atom, red
  kAsyncCopy,  // cp.async: global to shared
};

// What is known of the addresses of the active lanes, so that an observer need not look at each.
enum class AccessPattern : std::uint8_t {
  kScattered,   // nothing
  kUniform,     // all 32 lanes are active and have addresses[0]
  kContiguous,  // all 32 lanes are active; lane l has addresses[0] + l * size
};

// Device addresses [begin, end).
struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool holds(std::uint64_t first, std::uint64_t bytes) const {
    return first >= begin && first + bytes <= end;
  }
};

// How an observer wants to hear of further accesses by one instruction, in one launch and by one
// thread of the host, whose lanes' bytes all lie in `range`: by the function for their pattern
// instead of on_access, and where that is null, no more.
struct ShortPath {
  static constexpr std::size_t kStateBytes = 48;
  using Row = void (*)(const ShortPath&, std::uint64_t first);
  using Lanes = void (*)(const ShortPath&, std::uint32_t mask, const std::uint64_t* addresses);

  AddressRange range;       // empty: there is no such path
  Row contiguous = nullptr;
  Row uniform = nullptr;
  Lanes scattered = nullptr;
  alignas(8) std::array<std::byte, kStateBytes> state;  // the observer's own
};

// One memory instruction of one warp. Lanes outside `mask` hold no meaning in `addresses`.
struct WarpAccess {
  std::uint64_t pc = 0;     // Executable::pc_base + 16 * instruction number
  std::uint32_t mask = 0;   // active lanes
  std::uint32_t flags = 0;  // AccessFlags
  std::uint32_t size = 0;   // bytes per lane, of the whole vector
  AccessKind kind = AccessKind::kPlain;
  AccessPattern pattern = AccessPattern::kScattered;
  ptx::Space space =
      ptx::Space::kGlobal;  // resolved: a generic access that hit shared says kShared
  const std::uint64_t* addresses =
      nullptr;  // 32 of them: global generic addresses, or window offsets
  const std::uint64_t* shared_destinations = nullptr;  // kAsyncCopy: 32 shared offsets
  ShortPath* short_path = nullptr;  // the observer may fill it in; null: it would not be used
};

// The warp at the event; call_device_function (executor.h) runs code in it.
class WarpContext;

class AccessHook {
 public:
  virtual ~AccessHook() = default;
  virtual void on_access(WarpContext& warp, const WarpAccess& access) = 0;
  virtual void on_block_enter(WarpContext& warp, std::uint64_t pc, std::uint32_t mask) = 0;
  virtual void on_block_exit(WarpContext& warp, std::uint64_t pc, std::uint32_t mask) = 0;
  // Device-side malloc (after it) and free (before it), per lane.
  virtual void on_device_malloc(WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                                const std::uint64_t* pointers, const std::uint64_t* sizes) = 0;
  virtual void on_device_free(WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                              const std::uint64_t* pointers) = 0;
  // Spaces that on_access wants to hear of, as bits 1 << Space; others cost nothing.
  [[nodiscard]] virtual std::uint32_t wanted_spaces() const = 0;
  [[nodiscard]] virtual bool wants_blocks() const = 0;
  // Whether device malloc and free matter to it. A hook that wants nothing costs nothing.
  [[nodiscard]] virtual bool wants_heap() const { return true; }
};

}  // namespace drgpum::emulator::exec
