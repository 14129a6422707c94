// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an emulated device claims to be, and what its work costs. Source: presets.json beside this
// file; figures of the vendor's data sheets, launch and copy overheads as commonly measured.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::emulator {

// Constants of the cost model (cost_model.h). Rates are per device unless said otherwise.
struct CostConstants {
  double dram_bytes_per_ns = 1;
  double l2_bytes_per_ns = 1;
  double fp32_lanes = 1;  // results per multiprocessor and clock
  double fp64_lanes = 1;
  double integer_lanes = 1;
  double launch_ns = 0;  // from the start of a kernel that does nothing to its end
  double copy_ns = 0;    // of a copy of no bytes
  double pinned_bytes_per_ns = 1;
  double pageable_bytes_per_ns = 1;
  double peer_bytes_per_ns = 1;
  double host_call_ns = 0;  // of a call that gives the device work or asks about it
};

struct Preset {
  std::string key;  // "a100"
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  std::uint64_t memory_bytes = 0;
  int multiprocessors = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  int l2_bytes = 0;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  int shared_per_block = 0;
  int shared_per_block_optin = 0;
  int shared_per_multiprocessor = 0;
  int shared_reserved_per_block = 0;
  int registers_per_multiprocessor = 0;
  int copy_engines = 0;
  CostConstants cost;
};

// All presets of a JSON text of the shape of presets.json. kCorrupt names the key at fault.
Result<std::vector<Preset>> parse_presets(std::string_view json);

// The preset of that key, of those built in. kNotFound lists the keys there are.
Result<Preset> find_preset(std::string_view key);

}  // namespace drgpum::emulator
