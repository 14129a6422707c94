// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loaded code: modules of a context, and libraries, which any context may use.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/exec/executor.h"
#include "emulator/machine/image.h"
#include "emulator/memory/allocation_table.h"

namespace drgpum::emulator {

struct Context;
struct Library;
struct Module;

struct Function {
  Module* module = nullptr;
  std::uint32_t index = 0;  // in the executable's program
  std::string name;
  std::uint32_t max_dynamic_shared = 48u << 10;
  int preferred_carveout = -1;

  [[nodiscard]] const ptx::Function& code() const;
  [[nodiscard]] std::uint32_t static_shared() const;
  [[nodiscard]] std::uint32_t registers() const;
  [[nodiscard]] std::uint32_t local() const;
  [[nodiscard]] int max_threads(int device_limit) const;
};

struct Module {
  Context* context = nullptr;
  Library* library = nullptr;  // that it was made for, if any
  Image image;
  std::vector<Block*> variables;  // as Program::variables; nullptr for those without an address
  std::unique_ptr<exec::Executable> executable;
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions;
};

// A kernel of a library: a Function in each context that uses it.
struct Kernel {
  Library* library = nullptr;
  std::string name;
};

struct Library {
  Image image;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
  std::map<Context*, Module*> modules;
};

}  // namespace drgpum::emulator
