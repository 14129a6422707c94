// SPDX-License-Identifier: Apache-2.0
// Modules and libraries.

#include <fstream>
#include <iterator>
#include <vector>

#include "emulator/driver/call.h"
#include "emulator/machine/module_loader.h"

namespace drgpum::emulator::driver {
namespace {

CUmodule handle(Module* module) {
  return reinterpret_cast<CUmodule>(module);
}

CUresult read_file(const char* path, std::vector<char>* bytes) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  bytes->insert(bytes->end(), 16, '\0');  // PTX text has to end somewhere
  return CUDA_SUCCESS;
}

CUresult load(CUmodule* result, const void* data) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (result == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Image image;
  CUresult loaded = load_image_or_report(call.core(), data, call.context->device->preset, &image);
  if (loaded != CUDA_SUCCESS) return loaded;
  flush_printed(*call.context);
  Module* module = nullptr;
  loaded = load_module(call, *call.context, std::move(image), nullptr, &module);
  if (loaded == CUDA_SUCCESS) *result = handle(module);
  return loaded;
}

const ptx::Variable* find_variable(const Module& module, std::string_view name, Block** block) {
  const auto& variables = module.image.program->variables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name != name || module.variables[i] == nullptr) continue;
    *block = module.variables[i];
    return &variables[i];
  }
  return nullptr;
}

CUresult give_variable(const Module& module, const char* name, bool only_managed,
                       CUdeviceptr* address, std::size_t* size) {
  Block* block = nullptr;
  const ptx::Variable* variable = find_variable(module, name, &block);
  if (variable == nullptr || (only_managed && !variable->managed)) return CUDA_ERROR_NOT_FOUND;
  if (address != nullptr) *address = block->range.begin;
  if (size != nullptr) *size = variable->size;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load(module, image);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  return load(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image);
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  std::vector<char> bytes;
  const CUresult read = read_file(path, &bytes);
  return read == CUDA_SUCCESS ? load(module, bytes.data()) : read;
}

CUresult cuModuleUnload(CUmodule which) {
  ContextCall call;
  if (call.context == nullptr) return call.error;
  Module* module = call.core().modules.get(which);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (module->library != nullptr) return CUDA_ERROR_NOT_PERMITTED;
  synchronize_context(call, *module->context);
  unload_module(call, *module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule which, const char* name) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Module* module = call.core().modules.get(which);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto it = module->functions.find(name);
  if (it == module->functions.end()) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(it->second.get());
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule which) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Module* module = call.core().modules.get(which);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule which) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Module* module = call.core().modules.get(which);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (functions == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [name, function] : module->functions) {
    if (count-- == 0) break;
    *functions++ = reinterpret_cast<CUfunction>(function.get());
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* size, CUmodule which,
                           const char* name) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Module* module = call.core().modules.get(which);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return give_variable(*module, name, false, address, size);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* result, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  MachineCall call;
  if (result == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
  MachineCore& core = call.core();
  Image image;
  const CUresult loaded = load_image_or_report(core, code, core.devices.front().preset, &image);
  if (loaded != CUDA_SUCCESS) return loaded;
  Library* library = core.libraries.make();
  library->image = std::move(image);
  for (const ptx::Function& function : library->image.program->functions) {
    if (!function.is_entry || !function.has_body) continue;
    auto kernel = std::make_unique<Kernel>(Kernel{library, function.name});
    core.kernels[kernel.get()] = kernel.get();
    library->kernels[function.name] = std::move(kernel);
  }
  *result = reinterpret_cast<CUlibrary>(library);
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**,
                               unsigned, CUlibraryOption*, void**, unsigned) {
  std::vector<char> bytes;
  const CUresult read = read_file(path, &bytes);
  if (read != CUDA_SUCCESS) return read;
  return driver::cuLibraryLoadData(library, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
}

CUresult cuLibraryUnload(CUlibrary which) {
  MachineCall call;
  Library* library = call.core().libraries.get(which);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  while (!library->modules.empty())
    unload_module(call, *library->modules.begin()->second);
  for (const auto& [name, kernel] : library->kernels)
    call.core().kernels.erase(kernel.get());
  call.core().libraries.remove(library);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary which, const char* name) {
  MachineCall call;
  const Library* library = call.core().libraries.get(which);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto it = library->kernels.find(name);
  if (it == library->kernels.end()) return CUDA_ERROR_NOT_FOUND;
  *kernel = reinterpret_cast<CUkernel>(it->second.get());
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary which) {
  MachineCall call;
  const Library* library = call.core().libraries.get(which);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<unsigned>(library->kernels.size());
  return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary which) {
  MachineCall call;
  const Library* library = call.core().libraries.get(which);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (kernels == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& [name, kernel] : library->kernels) {
    if (count-- == 0) break;
    *kernels++ = reinterpret_cast<CUkernel>(kernel.get());
  }
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule* result, CUlibrary which) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Library* library = call.core().libraries.get(which);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Module* module = nullptr;
  const CUresult found = module_of(call, *library, *call.context, &module);
  if (found == CUDA_SUCCESS) *result = handle(module);
  return found;
}

namespace {

CUresult library_variable(CUdeviceptr* address, std::size_t* size, CUlibrary which,
                          const char* name, bool only_managed) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Library* library = call.core().libraries.get(which);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Module* module = nullptr;
  const CUresult found = module_of(call, *library, *call.context, &module);
  return found == CUDA_SUCCESS ? give_variable(*module, name, only_managed, address, size) : found;
}

}  // namespace

CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* size, CUlibrary library,
                            const char* name) {
  return library_variable(address, size, library, name, false);
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* size, CUlibrary library,
                             const char* name) {
  return library_variable(address, size, library, name, true);
}

CUresult cuLibraryGetUnifiedFunction(void**, CUlibrary, const char*) {
  return unsupported("a unified function pointer");
}

}  // namespace drgpum::emulator::driver
