// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the profiler needs to know of a CUDA function, from its name: runtime callback numbers move
// between releases, names do not. Parameters are read as 64-bit words of the public
// <function>_params struct, whose members are words or pairs of 32-bit values throughout.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace drgpum::profiler {

enum class ApiRole : std::uint8_t {
  kOther,
  kAlloc,         // word 1: bytes asked for
  kMap,           // cuMemMap: address, bytes
  kPhysical,      // cuMemCreate; word 0: where the handle goes, word 1: bytes, for maps to come
  kReleasePhysical,  // word 0: handle
  kTakesMemory,      // of the device, and does not say how much
  kGraphLaunch,      // word 0: the executable graph, which may allocate
  kPitchedAlloc,  // words 2, 3: width in bytes, rows
  kAlloc3D,       // words 1 to 3: width in bytes, height, depth
  kArrayAlloc,
  kImport,       // memory of another process
  kFree,         // word 0: address; blocks until the device is idle
  kHostFree,     // word 0: address
  kAsyncFree,    // word 0: address
  kUnmap,        // cuMemUnmap: address, bytes
  kCloseImport,  // word 0: address
  kFreeArray,    // word 0: handle
  kTexture,      // makes a texture object; word 1: what it reads
  kCopy,         // returns when the copy is done, where CUDA says so
  kSyncDevice,
  kSyncContext,
  kSyncStream,    // word 0: stream
  kSyncEvent,     // word 0: event
  kQueryStream,   // word 0: stream
  kQueryEvent,    // word 0: event
  kCreateStream,  // word 1: flags
  kHostFunction,  // word 0: stream
  kResetDevice,
  kEndContext,  // word 0: context
  kProfilerStart,
  kProfilerStop,
};

struct ApiTraits {
  std::string name;  // as the programmer writes it: cuMemAlloc, not cuMemAlloc_v2
  ApiRole role = ApiRole::kOther;
  bool per_thread_default = false;  // stream 0 means the per-thread default stream
  bool is_runtime = false;
};

ApiTraits traits_of(std::string_view function_name);

// The same, in a place that stays.
const ApiTraits& remember_traits(const std::string& function_name);

inline std::uint64_t parameter_word(const void* parameters, std::size_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, static_cast<const char*>(parameters) + index * sizeof word, sizeof word);
  return word;
}

// Bytes that an allocating call asks for; 0 when it does not say.
std::uint64_t requested_bytes(ApiRole role, const void* parameters);

// Dynamic shared memory of a launching call, or 0 for calls that do not say it in plain.
std::uint32_t dynamic_shared_bytes(const ApiTraits& traits, const void* parameters);

// Where the plain memory begins that a kTexture call's object reads; 0 for arrays, which have none.
std::uint64_t texture_memory(const void* parameters);

// Bytes of the array that a kArrayAlloc call makes, from its descriptor.
std::uint64_t array_bytes(const ApiTraits& traits, const void* parameters);

}  // namespace drgpum::profiler
