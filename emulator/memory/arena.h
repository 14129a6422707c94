// SPDX-License-Identifier: Apache-2.0
#pragma once
// A region of address space whose pages cost memory only once they are touched.

#include <cstddef>
#include <cstdint>

#include "proto/base/result.h"

namespace drgpum::emulator {

enum class HostView : std::uint8_t {
  kHidden,  // PROT_NONE at its address; the bytes lie elsewhere, alias_offset() away
  kShared,  // the bytes lie at the address itself
};

// Never unmapped: a program may touch its pinned memory until the very end of the process.
class Arena {
 public:
  // kIo when the system grants no such region: the message names limits to look at.
  static Result<Arena> reserve(std::uint64_t base, std::uint64_t size, HostView view);

  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return begin_ + size_; }
  [[nodiscard]] std::ptrdiff_t alias_offset() const { return alias_offset_; }

  // Gives the whole pages of a range back to the system; they read as zero afterwards.
  void discard(std::uint64_t address, std::uint64_t size) const;

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t size_ = 0;
  std::ptrdiff_t alias_offset_ = 0;
};

}  // namespace drgpum::emulator
