// SPDX-License-Identifier: Apache-2.0
// Loads and unloads modules.

#include "emulator/machine/module_loader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emulator/ptx/relocation.h"

namespace drgpum::emulator {
namespace {

bool has_address(const ptx::Variable& variable) {
  return variable.space == ptx::Space::kGlobal || variable.space == ptx::Space::kConst;
}

// Strings and the one-byte objects that the compiler makes of empty classes hold nothing of the
// program's: only variables worth a name are told of.
bool is_worth_telling(const ptx::Variable& variable) {
  return variable.name.front() != '$' && variable.size > 1;
}

Block* allocate_variable(MachineCore& core, Context& context, const ptx::Variable& variable,
                         BlockKind kind, Module* module) {
  BlockRequest request;
  request.size = std::max<std::uint64_t>(variable.size, 1);
  request.alignment = variable.alignment;
  request.kind = variable.managed ? BlockKind::kManaged : kind;
  request.device = context.device->ordinal;
  request.context = &context;
  request.module = module;
  request.read_only = variable.space == ptx::Space::kConst;
  if (variable.managed) request.flags = CU_MEM_ATTACH_GLOBAL;
  return core.memory->allocate(request);
}

// Writes `address of a symbol` into an initial value.
void relocate(std::byte* at, const ptx::Relocation& relocation, std::uint64_t address) {
  const std::uint64_t value = ptx::value_of(relocation, address);
  std::memcpy(at + relocation.offset, &value, std::min<std::size_t>(relocation.size, 8));
}

std::uint64_t symbol_address(const Module& module, const std::string& name) {
  const auto& variables = module.image.program->variables;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (variables[i].name == name && module.variables[i] != nullptr)
      return module.variables[i]->range.begin;
  const auto function = module.executable->find(name);
  return function ? module.executable->pc_base(*function) : 0;
}

void initialise_variables(MachineCore& core, const Module& module) {
  const auto& variables = module.image.program->variables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Block* block = module.variables[i];
    if (block == nullptr) continue;
    const auto view = core.memory->host_view(block->range.begin, block->size());
    std::memset(view.data(), 0, view.size());
    const auto& initial = variables[i].initial;
    std::copy_n(initial.begin(), std::min(initial.size(), view.size()), view.begin());
    for (const ptx::Relocation& relocation : variables[i].relocations)
      relocate(view.data(), relocation, symbol_address(module, relocation.symbol));
  }
}

void free_variables(MachineCore& core, Module& module) {
  for (Block*& block : module.variables)
    if (block != nullptr) core.memory->free(std::exchange(block, nullptr));
}

std::uint64_t code_bytes(const ptx::Program& program) {
  std::uint64_t instructions = 0;
  for (const ptx::Function& function : program.functions)
    instructions += function.instructions.size() + 1;
  return (16 * instructions + 4095) & ~std::uint64_t{4095};
}

MemoryEvent describe(const Module& module, const Block& block, MemoryKind kind) {
  MemoryEvent event;
  event.kind = kind;
  event.context = module.context;
  event.device = block.device;
  event.address = block.range.begin;
  event.size = block.size();
  event.flags = kMemoryModule;
  if (block.kind == BlockKind::kManaged) event.flags |= kMemoryManaged;
  event.module = const_cast<Module*>(&module);  // NOLINT: a handle
  return event;
}

void tell_variables(Section& section, const Module& module, MemoryKind kind) {
  const auto& variables = module.image.program->variables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (module.variables[i] == nullptr || !is_worth_telling(variables[i])) continue;
    section.tell([event = describe(module, *module.variables[i], kind)](Observer& observer) {
      observer.on_memory(event);
    });
  }
}

void tell_module(Section& section, Module& module, bool loaded) {
  ModuleEvent event;
  event.loaded = loaded;
  event.context = module.context;
  event.module = &module;
  event.image = std::as_bytes(std::span(*module.image.text));
  const auto tell = [event, text = module.image.text](Observer& o) { o.on_module(event); };
  if (loaded)
    section.tell(tell);
  else
    section.tell_now(tell);  // while it is still there
}

}  // namespace

std::variant<std::unique_ptr<Module>, ImageError> make_module(Section& section, Context& context,
                                                              Image image, BlockKind kind) {
  MachineCore& core = section.core();
  auto module = std::make_unique<Module>();
  module->context = &context;
  module->image = std::move(image);
  const ptx::Program& program = *module->image.program;
  std::vector<std::uint64_t> addresses;
  for (const ptx::Variable& variable : program.variables) {
    Block* block = nullptr;
    if (has_address(variable)) {
      block = allocate_variable(core, context, variable, kind, module.get());
      if (block == nullptr) {
        free_variables(core, *module);
        return ImageError{CUDA_ERROR_OUT_OF_MEMORY,
                          "the device has no room for the module's variable " + variable.name +
                              " of " + std::to_string(variable.size) + " bytes"};
      }
    }
    module->variables.push_back(block);
    addresses.push_back(block != nullptr ? block->range.begin : 0);
  }
  auto executable =
      exec::make_executable(module->image.program, std::move(addresses), core.next_code_address);
  if (!executable) {
    free_variables(core, *module);
    return ImageError{CUDA_ERROR_INVALID_PTX, executable.error().message};
  }
  core.next_code_address += code_bytes(program);
  module->executable = *std::move(executable);
  initialise_variables(core, *module);
  return module;
}

CUresult load_module(Section& section, Context& context, Image image, Library* library,
                     Module** result) {
  MachineCore& core = section.core();
  auto made = make_module(section, context, std::move(image), BlockKind::kGlobal);
  if (const auto* error = std::get_if<ImageError>(&made)) {
    core.report_problem("module", error->text);
    return error->code;
  }
  Module* module = core.modules.add(std::get<std::unique_ptr<Module>>(std::move(made)));
  module->library = library;
  if (library != nullptr) library->modules[&context] = module;
  const auto& functions = module->image.program->functions;
  for (std::uint32_t index = 0; index < functions.size(); ++index) {
    if (!functions[index].is_entry || !functions[index].has_body) continue;
    auto function = std::make_unique<Function>();
    function->module = module;
    function->index = index;
    function->name = functions[index].name;
    // Without asking for more a kernel has 48 KiB of shared memory, static and dynamic.
    const auto most = static_cast<std::uint32_t>(context.device->preset.shared_per_block);
    function->max_dynamic_shared = most - std::min(most, function->static_shared());
    core.functions[function.get()] = function.get();
    module->functions[function->name] = std::move(function);
  }
  tell_module(section, *module, true);
  tell_variables(section, *module, MemoryKind::kDeviceAlloc);
  *result = module;
  return CUDA_SUCCESS;
}

void unload_module(Section& section, Module& module) {
  MachineCore& core = section.core();
  tell_module(section, module, false);
  tell_variables(section, module, MemoryKind::kDeviceFree);
  for (const auto& [name, function] : module.functions)
    core.functions.erase(function.get());
  if (module.library != nullptr) module.library->modules.erase(module.context);
  free_variables(core, module);
  core.modules.remove(&module);
}

CUresult load_image_or_report(MachineCore& core, const void* image, const Preset& preset,
                              Image* result) {
  auto loaded = load_image(image, preset);
  if (const auto* error = std::get_if<ImageError>(&loaded)) {
    const bool no_code = error->code == CUDA_ERROR_NO_BINARY_FOR_GPU;
    core.report_problem(no_code ? "no-ptx" : "module", error->text);
    return error->code;
  }
  *result = std::get<Image>(std::move(loaded));
  return CUDA_SUCCESS;
}

CUresult module_of(Section& section, Library& library, Context& context, Module** module) {
  const auto it = library.modules.find(&context);
  if (it == library.modules.end())
    return load_module(section, context, library.image, &library, module);
  *module = it->second;
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator
