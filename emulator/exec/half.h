// SPDX-License-Identifier: Apache-2.0
#pragma once
// f16 and bf16 values as 16-bit words, to and from f32, without help from the processor.

#include <bit>
#include <cstdint>

#include "emulator/ptx/program.h"

namespace drgpum::emulator::exec {

inline float f16_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t magnitude = h & 0x7fffu;
  // Exponents are rebiased by a multiplication, which normalises subnormals too.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(scaled);
  const std::uint32_t special = (magnitude << 13) | 0x7f800000u;
  return std::bit_cast<float>(sign | (magnitude >= 0x7c00u ? special : finite));
}

inline float bf16_to_float(std::uint16_t h) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
}

template <ptx::Type type>
float half_to_float(std::uint16_t h) {
  return type == ptx::Type::kF16 ? f16_to_float(h) : bf16_to_float(h);
}

enum class HalfRounding : std::uint8_t { kNearest, kZero, kDown, kUp };

// Results below half of the smallest subnormal: zero, or that subnormal when rounding away from it.
inline std::uint16_t sign_of_tiny(std::uint16_t sign, bool nonzero, bool negative,
                                  HalfRounding rounding) {
  const bool away = nonzero && ((rounding == HalfRounding::kUp && !negative) ||
                                (rounding == HalfRounding::kDown && negative));
  return static_cast<std::uint16_t>(sign | (away ? 1u : 0u));
}

// Rounds a double (every f32, and every sum and product of two halves, is one exactly) to a binary
// format of 1 sign, `exponent_bits` and `fraction_bits`. NaN gives the device's 0x7fff.
inline std::uint16_t round_to_half(double value, int exponent_bits, int fraction_bits,
                                   HalfRounding rounding) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  const auto sign = static_cast<std::uint16_t>(negative ? 0x8000u : 0);
  if (value != value) return 0x7fffu;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto infinity = static_cast<std::uint64_t>((1 << exponent_bits) - 1) << fraction_bits;
  if ((bits << 1) == 0xffe0000000000000u) return static_cast<std::uint16_t>(sign | infinity);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  std::uint64_t significand = bits & 0xfffffffffffffu;
  if (exponent == -1023) return sign_of_tiny(sign, significand != 0, negative, rounding);
  significand |= std::uint64_t{1} << 52;
  const int lowest = 1 - bias;
  const int drop = 52 - fraction_bits + (exponent < lowest ? lowest - exponent : 0);
  if (drop > 54) return sign_of_tiny(sign, true, negative, rounding);
  std::uint64_t kept = significand >> drop;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const bool up = rounding == HalfRounding::kNearest
                      ? rest > half || (rest == half && (kept & 1) != 0)
                      : rest != 0 && ((rounding == HalfRounding::kUp && !negative) ||
                                      (rounding == HalfRounding::kDown && negative));
  kept += up ? 1 : 0;
  // The hidden bit adds one to the exponent field; a carry out of the fraction does so as well.
  const std::uint64_t base =
      exponent < lowest ? 0 : static_cast<std::uint64_t>(exponent + bias - 1) << fraction_bits;
  const std::uint64_t result = base + kept;
  if (result >= infinity) {
    const bool to_infinity = rounding == HalfRounding::kNearest ||
                             (rounding == HalfRounding::kUp && !negative) ||
                             (rounding == HalfRounding::kDown && negative);
    return static_cast<std::uint16_t>(sign | (to_infinity ? infinity : infinity - 1));
  }
  return static_cast<std::uint16_t>(sign | result);
}

inline std::uint16_t to_f16(double value, HalfRounding rounding = HalfRounding::kNearest) {
  return round_to_half(value, 5, 10, rounding);
}
inline std::uint16_t to_bf16(double value, HalfRounding rounding = HalfRounding::kNearest) {
  return round_to_half(value, 8, 7, rounding);
}

}  // namespace drgpum::emulator::exec
