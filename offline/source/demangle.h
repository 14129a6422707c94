// SPDX-License-Identifier: Apache-2.0
#pragma once
// C++ names as people write them.

#include <string>

namespace drgpum::source {

// The name itself where it is not mangled. "[clone .cold]" and the like are cut: a part of a
// function that the compiler split off is still that function.
std::string demangled(const std::string& name);

}  // namespace drgpum::source
