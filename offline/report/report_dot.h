// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dependency graph in Graphviz's language.

#include <cstdint>
#include <iosfwd>

#include "offline/order/dependency_graph.h"
#include "offline/report/report.h"

namespace drgpum {

inline constexpr std::uint32_t kMaxDotCalls = 5000;

// Calls [begin, end), one column for each stream and host thread, one row for each level. Solid
// edges are guaranteed, coloured by what gives the order; dashed ones are data, with the object.
void write_dot(const Report& report, std::uint32_t begin, std::uint32_t end, std::ostream& out);

}  // namespace drgpum
