// SPDX-License-Identifier: Apache-2.0
// PyTorch's caching allocator tells PyTorch's own profiler of each block that it hands out and
// takes back, through one exported function of libc10.so. Preloaded, this library's function of
// that name is called instead; it hands the call on. Nothing of PyTorch's is needed to build it.
// Source: c10/core/Allocator.h, unchanged from 2.1 on; before that the two totals were signed.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>

#include "profiler/told.h"

namespace c10 {

// As libc10.so passes it: two bytes.
struct Device {
  std::int8_t type;
  std::int8_t index;
};

}  // namespace c10

namespace drgpum::profiler {
namespace {

constexpr std::int8_t kCudaDevice = 1;  // c10::DeviceType::CUDA
constexpr const char* kName = "c10::reportMemoryUsageToProfiler";

using Report = void (*)(void*, std::int64_t, std::size_t, std::size_t, c10::Device);

// The function in the caller's own libraries: libc10.so is not in the global scope, so RTLD_NEXT
// does not reach it.
Report find_original(const char* symbol, const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* const library = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  void* found = library == nullptr ? nullptr : dlsym(library, symbol);
  if (found == nullptr) found = dlsym(RTLD_NEXT, symbol);
  if (library != nullptr) dlclose(library);
  Dl_info own{}, other{};
  const bool is_ours = dladdr(reinterpret_cast<const void*>(find_original), &own) != 0 &&
                       dladdr(found, &other) != 0 && own.dli_fbase == other.dli_fbase;
  return is_ours ? nullptr : reinterpret_cast<Report>(found);
}

void tell_block(void* block, std::int64_t bytes, c10::Device device, const void* allocator) {
  if (device.type != kCudaDevice || block == nullptr || bytes == 0) return;
  Told told;
  told.kind = bytes > 0 ? ToldKind::kBlock : ToldKind::kBlockEnd;
  told.call = kName;
  told.address = reinterpret_cast<std::uint64_t>(block);
  told.size = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  told.allocator = allocator;
  tell(std::move(told));
}

void report(const char* symbol, std::atomic<Report>* original, std::atomic<bool>* searched,
            const void* caller, void* block, std::int64_t bytes, std::size_t allocated,
            std::size_t reserved, c10::Device device) {
  tell_block(block, bytes, device, caller);
  if (!searched->load(std::memory_order_acquire)) {
    original->store(find_original(symbol, caller), std::memory_order_relaxed);
    searched->store(true, std::memory_order_release);
  }
  if (const Report next = original->load(std::memory_order_relaxed)) {
    next(block, bytes, allocated, reserved, device);
  }
}

}  // namespace
}  // namespace drgpum::profiler

namespace c10 {

__attribute__((visibility("default"), noinline)) void reportMemoryUsageToProfiler(
    void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device) {
  static std::atomic<drgpum::profiler::Report> original{nullptr};
  static std::atomic<bool> searched{false};
  drgpum::profiler::report("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", &original,
                           &searched, __builtin_return_address(0), block, bytes, allocated,
                           reserved, device);
}

__attribute__((visibility("default"), noinline)) void reportMemoryUsageToProfiler(
    void* block, std::int64_t bytes, std::int64_t allocated, std::int64_t reserved, Device device) {
  static std::atomic<drgpum::profiler::Report> original{nullptr};
  static std::atomic<bool> searched{false};
  drgpum::profiler::report("_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE", &original,
                           &searched, __builtin_return_address(0), block, bytes,
                           static_cast<std::size_t>(allocated), static_cast<std::size_t>(reserved),
                           device);
}

}  // namespace c10
