// SPDX-License-Identifier: Apache-2.0
#pragma once
// The texts of pickle protocol 0, which stand on a line each.

#include <string>
#include <string_view>

namespace drgpum {

// Python's repr of a byte string. False: it has no quotes.
bool unquoted(std::string_view line, std::string& plain);
// Latin-1 with \uXXXX and \UXXXXXXXX, to UTF-8. False: an escape is none.
bool unescaped(std::string_view line, std::string& plain);

}  // namespace drgpum
