// SPDX-License-Identifier: Apache-2.0
#pragma once
// The emulated device's memory: which addresses are allocated, and where the host finds their
// bytes.
//
//   device memory            0x2000'0000'0000 and up, PROT_NONE for the host: a stray host access
//                            faults as it does beside a real device
//   its bytes                device address + alias_offset: readable and writable
//   managed, pinned, mapped  the same address for host and device: alias_offset = 0
//
// The executor asks find() at the first access to an allocation and then keeps the answer for as
// long as epoch() stays the same. Records stay readable until the launch that found them has ended.

#include <atomic>
#include <cstdint>

#include "proto/base/result.h"

namespace drgpum::emulator {

// One block that kernels may touch: device addresses [begin, end).
struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::ptrdiff_t alias_offset = 0;  // host address of a byte = device address + alias_offset
  bool read_only = false;
  bool freed = false;  // nearest() only: it was allocated once
};

class AddressSpace {
 public:
  virtual ~AddressSpace() = default;

  // The live allocation that holds `address`, or nullptr. Valid until epoch() changes.
  [[nodiscard]] virtual const Allocation* find(std::uint64_t address) const noexcept = 0;

  // The live or most recently freed allocation nearest to `address`, for messages; nullptr if none.
  [[nodiscard]] virtual const Allocation* nearest(std::uint64_t address) const noexcept = 0;

  // Rises whenever an allocation comes or goes.
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    return epoch_.load(std::memory_order_acquire);
  }

 protected:
  std::atomic<std::uint64_t> epoch_{0};
};

}  // namespace drgpum::emulator
