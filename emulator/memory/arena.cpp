// SPDX-License-Identifier: Apache-2.0
// Reserves address space with mmap.

#include "emulator/memory/arena.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drgpum::emulator {
namespace {

constexpr std::uint64_t kPage = 4096;

// ThreadSanitizer keeps that part of the address space inaccessible itself.
#if defined(__SANITIZE_THREAD__)
constexpr bool kHiddenAlready = true;
#else
constexpr bool kHiddenAlready = false;
#endif

// The raw call: sanitizers' wrappers of mmap refuse addresses outside their own layout.
void* map(std::uint64_t address, std::uint64_t size, int protection) {
  const int fixed = address != 0 ? MAP_FIXED_NOREPLACE : 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const long result = syscall(SYS_mmap, address, size, protection,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0L);
  return result == -1 ? MAP_FAILED
                      : reinterpret_cast<void*>(result);  // NOLINT: an address by nature
}

Error refused(std::uint64_t base, std::uint64_t size) {
  char text[256];
  std::snprintf(text, sizeof text,
                "emulated device memory: the system refuses %llu bytes of address space at 0x%llx "
                "(%s); raise `ulimit -v`, set vm.overcommit_memory to 0 or 1, or ask for less with "
                "DRGPUM_EMULATOR_DEVICE_MEMORY",
                static_cast<unsigned long long>(size), static_cast<unsigned long long>(base),
                std::strerror(errno));
  return {ErrorCode::kIo, text};
}

}  // namespace

Result<Arena> Arena::reserve(std::uint64_t base, std::uint64_t size, HostView view) {
  Arena arena;
  arena.size_ = size;
  arena.begin_ = base;
  const bool hidden = view == HostView::kHidden;
  if (!hidden || !kHiddenAlready) {
    void* visible = map(base, size, hidden ? PROT_NONE : PROT_READ | PROT_WRITE);
    if (visible == MAP_FAILED) return refused(base, size);
    if (reinterpret_cast<std::uint64_t>(visible) != base) {  // kernels before 4.17: a hint only
      errno = EEXIST;
      return refused(base, size);
    }
  }
  if (!hidden) return arena;
  void* alias = map(0, size, PROT_READ | PROT_WRITE);
  if (alias == MAP_FAILED) return refused(base, size);
  arena.alias_offset_ = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uint64_t>(alias) - base);
  return arena;
}

void Arena::discard(std::uint64_t address, std::uint64_t size) const {
  const std::uint64_t first = (address + kPage - 1) & ~(kPage - 1);
  const std::uint64_t last = (address + size) & ~(kPage - 1);
  if (first >= last) return;
  const std::uint64_t host = first + static_cast<std::uint64_t>(alias_offset_);
  madvise(reinterpret_cast<void*>(host), last - first, MADV_DONTNEED);  // NOLINT: an address
}

}  // namespace drgpum::emulator
