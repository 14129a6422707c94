// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers that cannot be mistaken for one another.

#include <compare>
#include <cstdint>
#include <functional>

namespace drgpum {

template <typename Tag, typename Rep>
struct StrongId {
  Rep value = 0;
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

using ObjectId = StrongId<struct ObjectTag, std::uint32_t>;  // one data object; never reused
using ApiId = StrongId<struct ApiTag, std::uint64_t>;        // one GPU API call, in issue order
using StreamId = StrongId<struct StreamTag, std::uint32_t>;  // unique over all contexts
using EventId = StrongId<struct EventTag, std::uint32_t>;    // one CUDA event object
using ContextId = StrongId<struct ContextTag, std::uint32_t>;
using DeviceId = StrongId<struct DeviceTag, std::uint32_t>;  // CUDA ordinal
using KernelId = StrongId<struct KernelTag, std::uint32_t>;  // one kernel of one loaded module
using ModuleId = StrongId<struct ModuleTag, std::uint32_t>;  // one mapping of a host ELF file
using CubinId = StrongId<struct CubinTag, std::uint32_t>;    // one loaded device module
using PoolId = StrongId<struct PoolTag, std::uint32_t>;      // one CUDA memory pool
using ThreadId = StrongId<struct ThreadTag, std::uint32_t>;  // one host thread, in order of first use
using CallPathId = StrongId<struct CallPathTag, std::uint32_t>;  // 0: no call path

}  // namespace drgpum

template <typename Tag, typename Rep>
struct std::hash<drgpum::StrongId<Tag, Rep>> {
  std::size_t operator()(drgpum::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>()(id.value);
  }
};
