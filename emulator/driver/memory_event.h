// SPDX-License-Identifier: Apache-2.0
#pragma once
// What observers hear of a block of memory.

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {

// An event about the block as it is: its kind decides the flags.
MemoryEvent event_of(MemoryKind kind, const Block& block);

// The block that starts at the address, when it is of a kind that the program may free so; else
// nullptr.
Block* own_block(const DeviceMemory& memory, std::uint64_t address,
                 std::initializer_list<BlockKind> kinds);

// Whether a graph's allocation node made the memory that starts at the address, and nothing has
// freed it since.
bool is_graph_memory(const MachineCore& core, std::uint64_t address);

}  // namespace drgpum::emulator::driver
