// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which object takes whose memory: a one-to-one matching of guests to hosts.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace drgpum {

// Places are calls in issue order.
struct ReuseCandidate {
  std::uint32_t object = 0;
  std::uint64_t size = 0;   // bytes
  std::uint32_t alloc = 0;  // memory is held in [alloc, end)
  std::uint32_t end = 0;
  std::uint32_t first = 0;  // accessed in [first, last]
  std::uint32_t last = 0;
  bool can_host = true;  // a leaked object cannot: it is to be freed first
};

// Whether every access of the host happens before every access of the guest.
using IsOrdered = std::function<bool(std::uint32_t host, std::uint32_t guest)>;

struct ReusePair {  // places in the candidates
  std::uint32_t host = 0;
  std::uint32_t guest = 0;
};

// Whether `guest` could take the memory of `host`: the host is done before the guest begins, still
// holds its memory when the guest is allocated, and the guest fills at least `fit` of it.
bool can_reuse(const ReuseCandidate& host, const ReuseCandidate& guest, double fit);

// At most one guest for each host and one host for each guest. Pairs that are ordered come first;
// what is left is paired without regard to order. Greedy in the order of the guests' first
// accesses; of several hosts the one freed latest, then the smallest, then the first declared,
// where at most 16 are asked whether they are ordered. O(n log n). For up to 2,000 candidates
// augmenting paths then make the number of ordered pairs, and then that of all pairs, the largest
// possible. Result in the order of the guests' places.
std::vector<ReusePair> match_reuses(std::span<const ReuseCandidate> candidates, double fit,
                                    const IsOrdered& is_ordered);

inline constexpr std::size_t kExactReuseLimit = 2000;

}  // namespace drgpum
