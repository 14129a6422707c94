// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory for programs whose iterations allocate the same every time: one cudaMalloc, and the places
// that `drgpum plan` found. Include the header that it wrote before this one.

#include <cstddef>

#include "samples/check.h"

class PlannedPool {
 public:
  PlannedPool() { CHECK(cudaMalloc(&pool_, drgpum_plan::kPoolBytes)); }
  ~PlannedPool() { CHECK(cudaFree(pool_)); }
  PlannedPool(const PlannedPool&) = delete;

  void begin_iteration() { next_ = 0; }

  // The n-th allocation of an iteration has the n-th place. What the plan has no place for, or
  // another size, is allocated by itself.
  void* take(std::size_t bytes) {
    const drgpum_plan::Slot slot =
        next_ < drgpum_plan::kSlots ? drgpum_plan::kSlot[next_] : drgpum_plan::Slot{};
    ++next_;
    if (slot.offset != drgpum_plan::kOutside && bytes <= slot.size) return pool_ + slot.offset;
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, bytes));
    return memory;
  }

  void give_back(void* memory) {
    const char* at = static_cast<char*>(memory);
    if (at < pool_ || at >= pool_ + drgpum_plan::kPoolBytes) CHECK(cudaFree(memory));
  }

 private:
  char* pool_ = nullptr;
  std::size_t next_ = 0;
};
