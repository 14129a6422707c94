// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words for the trace's enumerators, in the order of their values, as text and reports use
// them.

#include <array>
#include <cstddef>
#include <string_view>

#include "proto/trace/record.h"

namespace drgpum::trace {

template <typename Enum>
inline constexpr std::array<std::string_view, 0> kEnumNames{};

template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<DeviceKind>{"gpu", "emulated"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<StreamKind>{"legacy", "per-thread",
                                                                        "blocking", "non-blocking"};
template <>
inline constexpr std::array<std::string_view, 11> kEnumNames<ObjectKind>{
    "device", "pitched", "managed",  "async", "pinned", "global",
    "array",  "virtual", "imported", "heap",  "sub"};
template <>
inline constexpr std::array<std::string_view, 11> kEnumNames<ApiKind>{
    "alloc", "free",        "memcpy", "memset",        "launch", "record",
    "wait",  "synchronize", "graph",  "host-function", "mark"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<CopyDirection>{"h2h", "h2d", "d2h",
                                                                           "d2d"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<SyncScope>{"stream", "event", "context",
                                                                       "device"};
template <>
inline constexpr std::array<std::string_view, 6> kEnumNames<MarkKind>{
    "push", "pop", "mark", "iteration", "capture-start", "capture-stop"};
template <>
inline constexpr std::array<std::string_view, 19> kEnumNames<CoverageKind>{
    "unpatched-kernel", "unsampled-launch",    "slots-full",   "unknown-address",
    "opaque-object",    "unknown-instruction", "lost-records", "tool-disabled",
    "size-limit",       "coarse-map",          "no-counts",    "untimed-call",
    "lost-sites",       "sampled-blocks",      "history-cut",  "unmatched-free",
    "unrecorded-end",   "bad-field",           "missing-segments"};

template <typename Enum>
constexpr std::string_view enum_name(Enum value) {
  return kEnumNames<Enum>.at(static_cast<std::size_t>(value));
}

}  // namespace drgpum::trace
