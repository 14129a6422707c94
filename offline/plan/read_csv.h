// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a planning problem from a table of lifetimes or a table of events.

#include <string>
#include <string_view>

#include "offline/plan/problem.h"

namespace drgpum {

// Lifetimes: header `id,lower,upper,size` in any order (`buffer`, `start`, `end` are understood for
// the first three), optionally `alignment`, `offset` (fixed), `gaps` (`1-4 7-9`, half-open).
// Events: header `time_ns,op,id,size`; op is malloc, free, read, write, iteration or layer; times
// never fall; an id may come back after its free, and its second object is then called `id#2`;
// size counts on malloc only; a layer's id is its name.
// Fails with kCorrupt and `source:line: what, which value` on the first line that breaks this.
Result<Problem> parse_problem_csv(std::string_view text, const std::string& source);

// The same from a file; kNotFound or kIo when it cannot be read.
Result<Problem> read_problem_csv(const std::string& path);

// The whole file as bytes.
Result<std::string> read_file(const std::string& path);

}  // namespace drgpum
