// SPDX-License-Identifier: Apache-2.0
// What a Kokkos program calls in the library that KOKKOS_TOOLS_LIBS names: labels of allocations,
// kernels and regions. Source: the Kokkos Tools documentation of its hooks.

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/told.h"

namespace {

using drgpum::profiler::Told;
using drgpum::profiler::ToldKind;

struct SpaceName {  // passed by value
  char name[64];
};

constexpr char kRegions = 0;  // their addresses name stacks of ranges
constexpr char kKernels = 0;

std::string text(const char* words) {
  return words == nullptr ? "" : words;
}

bool is_on_device(const SpaceName& space) {
  return std::string_view(space.name, 4) == "Cuda" &&
         std::string_view(space.name, sizeof space.name).find("HostPinned") ==
             std::string_view::npos;
}

void tell_data(ToldKind kind, const char* call, const SpaceName& space, const char* label,
               const void* data, std::uint64_t bytes) noexcept {
  try {
    if (!is_on_device(space)) return;
    Told told;
    told.kind = kind;
    told.call = call;
    told.address = reinterpret_cast<std::uint64_t>(data);
    told.size = bytes;
    told.name = text(label);
    drgpum::profiler::tell(std::move(told));
  } catch (...) {
    return;  // out of memory: it is not recorded
  }
}

void begin_kernel(const char* call, const char* label, std::uint64_t* id) noexcept {
  try {
    if (id != nullptr) *id = 0;
    drgpum::profiler::push_range(&kKernels, call, text(label));
  } catch (...) {
    return;
  }
}

}  // namespace

#define DRGPUM_KOKKOS extern "C" __attribute__((visibility("default"))) void

DRGPUM_KOKKOS kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) {}
DRGPUM_KOKKOS kokkosp_finalize_library() {}

DRGPUM_KOKKOS kokkosp_allocate_data(SpaceName space, const char* label, const void* data,
                                    std::uint64_t bytes) {
  tell_data(ToldKind::kLabel, "kokkosp_allocate_data", space, label, data, bytes);
}
DRGPUM_KOKKOS kokkosp_deallocate_data(SpaceName space, const char* label, const void* data,
                                      std::uint64_t bytes) {
  tell_data(ToldKind::kBlockEnd, "kokkosp_deallocate_data", space, label, data, bytes);
}

DRGPUM_KOKKOS kokkosp_begin_parallel_for(const char* label, std::uint32_t, std::uint64_t* id) {
  begin_kernel("kokkosp_begin_parallel_for", label, id);
}
DRGPUM_KOKKOS kokkosp_end_parallel_for(std::uint64_t) {
  drgpum::profiler::pop_range(&kKernels, "kokkosp_end_parallel_for");
}
DRGPUM_KOKKOS kokkosp_begin_parallel_reduce(const char* label, std::uint32_t, std::uint64_t* id) {
  begin_kernel("kokkosp_begin_parallel_reduce", label, id);
}
DRGPUM_KOKKOS kokkosp_end_parallel_reduce(std::uint64_t) {
  drgpum::profiler::pop_range(&kKernels, "kokkosp_end_parallel_reduce");
}
DRGPUM_KOKKOS kokkosp_begin_parallel_scan(const char* label, std::uint32_t, std::uint64_t* id) {
  begin_kernel("kokkosp_begin_parallel_scan", label, id);
}
DRGPUM_KOKKOS kokkosp_end_parallel_scan(std::uint64_t) {
  drgpum::profiler::pop_range(&kKernels, "kokkosp_end_parallel_scan");
}

DRGPUM_KOKKOS kokkosp_push_profile_region(const char* name) {
  try {
    drgpum::profiler::push_range(&kRegions, "kokkosp_push_profile_region", text(name));
  } catch (...) {
    return;
  }
}
DRGPUM_KOKKOS kokkosp_pop_profile_region() {
  drgpum::profiler::pop_range(&kRegions, "kokkosp_pop_profile_region");
}
DRGPUM_KOKKOS kokkosp_profile_event(const char* name) {
  try {
    Told told;
    told.call = "kokkosp_profile_event";
    told.name = text(name);
    drgpum::profiler::tell(std::move(told));
  } catch (...) {
    return;
  }
}
