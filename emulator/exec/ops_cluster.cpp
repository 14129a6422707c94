// SPDX-License-Identifier: Apache-2.0
// Thread block clusters: barrier.cluster, mapa and getctarank. An address in the shared memory of
// another block of the cluster carries that block's rank + 1 above its offset (cluster.h).

#include <bit>

#include "emulator/exec/cluster.h"
#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;

void open(Cluster& cluster) {
  for (Block* block : cluster.blocks) {
    for (auto& warp : block->warps) {
      warp->at_cluster_barrier = 0;
      for (Split& split : warp->parked) {
        if (split.state != SplitState::kAtBarrier || split.barrier != kClusterBarrier) continue;
        split.state = SplitState::kReady;
        ++split.pc;
      }
    }
  }
  cluster.arrived = 0;
}

void open_if_complete(Cluster& cluster) {
  if (cluster.arrived != 0 && cluster.arrived >= cluster.live_threads) open(cluster);
}

const Op* arrive_at_cluster(const Op* op, WarpContext& warp) {
  Cluster& cluster = *warp.block->cluster;
  if ((warp.at_cluster_barrier & warp.mask) != 0)
    return raise(warp, op, FaultKind::kIllegalInstruction,
                 static_cast<std::uint32_t>(std::countr_zero(warp.mask)),
                 "A thread arrives twice at the cluster's barrier");
  warp.at_cluster_barrier |= warp.mask;
  cluster.arrived += static_cast<std::uint32_t>(std::popcount(warp.mask));
  open_if_complete(cluster);
  return op + 1;
}

// Lanes that have arrived wait until all threads of the cluster have.
const Op* wait_for_cluster(const Op* op, WarpContext& warp) {
  if ((warp.at_cluster_barrier & warp.mask) == 0) return op + 1;
  park(warp, op, SplitState::kAtBarrier, kClusterBarrier);
  return next_split(warp);
}

constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kClusterRankShift) - 1;

// Addresses in shared memory, generic or not, to the same offset in the block of rank b.
template <typename T>
const Op* map_to_rank(const Op* op, WarpContext& warp) {
  const T* address = warp.source<T>(op->a);
  const auto* rank = warp.source<std::uint32_t>(op->b);
  const auto blocks = static_cast<std::uint32_t>(warp.block->cluster->blocks.size());
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (rank[lane] >= blocks)
      return raise(
          warp, op, FaultKind::kIllegalInstruction, lane,
          "Block " + std::to_string(rank[lane]) + " of a cluster of " + std::to_string(blocks));
  }
  store_lanes<T>(warp, op, [=](unsigned i) {
    const T window = static_cast<T>(std::uint64_t{address[i]} & ~std::uint64_t{0xffffffffu});
    return static_cast<T>(window | (address[i] & kOffsetMask) |
                          (T{rank[i]} + 1) << kClusterRankShift);
  });
  return op + 1;
}

template <typename T>
const Op* rank_of_address(const Op* op, WarpContext& warp) {
  const T* address = warp.source<T>(op->a);
  const std::uint32_t own = warp.block->rank;
  store_lanes<std::uint32_t>(warp, op, [=](unsigned i) {
    const auto rank = static_cast<std::uint32_t>(address[i]) >> kClusterRankShift;
    return rank == 0 ? own : rank - 1;
  });
  return op + 1;
}

}  // namespace

void threads_left_cluster(Cluster& cluster, WarpContext& warp, std::uint32_t lanes) {
  cluster.live_threads -= static_cast<std::uint32_t>(std::popcount(lanes));
  // Those that had arrived already are counted no more.
  cluster.arrived -= static_cast<std::uint32_t>(std::popcount(lanes & warp.at_cluster_barrier));
  warp.at_cluster_barrier &= ~lanes;
  open_if_complete(cluster);
}

bool lower_cluster_barrier(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != Opcode::kOther && in.opcode != Opcode::kBarrier && in.opcode != Opcode::kBar)
    return false;
  if (!has_word(in, "cluster")) return false;
  const bool arrives = has_word(in, "arrive");
  if (!arrives && !has_word(in, "wait")) return false;
  builder.emit(arrives ? arrive_at_cluster : wait_for_cluster);
  return true;
}

bool lower_cluster(Builder& builder, const ptx::Instruction& in) {
  const bool wide = in.type == ptx::Type::kU64;
  switch (in.opcode) {
    case Opcode::kMapa: {
      const RowOffset a = builder.source(in.sources[0], wide ? 8 : 4);
      const RowOffset b = builder.source(in.sources[1], 4);
      const RowOffset dst = builder.destination(in.destinations[0], wide ? 8 : 4);
      builder.emit(wide ? map_to_rank<std::uint64_t> : map_to_rank<std::uint32_t>, dst, a, b);
      return true;
    }
    case Opcode::kGetctarank: {
      const RowOffset a = builder.source(in.sources[0], wide ? 8 : 4);
      const RowOffset dst = builder.destination(in.destinations[0], 4);
      builder.emit(wide ? rank_of_address<std::uint64_t> : rank_of_address<std::uint32_t>, dst, a);
      return true;
    }
    default:
      return lower_cluster_barrier(builder, in);
  }
}

}  // namespace drgpum::emulator::exec
