// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory policies of proto/device/mark_access.h over the host's view of device memory.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace drgpum::emulator::sanitizer {

// Set on entry of each call: the policy of mark_access.h has static members only.
inline thread_local std::ptrdiff_t memory_alias __attribute__((tls_model("initial-exec"))) = 0;
inline thread_local std::uint32_t running_block __attribute__((tls_model("initial-exec"))) = 0;

struct AnyThread {
  template <typename T>
  static T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(address + static_cast<std::uint64_t>(memory_alias));
  }
  static std::uint32_t load(const std::uint32_t* word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
  }
  static std::uint64_t load(const std::uint64_t* word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
  }
  static void store(std::uint64_t* word, std::uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
  }
  static void bit_or(std::uint32_t* word, std::uint32_t bits) {
    __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
  }
  static void add(std::uint32_t* word, std::uint32_t value) {
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
  }
  static void add(std::uint64_t* word, std::uint64_t value) {
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
  }
  static std::uint32_t claim(std::uint32_t* word, std::uint32_t value) {
    std::uint32_t found = 0;
    __atomic_compare_exchange_n(word, &found, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return found;
  }
  static std::uint32_t block_number() { return running_block; }
  static std::uint32_t keep(std::uint32_t value) { return value; }
  static std::uint64_t keep(std::uint64_t value) { return value; }
};

// Where one thread runs the launch: the same without atomic changes, so that loops over words
// become vector code.
struct OneThread : AnyThread {
  static std::uint32_t load(const std::uint32_t* word) { return *word; }
  static std::uint64_t load(const std::uint64_t* word) { return *word; }
  static void bit_or(std::uint32_t* word, std::uint32_t bits) { *word |= bits; }
  static void add(std::uint32_t* word, std::uint32_t value) { *word += value; }
  static void add(std::uint64_t* word, std::uint64_t value) { *word += value; }
  static std::uint32_t claim(std::uint32_t* word, std::uint32_t value) {
    return *word == 0 ? *word = value, 0 : *word;
  }
};

// The same with addresses that are the host's already.
template <typename Memory>
struct OfHost : Memory {
  template <typename T>
  static T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(address);
  }
};

template <typename Do>
void for_each_lane(std::uint32_t mask, Do with_lane) {
  for (; mask != 0; mask &= mask - 1)
    with_lane(std::countr_zero(mask));
}

}  // namespace drgpum::emulator::sanitizer
