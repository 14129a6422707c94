// SPDX-License-Identifier: Apache-2.0
#include "offline/order/object_kinds.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace drgpum {

// The names are those that nvcc 11 to 13 write into PTX; _ZTV, _ZTI and _ZTS are of the Itanium ABI.
bool is_compiler_variable(const Evidence& evidence, const Object& object) {
  static constexpr std::array<std::string_view, 8> kBeginnings{
      "__cudart_", "__internal_", "__unnamed_", "$str", "__func__", "_ZTV", "_ZTI", "_ZTS"};
  if (object.kind != trace::ObjectKind::kModuleGlobal) return false;
  const std::string_view name = evidence.names[object.name];
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

bool is_used_unseen(const Object& object) {
  return object.opaque && object.kind != trace::ObjectKind::kManaged &&
         object.kind != trace::ObjectKind::kImported;
}

}  // namespace drgpum
