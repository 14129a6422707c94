// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cluster: blocks that run together, meet at one more barrier and reach each other's shared
// memory.

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/exec/block.h"

namespace drgpum::emulator::exec {

// Shared addresses: bits 24 and up are 0 for the own block, else the rank + 1 of a block of the
// cluster. No block has 16 MiB of shared memory.
inline constexpr unsigned kClusterRankShift = 24;
// Split::barrier of lanes that wait for the cluster.
inline constexpr std::uint32_t kClusterBarrier = kBarriers;

// Blocks stay as they are, shared memory and all, until the last of them has finished.
struct Cluster {
  std::vector<Block*> blocks;  // by rank
  std::uint32_t live_threads = 0;
  std::uint32_t arrived = 0;
  std::uint32_t running = 0;  // blocks that have not finished
  std::vector<std::unique_ptr<Block>> finished;
};

// `lanes` of the warp have exited: the cluster's barrier no longer waits for them.
void threads_left_cluster(Cluster& cluster, WarpContext& warp, std::uint32_t lanes);

}  // namespace drgpum::emulator::exec
