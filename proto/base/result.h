// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors as values: every call that can fail returns a Result.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace drgpum {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  // the caller asked for what cannot be
  kNotFound,         // a file, a symbol, an object is not there
  kCorrupt,          // input bytes break their format
  kUnsupported,      // valid, but not handled by this build
  kIo,               // the operating system refused
  kDevice,           // CUDA, the Sanitizer API or the emulator refused
};

struct [[nodiscard]] Error {
  ErrorCode code;
  std::string message;  // for a person: what, where, which value

  // Puts what the caller was doing in front of the message.
  Error while_doing(std::string_view action) && {
    message = std::string(action) + ": " + message;
    return std::move(*this);
  }
};

// A T, or the Error that kept it from being made. Same reading as std::expected<T, Error>, which
// will take its place once clang and nvcc accept it; value access without a value is a bug.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: on purpose

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  [[nodiscard]] const Error& error() const& { return *std::get_if<1>(&state_); }
  [[nodiscard]] Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

// Success carries nothing: `Status flush(); ... return Ok{};`
using Ok = std::monostate;
using Status = Result<Ok>;

}  // namespace drgpum

#define DRGPUM_CONCAT_(a, b) a##b
#define DRGPUM_CONCAT(a, b) DRGPUM_CONCAT_(a, b)

#define RETURN_IF_ERROR(expr)                                               \
  do {                                                                      \
    if (auto status_ = (expr); !status_) return std::move(status_).error(); \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr)                             \
  auto DRGPUM_CONCAT(result_, __LINE__) = (expr);               \
  if (!DRGPUM_CONCAT(result_, __LINE__))                        \
    return std::move(DRGPUM_CONCAT(result_, __LINE__)).error(); \
  lhs = *std::move(DRGPUM_CONCAT(result_, __LINE__))
