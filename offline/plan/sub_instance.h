// SPDX-License-Identifier: Apache-2.0
#pragma once
// Some objects of an instance as an instance of their own.

#include <cstdint>
#include <vector>

#include "offline/plan/instance.h"

namespace drgpum {

struct SubInstance {
  Instance instance;
  std::vector<std::uint32_t> objects;  // where each of its objects is in the whole
};

// The objects that live in a section whose load is above `share` of the largest.
SubInstance hot_part(const Instance& instance, double share);

// `objects` of `instance`, with their sections cut anew.
SubInstance part_of(const Instance& instance, std::vector<std::uint32_t> objects);

}  // namespace drgpum
