// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runtime functions that are driver functions by another name: same parameters, in types that the
// documentation declares interchangeable (handles) or that are laid out alike (checked where used).

#include <type_traits>

#include "emulator/runtime/api.h"

namespace drgpum::emulator::runtime {

template <typename To, typename From>
To driver_value(From value) {
  if constexpr (std::is_convertible_v<From, To>)
    return value;
  else if constexpr (std::is_pointer_v<From> || std::is_pointer_v<To>)
    return reinterpret_cast<To>(value);
  else
    return static_cast<To>(value);
}

template <typename... To, typename... From>
cudaError_t forward(const DriverCall<CUresult (*)(To...)>& call, From... values) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(call(driver_value<To>(values)...));
}

}  // namespace drgpum::emulator::runtime

#define FORWARD_API(name, version, function, parameters, ...) \
  RUNTIME_API(name, version, parameters, __VA_ARGS__) {       \
    return forward(CU(function), __VA_ARGS__);                \
  }

#define FORWARD_STREAM_API(name, version, ptsz_version, function, parameters, ...) \
  STREAM_API(name, version, ptsz_version, parameters, __VA_ARGS__) {               \
    return forward(CU(function), __VA_ARGS__);                                     \
  }
