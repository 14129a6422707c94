// SPDX-License-Identifier: Apache-2.0
#include "profiler/api_traits.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace drgpum::profiler {
namespace {

struct KnownApi {
  std::string_view name;
  ApiRole role;
};

constexpr KnownApi kKnownApis[] = {
    {"cudaMalloc", ApiRole::kAlloc},
    {"cudaMallocManaged", ApiRole::kAlloc},
    {"cudaMallocHost", ApiRole::kAlloc},
    {"cudaHostAlloc", ApiRole::kAlloc},
    {"cudaHostRegister", ApiRole::kAlloc},
    {"cudaMallocAsync", ApiRole::kAlloc},
    {"cudaMallocFromPoolAsync", ApiRole::kAlloc},
    {"cuMemAlloc", ApiRole::kAlloc},
    {"cuMemAllocManaged", ApiRole::kAlloc},
    {"cuMemAllocHost", ApiRole::kAlloc},
    {"cuMemHostAlloc", ApiRole::kAlloc},
    {"cuMemHostRegister", ApiRole::kAlloc},
    {"cuMemAllocAsync", ApiRole::kAlloc},
    {"cuMemAllocFromPoolAsync", ApiRole::kAlloc},
    {"cuMemMap", ApiRole::kMap},
    {"cuMemCreate", ApiRole::kPhysical},
    {"cuMemRelease", ApiRole::kReleasePhysical},
    {"cudaMallocMipmappedArray", ApiRole::kTakesMemory},
    {"cuMipmappedArrayCreate", ApiRole::kTakesMemory},
    {"cuKernelGetFunction", ApiRole::kTakesMemory},
    {"cudaGraphUpload", ApiRole::kTakesMemory},
    {"cuGraphUpload", ApiRole::kTakesMemory},
    {"cudaGraphLaunch", ApiRole::kGraphLaunch},
    {"cuGraphLaunch", ApiRole::kGraphLaunch},
    {"cudaMallocPitch", ApiRole::kPitchedAlloc},
    {"cuMemAllocPitch", ApiRole::kPitchedAlloc},
    {"cudaMalloc3D", ApiRole::kAlloc3D},
    {"cudaMallocArray", ApiRole::kArrayAlloc},
    {"cudaMalloc3DArray", ApiRole::kArrayAlloc},
    {"cuArrayCreate", ApiRole::kArrayAlloc},
    {"cuArray3DCreate", ApiRole::kArrayAlloc},
    {"cudaIpcOpenMemHandle", ApiRole::kImport},
    {"cuIpcOpenMemHandle", ApiRole::kImport},
    {"cudaFree", ApiRole::kFree},
    {"cuMemFree", ApiRole::kFree},
    {"cudaFreeHost", ApiRole::kHostFree},
    {"cuMemFreeHost", ApiRole::kHostFree},
    {"cudaHostUnregister", ApiRole::kHostFree},
    {"cuMemHostUnregister", ApiRole::kHostFree},
    {"cudaFreeAsync", ApiRole::kAsyncFree},
    {"cuMemFreeAsync", ApiRole::kAsyncFree},
    {"cuMemUnmap", ApiRole::kUnmap},
    {"cudaIpcCloseMemHandle", ApiRole::kCloseImport},
    {"cuIpcCloseMemHandle", ApiRole::kCloseImport},
    {"cudaFreeArray", ApiRole::kFreeArray},
    {"cuArrayDestroy", ApiRole::kFreeArray},
    {"cudaCreateTextureObject", ApiRole::kTexture},
    {"cuTexObjectCreate", ApiRole::kTexture},
    {"cudaDeviceSynchronize", ApiRole::kSyncDevice},
    {"cudaThreadSynchronize", ApiRole::kSyncDevice},
    {"cuCtxSynchronize", ApiRole::kSyncContext},
    {"cudaStreamSynchronize", ApiRole::kSyncStream},
    {"cuStreamSynchronize", ApiRole::kSyncStream},
    {"cudaEventSynchronize", ApiRole::kSyncEvent},
    {"cuEventSynchronize", ApiRole::kSyncEvent},
    {"cudaStreamQuery", ApiRole::kQueryStream},
    {"cuStreamQuery", ApiRole::kQueryStream},
    {"cudaEventQuery", ApiRole::kQueryEvent},
    {"cuEventQuery", ApiRole::kQueryEvent},
    {"cudaStreamCreateWithFlags", ApiRole::kCreateStream},
    {"cudaStreamCreateWithPriority", ApiRole::kCreateStream},
    {"cuStreamCreate", ApiRole::kCreateStream},
    {"cuStreamCreateWithPriority", ApiRole::kCreateStream},
    {"cudaLaunchHostFunc", ApiRole::kHostFunction},
    {"cuLaunchHostFunc", ApiRole::kHostFunction},
    {"cudaStreamAddCallback", ApiRole::kHostFunction},
    {"cuStreamAddCallback", ApiRole::kHostFunction},
    {"cudaDeviceReset", ApiRole::kResetDevice},
    {"cuDevicePrimaryCtxReset", ApiRole::kResetDevice},
    {"cuCtxDestroy", ApiRole::kEndContext},
    {"cudaProfilerStart", ApiRole::kProfilerStart},
    {"cuProfilerStart", ApiRole::kProfilerStart},
    {"cudaProfilerStop", ApiRole::kProfilerStop},
    {"cuProfilerStop", ApiRole::kProfilerStop},
};

// Modules bring variables, graphs their allocations; both in calls of many variants.
constexpr std::string_view kTakeMemory[] = {
    "cuModuleLoad",    "cuLibraryLoad",      "cuLibraryGet",
    "cudaLibraryLoad", "cuGraphInstantiate", "cudaGraphInstantiate",
};

ApiRole role_of(std::string_view name) {
  for (const KnownApi& known : kKnownApis) {
    if (known.name == name) return known.role;
  }
  for (const std::string_view beginning : kTakeMemory) {
    if (name.starts_with(beginning)) return ApiRole::kTakesMemory;
  }
  const bool copies = name.starts_with("cudaMemcpy") || name.starts_with("cuMemcpy");
  return copies && name.find("Async") == std::string_view::npos ? ApiRole::kCopy : ApiRole::kOther;
}

// Removes _v2, _v11060 and the like, and the marks of the per-thread default stream.
std::string_view plain_name(std::string_view name, bool* per_thread_default) {
  for (const std::string_view mark : {"_ptsz", "_ptds"}) {
    if (name.ends_with(mark)) {
      *per_thread_default = true;
      name.remove_suffix(mark.size());
    }
  }
  const auto version = name.rfind("_v");
  const bool is_version =
      version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string_view::npos;
  return is_version ? name.substr(0, version) : name;
}

std::uint32_t parameter_half(const void* parameters, std::size_t index) {
  std::uint32_t half = 0;
  std::memcpy(&half, static_cast<const char*>(parameters) + index * sizeof half, sizeof half);
  return half;
}

const void* pointer_word(const void* parameters, std::size_t index) {
  return reinterpret_cast<const void*>(parameter_word(parameters, index));
}

// Of CUDA_ARRAY_DESCRIPTOR's and CUDA_ARRAY3D_DESCRIPTOR's CUarray_format.
std::uint64_t format_bytes(std::uint32_t format) {
  switch (format) {
    case 0x01:  // unsigned and signed 8-bit
    case 0x08:
      return 1;
    case 0x02:  // 16-bit, half
    case 0x09:
    case 0x10:
      return 2;
    default:  // 32-bit, float
      return 4;
  }
}

std::uint64_t at_least_one(std::uint64_t extent) {
  return std::max<std::uint64_t>(extent, 1);
}

// Of a cudaChannelFormatDesc: four numbers of bits.
std::uint64_t channel_bytes(const void* descriptor) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 4; ++i)
    bits += parameter_half(descriptor, i);
  return bits / 8;
}

}  // namespace

ApiTraits traits_of(std::string_view function_name) {
  ApiTraits traits;
  traits.name = plain_name(function_name, &traits.per_thread_default);
  traits.role = role_of(traits.name);
  traits.is_runtime = !function_name.starts_with("cu") || function_name.starts_with("cuda");
  return traits;
}

const ApiTraits& remember_traits(const std::string& function_name) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, ApiTraits>();  // outlives exit handlers
  const std::lock_guard lock(mutex);
  return known.try_emplace(function_name, traits_of(function_name)).first->second;
}

std::uint64_t requested_bytes(ApiRole role, const void* parameters) {
  if (parameters == nullptr) return 0;
  const auto word = [&](std::size_t index) { return parameter_word(parameters, index); };
  switch (role) {
    case ApiRole::kAlloc:
    case ApiRole::kMap:
    case ApiRole::kPhysical:
      return word(1);
    case ApiRole::kPitchedAlloc:
      return word(2) * word(3);
    case ApiRole::kAlloc3D:
      return word(1) * word(2) * word(3);
    default:
      return 0;
  }
}

std::uint32_t dynamic_shared_bytes(const ApiTraits& traits, const void* parameters) {
  if (parameters == nullptr) return 0;
  if (traits.name == "cuLaunchKernel" || traits.name == "cuLaunchCooperativeKernel") {
    return parameter_half(parameters, 8);  // after the function and six extents
  }
  if (traits.name == "cudaLaunchKernel" || traits.name == "cudaLaunchCooperativeKernel" ||
      traits.name == "__cudaLaunchKernel") {
    return static_cast<std::uint32_t>(parameter_word(parameters, 5));
  }
  return 0;
}

// cudaResourceDesc and CUDA_RESOURCE_DESC begin alike: the type, and from byte 8 on the resource.
std::uint64_t texture_memory(const void* parameters) {
  const void* resource = pointer_word(parameters, 1);
  if (resource == nullptr) return 0;
  constexpr std::uint32_t kLinear = 2, kPitched = 3;
  const std::uint32_t type = parameter_half(resource, 0);
  return type == kLinear || type == kPitched ? parameter_word(resource, 1) : 0;
}

std::uint64_t array_bytes(const ApiTraits& traits, const void* parameters) {
  if (parameters == nullptr || pointer_word(parameters, 1) == nullptr) return 0;
  const void* descriptor = pointer_word(parameters, 1);
  const auto word = [&](std::size_t i) { return at_least_one(parameter_word(parameters, i)); };
  const auto field = [&](std::size_t i) { return at_least_one(parameter_word(descriptor, i)); };
  if (traits.name == "cudaMallocArray") return word(2) * word(3) * channel_bytes(descriptor);
  if (traits.name == "cudaMalloc3DArray") {
    return word(2) * word(3) * word(4) * channel_bytes(descriptor);
  }
  if (traits.name == "cuArrayCreate") {
    return field(0) * field(1) * format_bytes(parameter_half(descriptor, 4)) *
           parameter_half(descriptor, 5);
  }
  return field(0) * field(1) * field(2) * format_bytes(parameter_half(descriptor, 6)) *
         parameter_half(descriptor, 7);
}

}  // namespace drgpum::profiler
