// SPDX-License-Identifier: Apache-2.0
// From the bytes of an image to a program that the executor can take.

#include "emulator/ptx/load.h"

#include <algorithm>
#include <string>

#include "emulator/ptx/control_flow.h"
#include "emulator/ptx/linker.h"
#include "emulator/ptx/parser.h"
#include "emulator/ptx/verifier.h"

namespace drgpum::emulator::ptx {
namespace {

bool is_device_runtime(const std::vector<FatbinEntry>& unit) {
  return std::any_of(unit.begin(), unit.end(), [](const FatbinEntry& entry) {
    return entry.kind == FatbinKind::kPtx &&
           entry.text().find("_cuda_device_runtime_cu_") != std::string_view::npos;
  });
}

}  // namespace

Result<Program> load_texts(std::span<const std::string_view> texts, std::string_view name) {
  std::vector<Program> units;
  for (const std::string_view text : texts) {
    std::string unit(name);
    if (texts.size() > 1) unit += '#' + std::to_string(units.size());
    ASSIGN_OR_RETURN(Program parsed, parse(text, unit));
    units.push_back(std::move(parsed));
  }
  ASSIGN_OR_RETURN(Program program, link(std::move(units)));
  program.name = name;
  RETURN_IF_ERROR(verify(program));
  for (Function& function : program.functions)
    analyze_control_flow(function);
  return program;
}

Result<Program> load_units(std::span<const std::vector<FatbinEntry>> units,
                           std::uint32_t capability, std::string_view name) {
  std::vector<std::string_view> texts;
  for (const std::vector<FatbinEntry>& unit : units) {
    if (unit.empty() || is_device_runtime(unit)) continue;
    auto entry = pick_ptx(unit, capability);
    if (!entry) return std::move(entry).error().while_doing(name);
    texts.push_back((*entry)->text());
  }
  if (texts.empty()) return pick_ptx({}, capability).error();
  return load_texts(texts, name);
}

Result<Program> load_image(std::span<const std::byte> image, std::uint32_t capability,
                           std::string_view name) {
  const bool text = image.size() < 4 || image[0] != std::byte{0x50} || image[1] != std::byte{0xED};
  if (text) {
    const std::string_view whole(reinterpret_cast<const char*>(image.data()), image.size());
    return load_texts(std::span(&whole, 1), name);
  }
  auto entries = read_fatbin(image);
  if (!entries) return std::move(entries).error().while_doing(name);
  const std::vector<std::vector<FatbinEntry>> units = {*std::move(entries)};
  return load_units(units, capability, name);
}

}  // namespace drgpum::emulator::ptx
