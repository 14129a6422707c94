// SPDX-License-Identifier: Apache-2.0
#include "profiler/device_info.h"

#include <dlfcn.h>

namespace drgpum::profiler {
namespace {

// CUdevice_attribute, from the driver API's reference.
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;

template <typename Function>
Function* driver_function(void* driver, const char* name) {
  return driver == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(driver, name));
}

std::uint32_t attribute(void* driver, int which, int device) {
  auto* get = driver_function<int(int*, int, int)>(driver, "cuDeviceGetAttribute");
  int value = 0;
  return get != nullptr && get(&value, which, device) == 0 ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

trace::DeviceRecord describe_device(DeviceId device) {
  trace::DeviceRecord record;
  record.id = device;
  const int ordinal = static_cast<int>(device.value);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  char name[256] = "";
  auto* get_name = driver_function<int(char*, int, int)>(driver, "cuDeviceGetName");
  if (get_name != nullptr && get_name(name, sizeof name, ordinal) == 0) record.name = name;
  std::size_t bytes = 0;
  auto* get_bytes = driver_function<int(std::size_t*, int)>(driver, "cuDeviceTotalMem_v2");
  if (get_bytes != nullptr && get_bytes(&bytes, ordinal) == 0) record.memory_bytes = bytes;
  record.compute_major = attribute(driver, kComputeMajor, ordinal);
  record.compute_minor = attribute(driver, kComputeMinor, ordinal);
  if (driver != nullptr) dlclose(driver);
  return record;
}

}  // namespace drgpum::profiler
