// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random kernels as PTX text: every kind of access that the tool hears of, by lanes that diverge.

#include <random>
#include <string>

namespace drgpum::oracle {

inline constexpr unsigned kBuffers = 3;
// Buffers have at least this many bytes: more than the widest access and struct.
inline constexpr unsigned kLeastBytes = 64;

// A module with one kernel of this name. Its parameters are kBuffers addresses (u64), then as many
// sizes in bytes (u32). Every access stays inside the buffers.
std::string random_kernel(std::mt19937& random, const std::string& name);

}  // namespace drgpum::oracle
