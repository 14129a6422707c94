// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the program's start-up code registers: fat binaries with their kernels and variables. A
// binary is loaded into a context at the first use of something in it.

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <cuda.h>
#include <driver_types.h>

namespace drgpum::emulator::runtime {

// The public wrapper that nvcc emits around a fat binary (fatbinary_section.h).
struct FatBinaryWrapper {
  std::int32_t magic;
  std::int32_t version;  // 2: relocatable code; `prelinked` is a null-terminated array of binaries
  const void* data;
  const void* prelinked;
};

class FatBinary;

struct Kernel {
  FatBinary* binary = nullptr;
  std::string name;  // mangled
  std::unordered_map<CUcontext, CUfunction> functions;
};

struct Variable {
  FatBinary* binary = nullptr;
  std::string name;
  const void* symbol = nullptr;      // what the program calls it by
  void** managed_pointer = nullptr;  // where a managed variable's address goes
};

class FatBinary {
 public:
  explicit FatBinary(const FatBinaryWrapper* wrapper) : wrapper_(wrapper) {}
  cudaError_t module_in(CUcontext context, CUmodule* module);
  void forget_context(CUcontext context) { modules_.erase(context); }
  void unload();

  std::vector<Variable> managed;

 private:
  const FatBinaryWrapper* wrapper_;
  std::unordered_map<CUcontext, CUmodule> modules_;
};

// Thread-safe. Kernels and binaries keep their addresses until they are unregistered.
class Registry {
 public:
  FatBinary* add_binary(const FatBinaryWrapper* wrapper);
  void remove_binary(FatBinary* binary);
  void add_kernel(FatBinary* binary, const void* host_function, const char* name);
  void add_variable(FatBinary* binary, const void* symbol, const char* name);
  void add_managed(FatBinary* binary, void** pointer, const char* name);

  // By the host function's address, or by the Kernel itself (cudaKernel_t); else null.
  Kernel* find_kernel(const void* function);
  // cudaErrorInvalidDeviceFunction when the function is neither registered nor a CUfunction.
  cudaError_t function_of(const void* entry, CUfunction* function);
  cudaError_t function_of(Kernel& kernel, CUfunction* function);
  // The host function of a kernel that was used in the current context; else the handle itself.
  const void* entry_of(CUfunction function);
  cudaError_t address_of(const void* symbol, CUdeviceptr* address, std::size_t* size);
  // Loads a binary and gives its managed variables their addresses.
  cudaError_t initialize(FatBinary* binary);
  void forget_context(CUcontext context);
  // In the child of a fork, where CUDA does not work: calls must find that out and not wait.
  void enter_forked_child();

 private:
  cudaError_t place_managed(FatBinary& binary);

  bool in_forked_child_ = false;
  std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<FatBinary>> binaries_;
  std::unordered_map<const void*, std::unique_ptr<Kernel>> kernels_;
  std::unordered_map<const void*, Kernel*> handles_;
  std::unordered_map<const void*, Variable> variables_;
};

Registry& registry();  // lives until the process ends

}  // namespace drgpum::emulator::runtime
