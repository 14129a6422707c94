// SPDX-License-Identifier: Apache-2.0
// Reads device presets from JSON.

#include "emulator/machine/preset.h"

#include <nlohmann/json.hpp>

namespace drgpum::emulator {

extern const char* const kPresetsJson;  // presets.json, embedded by the build

namespace {

using nlohmann::json;

CostConstants parse_cost(const json& from) {
  CostConstants cost;
  const auto read = [&](const char* key, double& value) { from.at(key).get_to(value); };
  read("dram_bytes_per_ns", cost.dram_bytes_per_ns);
  read("l2_bytes_per_ns", cost.l2_bytes_per_ns);
  read("fp32_lanes", cost.fp32_lanes);
  read("fp64_lanes", cost.fp64_lanes);
  read("integer_lanes", cost.integer_lanes);
  read("launch_ns", cost.launch_ns);
  read("copy_ns", cost.copy_ns);
  read("pinned_bytes_per_ns", cost.pinned_bytes_per_ns);
  read("pageable_bytes_per_ns", cost.pageable_bytes_per_ns);
  read("peer_bytes_per_ns", cost.peer_bytes_per_ns);
  read("host_call_ns", cost.host_call_ns);
  return cost;
}

Preset parse_preset(const std::string& key, const json& from) {
  Preset preset;
  preset.key = key;
  preset.name = from.at("name").get<std::string>();
  preset.memory_bytes = from.at("memory_bytes").get<std::uint64_t>();
  preset.compute_major = from.at("compute_capability").at(0).get<int>();
  preset.compute_minor = from.at("compute_capability").at(1).get<int>();
  const auto read = [&](const char* name, int& value) { from.at(name).get_to(value); };
  read("multiprocessors", preset.multiprocessors);
  read("clock_khz", preset.clock_khz);
  read("memory_clock_khz", preset.memory_clock_khz);
  read("memory_bus_bits", preset.memory_bus_bits);
  read("l2_bytes", preset.l2_bytes);
  read("max_threads_per_multiprocessor", preset.max_threads_per_multiprocessor);
  read("max_blocks_per_multiprocessor", preset.max_blocks_per_multiprocessor);
  read("shared_per_block", preset.shared_per_block);
  read("shared_per_block_optin", preset.shared_per_block_optin);
  read("shared_per_multiprocessor", preset.shared_per_multiprocessor);
  read("shared_reserved_per_block", preset.shared_reserved_per_block);
  read("registers_per_multiprocessor", preset.registers_per_multiprocessor);
  read("copy_engines", preset.copy_engines);
  preset.cost = parse_cost(from.at("cost"));
  return preset;
}

}  // namespace

Result<std::vector<Preset>> parse_presets(std::string_view text) {
  std::vector<Preset> presets;
  try {
    const json document = json::parse(text);
    for (const auto& [key, value] : document.items())
      presets.push_back(parse_preset(key, value));
  } catch (const json::exception& error) {
    return Error{ErrorCode::kCorrupt, std::string("device presets: ") + error.what()};
  }
  return presets;
}

Result<Preset> find_preset(std::string_view key) {
  ASSIGN_OR_RETURN(const std::vector<Preset> presets, parse_presets(kPresetsJson));
  std::string known;
  for (const Preset& preset : presets) {
    if (preset.key == key) return preset;
    known += (known.empty() ? "" : ", ") + preset.key;
  }
  return Error{ErrorCode::kNotFound,
               "no device preset named \"" + std::string(key) + "\"; there are " + known};
}

}  // namespace drgpum::emulator
