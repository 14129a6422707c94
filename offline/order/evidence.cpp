// SPDX-License-Identifier: Apache-2.0
#include "offline/order/evidence.h"

#include <algorithm>

namespace drgpum {
namespace {

std::size_t count_below(const std::vector<std::uint32_t>& sorted, std::uint32_t api) {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), api) -
                                  sorted.begin());
}

}  // namespace

const GraphNode* Evidence::graph_node(std::uint32_t api) const {
  const auto at =
      std::lower_bound(graph_nodes.begin(), graph_nodes.end(), api,
                       [](const GraphNode& node, std::uint32_t value) { return node.api < value; });
  return at != graph_nodes.end() && at->api == api ? &*at : nullptr;
}

std::uint32_t Evidence::launches_within(std::uint32_t begin, std::uint32_t end) const {
  if (begin >= end) return 0;
  return static_cast<std::uint32_t>(count_below(launches, end) - count_below(launches, begin));
}

std::uint32_t Evidence::first_unseen(std::uint32_t begin, std::uint32_t end) const {
  const std::size_t at = count_below(unseen_launches, begin);
  return at < unseen_launches.size() && unseen_launches[at] < end ? unseen_launches[at] : kNone;
}

std::uint32_t Evidence::last_unseen(std::uint32_t begin, std::uint32_t end) const {
  const std::size_t at = count_below(unseen_launches, end);
  return at > 0 && unseen_launches[at - 1] >= begin ? unseen_launches[at - 1] : kNone;
}

}  // namespace drgpum
