// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which part of the tool's device memory belongs to which launch. Bookkeeping only: the session
// asks the Sanitizer library for the memory itself.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace drgpum::profiler {

// Device addresses [address, address + bytes) in use by one launch or one table.
struct Region {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::size_t chunk = 0;
};

// Chunks are filled from front to back, so launches issued one after the other lie side by side and
// come home in one copy. What stays in use, of threads in the middle of a launch or of maps that
// wait, does not keep a chunk from the others: gaps are filled when the end is reached.
class LaunchMemory {
 public:
  explicit LaunchMemory(std::uint64_t budget) : budget_(budget) {}

  // A region of at least `bytes`; nothing when no chunk has room: then chunk_to_add() says how
  // large a new one has to be.
  std::optional<Region> reserve(std::uint64_t bytes);
  void release(const Region& region);

  // Bytes of a chunk that `bytes` would fit into, or 0 when the budget does not allow one. Powers of
  // two as far as there is room, so that requests that grow leave few chunks behind.
  [[nodiscard]] std::uint64_t chunk_to_add(std::uint64_t bytes) const;
  // Bytes of the smallest one, where the device has no room for that.
  static std::uint64_t least_chunk(std::uint64_t bytes);
  void add_chunk(std::uint64_t address, std::uint64_t bytes);

  // Takes chunks that nothing is in use of out of the books; returns their addresses.
  std::vector<std::uint64_t> drop_unused();

  [[nodiscard]] std::uint64_t total_bytes() const { return total_; }

  static constexpr std::uint64_t kAlignment = 256;
  static constexpr std::uint64_t kChunkBytes = 1 << 20;

 private:
  struct Chunk {
    std::uint64_t address;
    std::uint64_t bytes;
    std::uint64_t next;                               // offset after the newest region
    std::map<std::uint64_t, std::uint64_t> regions;  // not yet released: offset, bytes
  };
  static std::optional<std::uint64_t> place_in(const Chunk& chunk, std::uint64_t bytes);
  std::optional<Region> take(std::size_t chunk, std::uint64_t bytes);

  std::uint64_t budget_;
  std::uint64_t total_ = 0;
  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;
};

}  // namespace drgpum::profiler
