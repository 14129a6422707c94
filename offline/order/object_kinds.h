// SPDX-License-Identifier: Apache-2.0
#pragma once
// Objects of which less is known, or about which less can be done, than of others.

#include "offline/order/evidence.h"

namespace drgpum {

// Tables of mathematical functions, string literals, and tables of virtual functions: they come with
// the code that needs them, and nobody can drop, shrink or move them. They hold memory, but nothing
// about them is a finding.
bool is_compiler_variable(const Evidence& evidence, const Object& object);

// Arrays, constants, and memory that textures read: kernels use them without a trace.
bool is_used_unseen(const Object& object);

}  // namespace drgpum
