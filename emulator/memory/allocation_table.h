// SPDX-License-Identifier: Apache-2.0
#pragma once
// The live allocations of all devices by address, and the last few that were freed.

#include <deque>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "emulator/memory/address_space.h"

namespace drgpum::emulator {

enum class BlockKind : std::uint8_t {
  kDevice,
  kManaged,
  kPinned,      // page-locked host memory that the driver allocated
  kRegistered,  // host memory of the program's own
  kMapped,      // a mapping of the virtual memory interface
  kGlobal,      // a variable of a module
  kArray,       // storage of an array
  kTool,        // a tool's own; the program has no right to it
  kHeap,        // device-side malloc
};

// Block::flags of page-locked memory that a tool allocated, beside what programs may give.
inline constexpr std::uint32_t kToolBlock = 1u << 31;

// One allocation and whose it is. Handles are opaque here.
struct Block {
  Allocation range;
  BlockKind kind = BlockKind::kDevice;
  int device = 0;
  std::uint32_t flags = 0;  // as given to the call that allocated it
  void* context = nullptr;
  void* pool = nullptr;
  void* module = nullptr;
  std::uint64_t id = 0;         // rises with every allocation of the process
  std::uint64_t footprint = 0;  // bytes of the region that it takes, rounding included
  bool reused = false;          // removed, and another block has taken some of its place

  [[nodiscard]] std::uint64_t size() const { return range.end - range.begin; }
};

// Thread safe.
class AllocationTable : public AddressSpace {
 public:
  [[nodiscard]] const Allocation* find(std::uint64_t address) const noexcept override;
  [[nodiscard]] const Allocation* nearest(std::uint64_t address) const noexcept override;

  [[nodiscard]] Block* block_at(std::uint64_t address) const noexcept;
  // The block in [begin, end) with the lowest address, or nullptr.
  [[nodiscard]] Block* first_in(std::uint64_t begin, std::uint64_t end) const noexcept;

  // All live blocks of a context, by address.
  [[nodiscard]] std::vector<Block*> blocks_of(const void* context) const;

  Block* insert(const Block& block);
  // Takes a live block out. The record stays readable as long as anyone holds a Reader.
  void remove(Block* block);

  // Held by whoever keeps what find() gave.
  class Reader {
   public:
    explicit Reader(AllocationTable& table) : table_(table) { table_.readers_.fetch_add(1); }
    ~Reader() { table_.readers_.fetch_sub(1); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    AllocationTable& table_;
  };

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Block>> live_;  // by range.begin
  std::deque<std::unique_ptr<Block>> removed_;            // youngest last
  std::atomic<int> readers_{0};
};

}  // namespace drgpum::emulator
