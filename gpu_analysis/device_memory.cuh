// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory policy of mark_access.h on a GPU: addresses are pointers, changes are atomics.

#include <cstdint>

#include "proto/device/mark_access.h"

namespace drgpum::device {

struct DeviceMemory {
  template <typename T>
  static __device__ __forceinline__ T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(address);
  }
  static __device__ __forceinline__ std::uint32_t load(const std::uint32_t* word) {
    return *const_cast<const volatile std::uint32_t*>(word);
  }
  static __device__ __forceinline__ std::uint64_t load(const std::uint64_t* word) {
    return *const_cast<const volatile std::uint64_t*>(word);
  }
  static __device__ __forceinline__ void store(std::uint64_t* word, std::uint64_t value) {
    *const_cast<volatile std::uint64_t*>(word) = value;
  }
  static __device__ __forceinline__ void bit_or(std::uint32_t* word, std::uint32_t bits) {
    atomicOr(word, bits);
  }
  static __device__ __forceinline__ void add(std::uint32_t* word, std::uint32_t value) {
    atomicAdd(word, value);
  }
  static __device__ __forceinline__ void add(std::uint64_t* word, std::uint64_t value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(word), value);
  }
};

}  // namespace drgpum::device
