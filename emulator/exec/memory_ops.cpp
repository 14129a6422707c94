// SPDX-License-Identifier: Apache-2.0
// The careful path of memory accesses: lane by lane, with messages for what is wrong.

#include "emulator/exec/memory_ops.h"

#include <algorithm>

#include <fmt/format.h>

#include "emulator/exec/cluster.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Space;

const char* word_of_access(std::uint32_t flags) {
  if ((flags & kAtomic) != 0) return "atomic";
  return (flags & kWrite) != 0 ? "write" : "read";
}

const char* word_of_space(Space space) {
  switch (space) {
    case Space::kShared:
      return "__shared__";
    case Space::kLocal:
      return "__local__";
    case Space::kConst:
      return "__constant__";
    case Space::kParam:
      return "parameter";
    default:
      return "__global__";
  }
}

// "12 bytes after the nearest allocation at 0x7000... of size 1,024 bytes".
std::string describe_nearest(AddressSpace& memory, std::uint64_t address, std::uint64_t bytes) {
  const Allocation* near = memory.nearest(address);
  if (near == nullptr) return "no memory is allocated on the device";
  const std::string what =
      fmt::format("allocation at {:#x} of size {} bytes", near->begin, near->end - near->begin);
  const bool live = memory.find(near->begin) == near;
  const char* kind = live ? "nearest " : "nearest, already freed, ";
  if (address < near->begin)
    return fmt::format("is out of bounds and is {} bytes before the {}{}", near->begin - address,
                       kind, what);
  if (address >= near->end)
    return fmt::format("is out of bounds and is {} bytes after the {}{}", address - near->end + 1,
                       kind, what);
  if (!live)
    return fmt::format("is {} bytes inside the already freed {}", address - near->begin, what);
  return fmt::format("starts inside, but ends {} bytes after the end of the {}{}",
                     address + bytes - near->end, kind, what);
}

bool fault_at(WarpContext& warp, const Op* op, const MemoryAccess& access, unsigned lane,
              FaultKind kind, Space space, std::uint64_t address, const std::string& why) {
  const std::uint32_t bytes = static_cast<std::uint32_t>(access.element_bytes) * access.count;
  Fault fault;
  fault.kind = kind;
  fault.address = address;
  fault.size = bytes;
  fault.thread = thread_of(warp, lane);
  fault.text = fmt::format("Invalid {} {} of size {} bytes at {}: address {:#x} {}",
                           word_of_space(space), word_of_access(access.flags), bytes,
                           describe_place(warp, op, lane), address, why);
  raise(warp, op, std::move(fault));
  return false;
}

struct Window {
  Space space;
  std::byte* base;
  std::uint64_t size;
  FaultKind kind;
};

Window shared_window(WarpContext& warp) {
  return {Space::kShared, warp.block->shared.data(), warp.worker->launch->shared_bytes,
          FaultKind::kSharedOutOfRange};
}

Window local_window(WarpContext& warp, unsigned lane) {
  return {Space::kLocal, warp.local.get() + std::size_t{lane} * warp.local_stride,
          warp.local_stride, FaultKind::kLocalOutOfRange};
}

Window parameter_window(WarpContext& warp) {
  const auto& parameters = warp.worker->launch->parameters;
  return {Space::kParam, const_cast<std::byte*>(parameters.data()), parameters.size(),
          FaultKind::kIllegalAddress};
}

bool in_window(std::uint64_t address, std::uint64_t window) {
  return address >> kWindowBits == window >> kWindowBits;
}

Window window_at(WarpContext& warp, unsigned lane, std::uint64_t address) {
  if (in_window(address, kSharedWindow)) return shared_window(warp);
  if (in_window(address, kLocalWindow)) return local_window(warp, lane);
  if (in_window(address, kParameterWindow)) return parameter_window(warp);
  return {Space::kGlobal, nullptr, 0, FaultKind::kIllegalAddress};
}

// Offsets in the shared memory of a cluster name a block; `offset` is what is left of one.
Window cluster_window(WarpContext& warp, std::uint64_t* offset) {
  const std::uint64_t rank = (*offset & 0xffffffffu) >> kClusterRankShift;
  if (rank == 0) return shared_window(warp);
  const auto& blocks = warp.block->cluster->blocks;
  Window window = shared_window(warp);
  if (rank > blocks.size()) return window;  // out of its bounds
  window.base = blocks[rank - 1]->shared.data();
  *offset &= (std::uint64_t{1} << kClusterRankShift) - 1;
  return window;
}

std::byte* place_in(WarpContext& warp, const Op* op, const MemoryAccess& access, unsigned lane,
                    const Window& window, std::uint64_t offset) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(access.element_bytes) * access.count;
  if (offset + bytes > window.size || offset > window.size) {
    fault_at(warp, op, access, lane, window.kind, window.space, offset,
             fmt::format("is out of bounds: the space has {} bytes here", window.size));
    return nullptr;
  }
  return window.base + offset;
}

bool is_misaligned(std::uint64_t address, const MemoryAccess& access) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(access.element_bytes) * access.count;
  return (address & (std::min<std::uint64_t>(bytes, 16) - 1)) != 0;
}

std::byte* place_global(WarpContext& warp, const Op* op, const MemoryAccess& access, unsigned lane,
                        std::uint64_t address) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(access.element_bytes) * access.count;
  CachedAllocation& cached = warp.worker->cached(op);
  const bool known = address >= cached.begin && address + bytes <= cached.end;
  if (!known && !look_up(*warp.worker, cached, address)) {
    fault_at(warp, op, access, lane, FaultKind::kIllegalAddress, access.space, address,
             describe_nearest(*warp.worker->launch->memory, address, bytes));
    return nullptr;
  }
  if (address + bytes > cached.end) {
    fault_at(warp, op, access, lane, FaultKind::kIllegalAddress, access.space, address,
             describe_nearest(*warp.worker->launch->memory, address, bytes));
    return nullptr;
  }
  if (cached.read_only && (access.flags & kWrite) != 0) {
    fault_at(warp, op, access, lane, FaultKind::kReadOnly, access.space, address,
             "is in read-only memory");
    return nullptr;
  }
  return reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(cached.alias));
}

std::byte* place_lane(WarpContext& warp, const Op* op, const MemoryAccess& access, unsigned lane,
                      std::uint64_t address) {
  if (access.where != Where::kLaneParameter && is_misaligned(address, access)) {
    fault_at(warp, op, access, lane, FaultKind::kMisalignedAddress, access.space, address,
             "is misaligned");
    return nullptr;
  }
  switch (access.where) {
    case Where::kShared: {
      const Window window = cluster_window(warp, &address);
      return place_in(warp, op, access, lane, window, address);
    }
    case Where::kLocal:
      return place_in(warp, op, access, lane, local_window(warp, lane), address);
    case Where::kEntryParameter:
      return place_in(warp, op, access, lane, parameter_window(warp), address);
    case Where::kLaneParameter:
      return warp.rows + access.base + std::size_t{lane} * access.stride + address;
    case Where::kGeneric:
      break;
  }
  const Window window = window_at(warp, lane, address);
  if (window.space == Space::kShared) {
    std::uint64_t offset = address & 0xffffffffu;
    const Window block = cluster_window(warp, &offset);
    return place_in(warp, op, access, lane, block, offset);
  }
  if (window.space != Space::kGlobal)
    return place_in(warp, op, access, lane, window, address & 0xffffffffu);
  return place_global(warp, op, access, lane, address);
}

}  // namespace

void call_hook(WarpContext& warp, const Op* op, const MemoryAccess& access, Space space,
               std::uint32_t mask, const std::uint64_t* addresses, AccessPattern pattern) {
  if (mask == 0 || !hooked(warp, space)) return;
  WarpAccess event;
  event.pc = warp.frame->function->code_base + 16 * std::uint64_t{op->instruction};
  event.mask = mask;
  event.flags = access.flags;
  event.size = static_cast<std::uint32_t>(access.element_bytes) * access.count;
  event.pattern = pattern;
  event.space = space;
  event.addresses = addresses;
  ShortPath path;
  if (space == Space::kGlobal) event.short_path = &path;
  const std::uint32_t all = warp.mask;
  warp.mask = mask;
  warp.worker->launch->config->hook->on_access(warp, event);
  warp.mask = all;
  if (path.range.end != 0) warp.worker->paths[Worker::entry_of(op)] = {op, path};
}

namespace {

// Takes the hook's short path for the op, if all active lanes are where it leads.
bool take_path(const WarpContext& warp, const Op* op, const MemoryAccess& access,
               const std::uint64_t* addresses) {
  const KnownPath& known = warp.worker->paths[Worker::entry_of(op)];
  if (known.op != op) return false;
  const AddressRange range = known.path.range;
  const std::uint64_t bytes = std::uint64_t{access.element_bytes} * access.count;
  if (range.end - range.begin < bytes) return false;
  const std::uint64_t room = range.end - range.begin - bytes;
  const std::uint32_t outside =
      lanes_where<std::uint64_t>([=](unsigned i) { return addresses[i] - range.begin > room; });
  if ((outside & warp.mask) != 0) return false;
  if (known.path.scattered != nullptr) known.path.scattered(known.path, warp.mask, addresses);
  return true;
}

}  // namespace

void notify_hook(WarpContext& warp, const Op* op, const MemoryAccess& access,
                 const std::uint64_t* addresses) {
  if (warp.hooked_spaces == 0 || take_path(warp, op, access, addresses)) return;
  if (access.where != Where::kGeneric) {
    call_hook(warp, op, access, access.space, warp.mask, addresses, AccessPattern::kScattered);
    return;
  }
  const std::uint32_t windowed =
      warp.mask & lanes_where<std::uint64_t>([=](unsigned i) {
        return addresses[i] >> (kWindowBits + 4) == kSharedWindow >> (kWindowBits + 4);
      });
  const Space plain = access.space == Space::kGeneric ? Space::kGlobal : access.space;
  if (windowed == 0) {
    call_hook(warp, op, access, plain, warp.mask, addresses, AccessPattern::kScattered);
    return;
  }
  std::array<std::uint64_t, kLanes> offsets{};
  std::uint32_t by_space[2] = {0, 0};
  for_lanes(windowed, [&](unsigned lane) {
    offsets[lane] = addresses[lane] & 0xffffffffu;
    if (in_window(addresses[lane], kSharedWindow)) by_space[0] |= 1u << lane;
    if (in_window(addresses[lane], kLocalWindow)) by_space[1] |= 1u << lane;
  });
  call_hook(warp, op, access, Space::kShared, by_space[0], offsets.data(),
            AccessPattern::kScattered);
  call_hook(warp, op, access, Space::kLocal, by_space[1], offsets.data(),
            AccessPattern::kScattered);
  call_hook(warp, op, access, plain, warp.mask & ~windowed, addresses, AccessPattern::kScattered);
}

void fill_addresses(const WarpContext& warp, const MemoryAccess& access, std::uint64_t* addresses) {
  const auto offset = static_cast<std::uint64_t>(access.offset);
  if (access.where == Where::kLaneParameter) {
    std::fill_n(addresses, kLanes, offset);
    return;
  }
  if (access.base_is_wide) {
    const auto* base = warp.source<std::uint64_t>(access.base);
    for (unsigned i = 0; i < kLanes; ++i)
      addresses[i] = base[i] + offset;
  } else {
    const auto* base = warp.source<std::uint32_t>(access.base);
    for (unsigned i = 0; i < kLanes; ++i)
      addresses[i] = base[i] + offset;
  }
  // Addresses in a window are 32 bits wide and wrap.
  if (access.where != Where::kGeneric)
    for (unsigned i = 0; i < kLanes; ++i)
      addresses[i] &= 0xffffffffu;
}

bool look_up(Worker& worker, CachedAllocation& cached, std::uint64_t address) {
  Launch& launch = *worker.launch;
  if (in_window(address, kGridWorkspace) && launch.config->cooperative) {
    const auto host = reinterpret_cast<std::uint64_t>(launch.grid_workspace.data());
    cached = {kGridWorkspace, kGridWorkspace + kGridWorkspaceBytes,
              static_cast<std::ptrdiff_t>(host - kGridWorkspace), false};
    return address < cached.end;
  }
  const Allocation* found = launch.memory->find(address);
  if (found == nullptr) return false;
  cached = {found->begin, found->end, found->alias_offset, found->read_only};
  return true;
}

bool resolve_addresses(WarpContext& warp, const Op* op, const MemoryAccess& access,
                       const std::uint64_t* addresses, std::byte** pointers) {
  const std::uint32_t bytes = static_cast<std::uint32_t>(access.element_bytes) * access.count;
  if (access.where == Where::kGeneric) count_sectors(warp, addresses, bytes);
  if (access.where == Where::kShared) count_wavefronts(warp, addresses, bytes);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    pointers[lane] = place_lane(warp, op, access, lane, addresses[lane]);
    if (pointers[lane] == nullptr) return false;
  }
  return true;
}

bool resolve_access(WarpContext& warp, const Op* op, const MemoryAccess& access) {
  fill_addresses(warp, access, warp.addresses.data());
  if (access.synchronising) {
    warp.budget -= kSpinCharge;
    warp.spin_seen = true;
  }
  notify_hook(warp, op, access, warp.addresses.data());
  return resolve_addresses(warp, op, access, warp.addresses.data(), warp.pointers.data());
}

std::byte* resolve_generic(WarpContext& warp, unsigned lane, std::uint64_t address,
                           std::uint64_t bytes) {
  const Window window = window_at(warp, lane, address);
  if (window.space != Space::kGlobal) {
    std::uint64_t offset = address & 0xffffffffu;
    const Window block = window.space == Space::kShared ? cluster_window(warp, &offset) : window;
    return offset + bytes <= block.size ? block.base + offset : nullptr;
  }
  CachedAllocation found;
  if (!look_up(*warp.worker, found, address) || address + bytes > found.end) return nullptr;
  return reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(found.alias));
}

std::string read_string(WarpContext& warp, unsigned lane, std::uint64_t address) {
  std::string text;
  while (const std::byte* c = resolve_generic(warp, lane, address, 1)) {
    if (*c == std::byte{0}) break;
    text += static_cast<char>(*c);
    ++address;
  }
  return text;
}

void count_sectors(WarpContext& warp, const std::uint64_t* addresses, std::uint32_t bytes) {
  // Sectors that neighbouring lanes share count once.
  std::uint64_t sectors = 0, last = ~std::uint64_t{0};
  for_lanes(warp.mask, [&](unsigned lane) {
    const std::uint64_t first = addresses[lane] >> 5;
    const std::uint64_t end = (addresses[lane] + bytes - 1) >> 5;
    sectors += end - first + (first == last ? 0 : 1);
    last = end;
  });
  warp.worker->work.global_sectors += sectors;
  warp.worker->work.global_bytes +=
      std::uint64_t{bytes} * static_cast<unsigned>(std::popcount(warp.mask));
}

void count_wavefronts(WarpContext& warp, const std::uint64_t* addresses, std::uint32_t bytes) {
  std::array<std::uint32_t, 32> words{};
  std::array<std::uint8_t, 32> passes{};
  std::uint8_t most = 1;
  for_lanes(warp.mask, [&](unsigned lane) {
    const auto word = static_cast<std::uint32_t>(addresses[lane] >> 2);
    const unsigned bank = word % 32;
    if (passes[bank] != 0 && words[bank] == word) return;
    words[bank] = word;
    most = std::max(most, ++passes[bank]);
  });
  warp.worker->work.shared_wavefronts += most * std::max(bytes / 4, 1u);
}

}  // namespace drgpum::emulator::exec
