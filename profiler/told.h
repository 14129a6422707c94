// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a program, its framework or its allocator says about itself, by whichever route: drgpum.h,
// NVTX, PyTorch's reporting function, Kokkos. May be said from any thread and at any time, also
// before CUDA has started. Nothing here throws, blocks for long or prints.

#include <cstdint>
#include <string>
#include <vector>

namespace drgpum::profiler {

enum class ToldKind : std::uint8_t {
  kPool,        // [address, address + size) will be carved up; size 0: the whole allocation
  kPoolEnd,     // and is not any more; its blocks have gone
  kPoolReset,   // all its blocks have gone
  kBlock,       // [address, address + size) is handed out
  kBlockEnd,    // the block that begins at `address` is given back
  kLabel,       // the allocation that begins at `address` has a name; a block if none begins there
  kName,        // what begins at `address`, or lies around it, has a name
  kStreamName,  // of the stream with the handle `address`
  kRangeBegin,
  kRangeEnd,  // `name` as at its begin
  kInstant,
  kIteration,
  kStart,  // record from here on, until
  kStop,
};

struct Told {
  ToldKind kind = ToldKind::kInstant;
  const char* call = "";  // the function that said so; stays valid
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string name;
  bool may_be_whole = false;  // kBlock: when it is a whole allocation, it is that and no part
  // kBlockEnd: where the allocator's code is. When it recorded events just before, on streams that
  // may still use the block, the block ends once these have come.
  const void* allocator = nullptr;
};

// To whoever listens; nobody does before CUDA has started. Of what is said before that, marks and
// ranges are kept for the listener (the first kMostWaiting); blocks and names of addresses cannot
// mean anything yet.
void tell(Told told) noexcept;

using Listener = void (*)(Told told);
void listen(Listener listener) noexcept;  // null: nobody
// In a forked child: nothing is taken any more.
void stop_listening() noexcept;

inline constexpr std::size_t kMostWaiting = 4096;
void keep_waiting(Told told);
std::vector<Told> take_waiting();

// Ranges that are open. A stack is named by the thread and `domain`, any pointer.
// The depth of the new range, from 0.
int push_range(const void* domain, const char* call, std::string name) noexcept;
// The depth that the range had; -1 when none is open.
int pop_range(const void* domain, const char* call) noexcept;
// Ranges that do not nest, and that another thread may end. Numbers from 1.
std::uint64_t start_range(const char* call, std::string name) noexcept;
void end_range(const char* call, std::uint64_t range) noexcept;

}  // namespace drgpum::profiler
