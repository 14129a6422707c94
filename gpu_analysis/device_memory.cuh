// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory policy of mark_access.h on a GPU: addresses are pointers, changes are atomics.

#include <cstddef>
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
  static __device__ __forceinline__ std::uint32_t claim(std::uint32_t* word, std::uint32_t value) {
    return atomicCAS(word, 0u, value);
  }
  // Hides where a value comes from, so that it and not its parts stay in registers.
  static __device__ __forceinline__ std::uint32_t keep(std::uint32_t value) {
    asm volatile("" : "+r"(value));
    return value;
  }
  static __device__ __forceinline__ std::uint64_t keep(std::uint64_t value) {
    asm volatile("" : "+l"(value));
    return value;
  }
  static __device__ __forceinline__ std::uint32_t block_number() {
    return drgpum::device::block_number(blockIdx.x, blockIdx.y, blockIdx.z);
  }
};

}  // namespace drgpum::device
