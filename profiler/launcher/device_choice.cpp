// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/device_choice.h"

#include <dlfcn.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

constexpr const char* kServedRuntime = "libcudart.so.13";

bool has_device_file() {
  for (const char* file : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu"}) {
    if (access(file, F_OK) == 0) return true;
  }
  return false;
}

Error unsupported(std::string message) {
  return {ErrorCode::kUnsupported, std::move(message)};
}

std::string list_of(const std::vector<std::uint32_t>& architectures) {
  std::string text;
  for (const std::uint32_t architecture : architectures) {
    text += (text.empty() ? "sm_" : ", sm_") + std::to_string(architecture);
  }
  return text;
}

}  // namespace

bool has_gpu() {
  if (!has_device_file()) return false;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return false;
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  return initialise != nullptr && count_devices != nullptr && initialise(0) == 0 &&
         count_devices(&count) == 0 && count > 0;
}

DeviceChoice resolve(DeviceChoice choice) {
  if (choice != DeviceChoice::kAuto) return choice;
  return has_gpu() ? DeviceChoice::kGpu : DeviceChoice::kEmulated;
}

Status check_for_emulation(const std::string& program, const ProgramImage& image) {
  if (!image.is_elf) return Ok{};
  if (!image.is_64_bit_x86) {
    return unsupported("'" + program +
                       "' is not an x86-64 program; the emulated device runs no other");
  }
  if (image.has_static_runtime()) {
    return unsupported(
        "'" + program +
        "' has the CUDA runtime linked in, which works with NVIDIA's driver only; link it again "
        "with `nvcc -cudart shared` (or build with NVCC_APPEND_FLAGS=\"-cudart shared\", or set "
        "CMake's CMAKE_CUDA_RUNTIME_LIBRARY to Shared)");
  }
  const std::string runtime = image.shared_runtime();
  if (!runtime.empty() && runtime != kServedRuntime) {
    return unsupported("'" + program + "' needs " + runtime + "; the emulated device has " +
                       kServedRuntime + ": build it with CUDA 13");
  }
  if (image.has_device_code && image.ptx_images == 0 && image.machine_code_images != 0) {
    return unsupported("'" + program + "' has no PTX, only machine code for " +
                       list_of(image.machine_code_architectures) +
                       "; add PTX with `nvcc -gencode arch=compute_75,code=compute_75` (CMake: "
                       "CMAKE_CUDA_ARCHITECTURES=75-virtual)");
  }
  return Ok{};
}

}  // namespace drgpum::profiler
