// SPDX-License-Identifier: Apache-2.0
// The test device: links the text, places its variables, launches.

#include "tests/unit/emulator/exec/ptx_machine.h"

#include <cstdio>
#include <cstdlib>

#include "emulator/ptx/linker.h"
#include "emulator/ptx/parser.h"

namespace drgpum::emulator::exec::testing {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

ptx::Program load(std::string_view text) {
  std::string whole(text);
  if (whole.find(".version") == std::string::npos)
    whole = ".version 9.0\n.target sm_90\n.address_size 64\n" + whole;
  auto parsed = ptx::parse(whole, "test");
  if (!parsed) give_up(parsed.error().message);
  std::vector<ptx::Program> units;
  units.push_back(*std::move(parsed));
  auto linked = ptx::link(std::move(units));
  if (!linked) give_up(linked.error().message);
  return *std::move(linked);
}

}  // namespace

std::uint64_t TestMemory::allocate(std::uint64_t bytes, bool read_only) {
  const std::uint64_t begin = next_;
  next_ += (bytes + 4095) / 4096 * 4096 + 4096;
  Block block{{begin, begin + bytes, 0, read_only}, std::make_unique<std::byte[]>(bytes), true};
  block.allocation.alias_offset =
      static_cast<std::ptrdiff_t>(reinterpret_cast<std::uint64_t>(block.bytes.get()) - begin);
  blocks_.emplace(begin, std::move(block));
  epoch_.fetch_add(1);
  return begin;
}

void TestMemory::free(std::uint64_t address) {
  blocks_.at(address).live = false;
  epoch_.fetch_add(1);
}

std::byte* TestMemory::host(std::uint64_t address) {
  return blocks_.at(address).bytes.get();
}

const Allocation* TestMemory::find(std::uint64_t address) const noexcept {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const Block& block = std::prev(after)->second;
  return block.live && address < block.allocation.end ? &block.allocation : nullptr;
}

const Allocation* TestMemory::nearest(std::uint64_t address) const noexcept {
  const Allocation* best = nullptr;
  std::uint64_t best_distance = ~std::uint64_t{0};
  for (const auto& [begin, block] : blocks_) {
    const Allocation& a = block.allocation;
    const std::uint64_t distance = address < a.begin  ? a.begin - address
                                   : address >= a.end ? address - a.end + 1
                                                      : 0;
    if (distance >= best_distance) continue;
    best = &a;
    best_distance = distance;
  }
  return best;
}

Machine::Machine(std::string_view ptx) {
  auto program = std::make_shared<ptx::Program>(load(ptx));
  for (const ptx::Variable& variable : program->variables) {
    const bool placed =
        variable.space == ptx::Space::kGlobal || variable.space == ptx::Space::kConst;
    variables.push_back(
        placed ? memory.allocate(variable.size, variable.space == ptx::Space::kConst) : 0);
    if (placed && !variable.initial.empty())
      std::memcpy(memory.host(variables.back()), variable.initial.data(), variable.initial.size());
  }
  auto made = make_executable(program, variables, 0x10000);
  if (!made) give_up(made.error().message);
  executable = *std::move(made);
  config.print = [this](std::string_view text) { printed += text; };
}

LaunchResult Machine::launch_packed(std::string_view kernel, Dim3 grid, Dim3 block,
                                    const std::vector<std::byte>& parameters) {
  const auto function = executable->find(kernel);
  if (!function) give_up("no kernel " + std::string(kernel));
  config.function = *function;
  config.grid = grid;
  config.block = block;
  config.parameters = parameters;
  return launch(*executable, config, memory);
}

}  // namespace drgpum::emulator::exec::testing
