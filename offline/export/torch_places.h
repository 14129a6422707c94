// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the segments and blocks of a snapshot lie. Readers take what begins in the bytes of
// something alive for its end, so that what lives at once lies apart: an object whose address is
// not known, or is another's too, gets one of its own.

#include <cstdint>
#include <map>

namespace drgpum {

struct PlacedBlock {
  std::uint32_t object = 0;
  std::uint64_t size = 0;
};

struct PlacedSegment {
  std::uint32_t object = 0;
  std::uint64_t size = 0;
  bool is_mapped = false;  // pages of an address range, which may go on in the next segment
};

// What is alive of one kind of memory.
class Places {
 public:
  // Addresses from here on are free to be given out.
  explicit Places(std::uint64_t first_free) : next_(first_free) {}

  // Returns where it lies.
  std::uint64_t add_segment(std::uint64_t address, const PlacedSegment& segment);
  // Whether [address, address + size) is within segments and no block is there.
  bool fits(std::uint64_t address, std::uint64_t size) const;
  void add_block(std::uint64_t address, const PlacedBlock& block) { blocks_[address] = block; }
  void remove_segment(std::uint64_t address) { segments_.erase(address); }
  void remove_block(std::uint64_t address) { blocks_.erase(address); }

  const std::map<std::uint64_t, PlacedSegment>& segments() const { return segments_; }
  const std::map<std::uint64_t, PlacedBlock>& blocks() const { return blocks_; }

 private:
  bool is_free(std::uint64_t address, std::uint64_t size) const;

  std::map<std::uint64_t, PlacedSegment> segments_;
  std::map<std::uint64_t, PlacedBlock> blocks_;
  std::uint64_t next_;
};

}  // namespace drgpum
