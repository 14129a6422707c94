// SPDX-License-Identifier: Apache-2.0
#pragma once
// A curve over issue order to which spans of bytes can be added and taken away, and its peak.

#include <cstdint>
#include <vector>

namespace drgpum {

// A segment tree with range addition and range maximum, over the places where the curve may
// change. Sums are kept modulo 2^64 and compared as signed: right below 2^63 bytes.
class LiveTree {
 public:
  // `places`: every call at which a span may begin or end; any order, repeats allowed.
  explicit LiveTree(const std::vector<std::uint32_t>& places);

  // Adds `bytes` (may be negative) from call `begin` to call `end`, both among the places.
  // O(log n).
  void add(std::uint32_t begin, std::uint32_t end, std::int64_t bytes);
  // Between the two calls additions only gather; then all take effect at once. O(n), where as many
  // single additions take O(n log n) and far more memory traffic.
  void begin_batch();
  void end_batch();

  std::int64_t peak() const { return best_[1]; }
  std::int64_t peak_within(std::uint32_t begin, std::uint32_t end) const;
  // No less than peak_within(begin, end), and quickly: of whole blocks of slots, as they were when
  // bounds were last taken.
  void take_bounds();
  std::int64_t bound_within(std::uint32_t begin, std::uint32_t end) const;
  // A call at which the curve is at its peak: the first place from which it is.
  std::uint32_t place_of_peak() const;

 private:
  void rebuild_above(std::size_t node);

  std::vector<std::uint32_t> slot_;   // by call: the slot of the span that begins there
  std::vector<std::uint32_t> place_;  // by slot
  std::size_t leaves_ = 1;
  std::vector<std::int64_t> best_;     // of the node's span, additions above it left out
  std::vector<std::int64_t> pending_;  // added to all of the node's span
  std::vector<std::int64_t> change_;   // by slot: of a batch, from there on
  bool in_batch_ = false;
  std::vector<std::vector<std::int64_t>> bounds_;  // by power of two: the highest of that many blocks
};

}  // namespace drgpum
