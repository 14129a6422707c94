// SPDX-License-Identifier: Apache-2.0
#pragma once
// One instruction on many random operands: each thread loads its operands, runs the body, stores
// the result. What the device gave is compared with a C++ function, thread by thread.

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {

inline constexpr std::uint32_t kThreads = 256;

// Values that break naive code, then random ones, of `bytes` bytes.
std::vector<std::uint64_t> interesting(unsigned bytes, std::uint32_t seed);

// Runs `body` once per thread. Its operands are %a, %b, %c and %d of .b<8 * bytes> types (an 8-bit
// or 16-bit operand is a .b16 register), its result %out; %p, %q, %t0..%t9 (b32), %u0..%u9 (b64),
// %h0..%h9 (b16) are free. Returns the results, zero-extended.
struct Body {
  std::string text;
  unsigned out_bytes = 4;
  unsigned a_bytes = 4;
  unsigned b_bytes = 4;
  unsigned c_bytes = 4;
  unsigned d_bytes = 4;
};

struct Operands {
  std::vector<std::uint64_t> a, b, c, d;
};
Operands random_operands(const Body& body, std::uint32_t seed = 1);

std::vector<std::uint64_t> run_body(const Body& body, const Operands& operands);

// expect(a, b, c, d) gives the wanted result of one thread; all threads must agree with it.
template <typename F>
void expect_lanes(const Body& body, const Operands& operands, F&& expect) {
  const std::vector<std::uint64_t> got = run_body(body, operands);
  ASSERT_EQ(got.size(), kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const std::uint64_t want = expect(operands.a[i], operands.b[i], operands.c[i], operands.d[i]);
    ASSERT_EQ(got[i], want) << body.text << " of " << std::hex << operands.a[i] << ", "
                            << operands.b[i] << ", " << operands.c[i] << ", " << operands.d[i]
                            << ": got " << got[i] << ", want " << want;
  }
}
template <typename F>
void expect_lanes(const Body& body, F&& expect) {
  expect_lanes(body, random_operands(body), std::forward<F>(expect));
}

template <typename T>
T as(std::uint64_t bits) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(bits);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
  else
    return std::bit_cast<T>(static_cast<std::uint8_t>(bits));
}
template <typename T>
std::uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<std::uint64_t>(value);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<std::uint16_t>(value);
  else
    return std::bit_cast<std::uint8_t>(value);
}

}  // namespace drgpum::emulator::exec::testing
