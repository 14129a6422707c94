// SPDX-License-Identifier: Apache-2.0
#include "offline/source/demangle.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace drgpum::source {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  std::string result = status == 0 && text ? text.get() : name;
  if (const std::size_t clone = result.find(" [clone "); clone != std::string::npos)
    result.resize(clone);
  return result;
}

}  // namespace drgpum::source
