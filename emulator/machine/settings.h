// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the environment asks for the emulated device to be. The table is in emulator/README.md.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "proto/base/result.h"

namespace drgpum::emulator {

struct Settings {
  std::string preset = "h200";
  std::optional<std::uint64_t> device_memory;  // bytes; absent: the preset's
  int devices = 1;
  std::uint64_t schedule_seed = 0;
  unsigned workers = 1;
  bool log = false;
  std::string status_file;  // empty: none
  std::string access_log;   // empty: none
};

// Reads DRGPUM_EMULATOR_*; `variable` returns a variable's value or nullptr, as std::getenv does.
// kInvalidArgument names the variable, its value and what it may be.
Result<Settings> read_settings(const std::function<const char*(const char*)>& variable);

// "24GiB", "512M", "1000": bytes. K, M, G, T with or without iB or B count by 1024.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace drgpum::emulator
