// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers as people read and write them. Never depends on the locale.

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace drgpum {

std::string iec_bytes(std::uint64_t bytes);                       // "80.0 MiB"; "512 bytes"
std::string exact_bytes(std::uint64_t bytes);                     // "83,886,080"
std::string iec_and_exact(std::uint64_t bytes);                   // "80.0 MiB (83,886,080 bytes)"
std::string percent_of(std::uint64_t part, std::uint64_t whole);  // "40 %"; "0 %" of nothing
std::string plural(std::uint64_t count, std::string_view noun);   // "1 copy", "2 launches"
std::string duration(std::uint64_t ns);                           // "1.5 ms"
std::string fixed_number(double value, int decimals);
// Text with control bytes, escape sequences and bidirectional marks made visible, and bytes that
// are no UTF-8 replaced.
std::string printable(std::string_view text);
std::string demangled(const std::string& name);

}  // namespace drgpum
