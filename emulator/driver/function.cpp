// SPDX-License-Identifier: Apache-2.0
// Functions and kernels: attributes and parameters.

#include "emulator/driver/function.h"

#include "emulator/machine/module_loader.h"

namespace drgpum::emulator::driver {
namespace {

CUresult attribute(const Device& device, const Function& function, CUfunction_attribute which,
                   int* value) {
  const ptx::Program& program = *function.module->image.program;
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = function.max_threads(1024);
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(function.static_shared());
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
      std::uint64_t bytes = 0;
      for (const ptx::Variable& variable : program.variables)
        if (variable.space == ptx::Space::kConst) bytes += variable.size;
      *value = static_cast<int>(bytes);
      break;
    }
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(function.local());
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(function.registers());
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = static_cast<int>(program.target);
      break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = device.preset.compute_major * 10 + device.preset.compute_minor;
      break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = 0;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(function.max_dynamic_shared);
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = function.preferred_carveout;
      break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = 0;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = static_cast<int>(
          function.code().required_cluster[which - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
      break;
    default:
      if (which < 0 || which >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult set_attribute(const Device& device, Function& function, CUfunction_attribute which,
                       int value) {
  if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    const int most =
        device.preset.shared_per_block_optin - static_cast<int>(function.static_shared());
    if (value < 0 || value > most) return CUDA_ERROR_INVALID_VALUE;
    function.max_dynamic_shared = static_cast<std::uint32_t>(value);
    return CUDA_SUCCESS;
  }
  if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
    function.preferred_carveout = value;
    return CUDA_SUCCESS;
  }
  if (which >= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH && which < CU_FUNC_ATTRIBUTE_MAX)
    return CUDA_SUCCESS;  // about clusters, which do not change where blocks run here
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult parameter(const ptx::Function& code, std::size_t index, std::size_t* offset,
                   std::size_t* size) {
  if (offset == nullptr || index >= code.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = code.parameters[index].offset;
  if (size != nullptr) *size = code.parameters[index].size;
  return CUDA_SUCCESS;
}

// The function of a handle in the current context.
struct FunctionCall : ContextCall {
  explicit FunctionCall(const void* handle) {
    if (error == CUDA_SUCCESS) error = find_function(*this, *context, handle, &function);
  }
  Function* function = nullptr;
};

// A kernel's function on a device, in its primary context where that is not the current one.
struct KernelCall : MachineCall {
  KernelCall(const void* handle, CUdevice ordinal) {
    target = device(ordinal);
    if (target == nullptr) {
      error = CUDA_ERROR_INVALID_DEVICE;
      return;
    }
    Context* context = core().contexts.get(core().context_of_thread());
    if (context == nullptr || context->device != target) context = target->primary;
    error = context == nullptr ? CUDA_ERROR_INVALID_CONTEXT
                               : find_function(*this, *context, handle, &function);
  }
  Device* target = nullptr;
  Function* function = nullptr;
  CUresult error = CUDA_SUCCESS;
};

}  // namespace

CUresult find_function(Section& section, Context& context, const void* handle,
                       Function** function) {
  MachineCore& core = section.core();
  if (const auto it = core.functions.find(handle); it != core.functions.end()) {
    *function = it->second;
    return CUDA_SUCCESS;
  }
  const auto kernel = core.kernels.find(handle);
  if (kernel == core.kernels.end()) return CUDA_ERROR_INVALID_HANDLE;
  Module* module = nullptr;
  const CUresult found = module_of(section, *kernel->second->library, context, &module);
  if (found != CUDA_SUCCESS) return found;
  *function = module->functions.find(kernel->second->name)->second.get();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction handle) {
  const FunctionCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return attribute(*call.context->device, *call.function, which, value);
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value) {
  const FunctionCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  return set_attribute(*call.context->device, *call.function, which, value);
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  return FunctionCall(handle).error;
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig) {
  return FunctionCall(handle).error;
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  const FunctionCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *module = reinterpret_cast<CUmodule>(call.function->module);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction handle) {
  const FunctionCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = call.function->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction handle, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
  const FunctionCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  return parameter(call.function->code(), index, offset, size);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  const FunctionCall call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction handle) {
  return FunctionCall(handle).error;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  const FunctionCall call(kernel);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = reinterpret_cast<CUfunction>(call.function);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  MachineCall call;
  const auto it = call.core().kernels.find(handle);
  if (it == call.core().kernels.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *library = reinterpret_cast<CUlibrary>(it->second->library);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel handle) {
  MachineCall call;
  const auto it = call.core().kernels.find(handle);
  if (it == call.core().kernels.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = it->second->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel,
                              CUdevice device) {
  const KernelCall call(kernel, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return attribute(*call.target, *call.function, which, value);
}

CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel,
                              CUdevice device) {
  const KernelCall call(kernel, device);
  if (call.error != CUDA_SUCCESS) return call.error;
  return set_attribute(*call.target, *call.function, which, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice device) {
  return KernelCall(kernel, device).error;
}

CUresult cuKernelGetParamInfo(CUkernel handle, std::size_t index, std::size_t* offset,
                              std::size_t* size) {
  MachineCall call;
  const auto it = call.core().kernels.find(handle);
  if (it == call.core().kernels.end()) return CUDA_ERROR_INVALID_HANDLE;
  for (const ptx::Function& function : it->second->library->image.program->functions)
    if (function.name == it->second->name) return parameter(function, index, offset, size);
  return CUDA_ERROR_NOT_FOUND;
}

}  // namespace drgpum::emulator::driver
