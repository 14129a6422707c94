// SPDX-License-Identifier: Apache-2.0
// Integer div and rem. Division by zero gives what NVIDIA's hardware gives: all ones, and the
// dividend for rem (PTX leaves both unspecified).

#include <limits>

#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

template <typename T>
bool overflows(T a, T b) {
  return std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1);
}

struct Divide {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    return overflows(a, b) ? a : static_cast<T>(a / b);
  }
};
struct Remainder {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    return overflows(a, b) ? T{0} : static_cast<T>(a % b);
  }
};

}  // namespace

bool lower_division(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != ptx::Opcode::kDiv && in.opcode != ptx::Opcode::kRem) return false;
  const bool divide = in.opcode == ptx::Opcode::kDiv;
  const Handler handler = with_integer(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    return divide ? Handler{binary<T, T, Divide>} : Handler{binary<T, T, Remainder>};
  });
  const unsigned bytes = ptx::bytes_of(in.type);
  return handler != nullptr && emit_binary(builder, in, handler, bytes, bytes);
}

}  // namespace drgpum::emulator::exec
