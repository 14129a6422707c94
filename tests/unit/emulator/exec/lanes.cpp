// SPDX-License-Identifier: Apache-2.0
// Writes the kernel around a body and runs it.

#include "tests/unit/emulator/exec/lanes.h"

#include <algorithm>

namespace drgpum::emulator::exec::testing {
namespace {

// Registers of 8-bit operands have 16 bits; memory has their own width.
std::string register_type(unsigned bytes) {
  return ".b" + std::to_string(8 * std::max(bytes, 2u));
}

std::string load(const std::string& name, unsigned bytes, unsigned position) {
  const std::string offset = std::to_string(position * kThreads * 8);
  return "  ld.global.b" + std::to_string(8 * std::max(bytes, 2u)) + " %" + name + ", [%at+" +
         offset + "];\n";
}

std::string kernel_text(const Body& body) {
  std::string text =
      ".visible .entry body(.param .u64 in) {\n"
      "  .reg .pred %p, %q; .reg .b32 %i, %t<10>; .reg .b16 %h<10>;\n"
      "  .reg .b64 %base, %at, %wide, %u<10>;\n";
  const unsigned bytes[] = {body.a_bytes, body.b_bytes, body.c_bytes, body.d_bytes};
  const char* names[] = {"a", "b", "c", "d"};
  for (unsigned k = 0; k < 4; ++k)
    text += "  .reg " + register_type(bytes[k]) + " %" + names[k] + ";\n";
  text += "  .reg " + register_type(body.out_bytes) + " %out;\n";
  text +=
      "  ld.param.u64 %base, [in];\n  mov.u32 %i, %tid.x;\n  mul.wide.u32 %wide, %i, 8;\n"
      "  add.s64 %at, %base, %wide;\n";
  for (unsigned k = 0; k < 4; ++k)
    text += load(names[k], bytes[k], k);
  text += "  " + body.text + "\n";
  text += "  st.global.b" + std::to_string(8 * std::max(body.out_bytes, 2u)) + " [%at+" +
          std::to_string(4 * kThreads * 8) + "], %out;\n  ret;\n}\n";
  return text;
}

}  // namespace

std::vector<std::uint64_t> interesting(unsigned bytes, std::uint32_t seed) {
  std::vector<std::uint64_t> values = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 255, 256};
  const std::uint64_t top = std::uint64_t{1} << (8 * bytes - 1);
  for (const std::uint64_t v : {top, top - 1, top + 1, top * 2 - 1, top * 2 - 2})
    values.push_back(v);
  if (bytes == 4)
    for (const float f : {1.0f, -1.0f, 0.5f, -0.0f, 1e-40f, -1e-40f, 3e38f, 1e10f, -2.5f, 3.5f})
      values.push_back(std::bit_cast<std::uint32_t>(f));
  if (bytes == 4)
    for (const std::uint32_t v : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0x00800000u})
      values.push_back(v);
  if (bytes == 8)
    for (const double f : {1.0, -1.0, 0.5, -0.0, 1e-310, 1e300, -2.5, 3.5, 4294967296.5})
      values.push_back(std::bit_cast<std::uint64_t>(f));
  if (bytes == 2)
    for (const std::uint64_t v : {0x3c00u, 0xbc00u, 0x7c00u, 0xfc00u, 0x7e00u, 0x0001u, 0x03ffu})
      values.push_back(v);
  std::mt19937_64 random(seed);
  // Operands meet each other in every combination of the special values, sooner or later.
  std::shuffle(values.begin(), values.end(), random);
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (top * 2) - 1;
  while (values.size() < kThreads) {
    const bool special = random() % 4 == 0;
    values.push_back(special ? values[random() % 20] : random() & mask);
  }
  return values;
}

Operands random_operands(const Body& body, std::uint32_t seed) {
  return {interesting(body.a_bytes, 4 * seed), interesting(body.b_bytes, 4 * seed + 1),
          interesting(body.c_bytes, 4 * seed + 2), interesting(body.d_bytes, 4 * seed + 3)};
}

std::vector<std::uint64_t> run_body(const Body& body, const Operands& operands) {
  Machine machine(kernel_text(body));
  std::vector<std::uint64_t> memory;
  for (const auto* list : {&operands.a, &operands.b, &operands.c, &operands.d})
    memory.insert(memory.end(), list->begin(), list->end());
  memory.resize(5 * kThreads);
  const std::uint64_t address = machine.upload(memory);
  const LaunchResult result = machine.run("body", {1}, {kThreads}, address);
  if (result.fault) {
    ADD_FAILURE() << body.text << ": " << result.fault->text;
    return {};
  }
  memory = machine.download<std::uint64_t>(address, 5 * kThreads);
  return {memory.end() - kThreads, memory.end()};
}

}  // namespace drgpum::emulator::exec::testing
