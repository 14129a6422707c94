// SPDX-License-Identifier: Apache-2.0
// Fat binaries, kernels and variables of the program.
#include "emulator/runtime/registry.h"

#include <algorithm>
#include <new>

#include <pthread.h>

#include "emulator/runtime/context.h"
#include "emulator/runtime/driver.h"

namespace drgpum::emulator::runtime {

cudaError_t FatBinary::module_in(CUcontext context, CUmodule* module) {
  if (const auto found = modules_.find(context); found != modules_.end()) {
    *module = found->second;
    return cudaSuccess;
  }
  // Relocatable code needs the whole wrapper, which names the parts that the driver links.
  const void* image = wrapper_->version == 1 ? wrapper_->data : wrapper_;
  RETURN_IF_CUDA_ERROR(CU(cuModuleLoadFatBinary)(module, image));
  modules_.emplace(context, *module);
  return cudaSuccess;
}

void FatBinary::unload() {
  for (const auto& [context, module] : modules_) {
    if (CU(cuCtxPushCurrent)(context) != CUDA_SUCCESS) continue;
    CU(cuModuleUnload)(module);
    CUcontext popped = nullptr;
    CU(cuCtxPopCurrent)(&popped);
  }
  modules_.clear();
}

FatBinary* Registry::add_binary(const FatBinaryWrapper* wrapper) {
  const std::lock_guard lock(mutex_);
  return binaries_.emplace_back(std::make_unique<FatBinary>(wrapper)).get();
}

// While the process ends nothing goes: other threads may still launch, and a forked child may have
// been made in the middle of a change.
void Registry::remove_binary(FatBinary* binary) {
  if (process_is_exiting() || in_forked_child_) return;
  const std::lock_guard lock(mutex_);
  binary->unload();
  std::erase_if(handles_, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second.binary == binary; });
  std::erase_if(binaries_, [&](const auto& entry) { return entry.get() == binary; });
}

void Registry::add_kernel(FatBinary* binary, const void* host_function, const char* name) {
  const std::lock_guard lock(mutex_);
  auto kernel = std::make_unique<Kernel>(Kernel{binary, name, {}});
  handles_[kernel.get()] = kernel.get();
  kernels_[host_function] = std::move(kernel);
}

void Registry::add_variable(FatBinary* binary, const void* symbol, const char* name) {
  const std::lock_guard lock(mutex_);
  variables_[symbol] = Variable{binary, name, symbol, nullptr};
}

void Registry::add_managed(FatBinary* binary, void** pointer, const char* name) {
  const std::lock_guard lock(mutex_);
  binary->managed.push_back(Variable{binary, name, pointer, pointer});
  variables_[pointer] = binary->managed.back();
}

Kernel* Registry::find_kernel(const void* function) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(function); found != kernels_.end())
    return found->second.get();
  const auto handle = handles_.find(function);
  return handle == handles_.end() ? nullptr : handle->second;
}

cudaError_t Registry::function_of(const void* entry, CUfunction* function) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_CUDA_ERROR(ensure_context());
  if (Kernel* kernel = find_kernel(entry)) return function_of(*kernel, function);
  // The program may also hold the driver's own handles.
  auto* handle = static_cast<CUfunction>(const_cast<void*>(entry));
  CUmodule module = nullptr;
  if (entry != nullptr && CU(cuFuncGetModule)(&module, handle) == CUDA_SUCCESS) {
    *function = handle;
    return cudaSuccess;
  }
  auto* library_kernel = reinterpret_cast<CUkernel>(handle);
  if (entry != nullptr && CU(cuKernelGetFunction)(function, library_kernel) == CUDA_SUCCESS)
    return cudaSuccess;
  return cudaErrorInvalidDeviceFunction;
}

cudaError_t Registry::function_of(Kernel& kernel, CUfunction* function) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_CUDA_ERROR(ensure_context());
  CUcontext context = current_context();
  if (const auto found = kernel.functions.find(context); found != kernel.functions.end()) {
    *function = found->second;
    return cudaSuccess;
  }
  RETURN_IF_CUDA_ERROR(initialize(kernel.binary));
  CUmodule module = nullptr;
  RETURN_IF_CUDA_ERROR(kernel.binary->module_in(context, &module));
  const CUresult result = CU(cuModuleGetFunction)(function, module, kernel.name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidDeviceFunction;
  RETURN_IF_CUDA_ERROR(result);
  kernel.functions.emplace(context, *function);
  return cudaSuccess;
}

const void* Registry::entry_of(CUfunction function) {
  const std::lock_guard lock(mutex_);
  CUcontext context = current_context();
  for (const auto& [host, kernel] : kernels_) {
    const auto found = kernel->functions.find(context);
    if (found != kernel->functions.end() && found->second == function) return host;
  }
  return function;
}

cudaError_t Registry::address_of(const void* symbol, CUdeviceptr* address, std::size_t* size) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_CUDA_ERROR(ensure_context());
  const auto found = variables_.find(symbol);
  if (found == variables_.end()) return cudaErrorInvalidSymbol;
  RETURN_IF_CUDA_ERROR(initialize(found->second.binary));
  CUmodule module = nullptr;
  RETURN_IF_CUDA_ERROR(found->second.binary->module_in(current_context(), &module));
  const CUresult result = CU(cuModuleGetGlobal)(address, size, module, found->second.name.c_str());
  return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : to_error(result);
}

cudaError_t Registry::initialize(FatBinary* binary) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_CUDA_ERROR(ensure_context());
  CUmodule module = nullptr;
  RETURN_IF_CUDA_ERROR(binary->module_in(current_context(), &module));
  return place_managed(*binary);
}

cudaError_t Registry::place_managed(FatBinary& binary) {
  for (Variable& variable : binary.managed) {
    if (variable.symbol != variable.managed_pointer) continue;  // placed before
    CUmodule module = nullptr;
    RETURN_IF_CUDA_ERROR(binary.module_in(current_context(), &module));
    CUdeviceptr address = 0;
    std::size_t size = 0;
    RETURN_IF_CUDA_ERROR(CU(cuModuleGetGlobal)(&address, &size, module, variable.name.c_str()));
    *variable.managed_pointer = reinterpret_cast<void*>(address);
    variable.symbol = *variable.managed_pointer;  // from now on &variable means this address
    variables_[variable.symbol] = variable;
  }
  return cudaSuccess;
}

void Registry::forget_context(CUcontext context) {
  const std::lock_guard lock(mutex_);
  for (const auto& binary : binaries_)
    binary->forget_context(context);
  for (const auto& [host, kernel] : kernels_)
    kernel->functions.erase(context);
}

// The thread that held the lock is not in the child.
void Registry::enter_forked_child() {
  in_forked_child_ = true;
  new (&mutex_) std::recursive_mutex;
}

Registry& registry() {
  static auto* const instance = [] {
    static_cast<void>(pthread_atfork(nullptr, nullptr, [] { registry().enter_forked_child(); }));
    return new Registry;  // outlives every exit handler
  }();
  return *instance;
}

}  // namespace drgpum::emulator::runtime
