// SPDX-License-Identifier: Apache-2.0
// Launches: worker threads take blocks, run their warps in turns, and keep blocks that wait for
// others resident.

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <thread>

#include <fmt/format.h>

#include "emulator/exec/cluster.h"
#include "emulator/exec/float_mode.h"

namespace drgpum::emulator::exec {
namespace {

// A block whose warps all only spin lets others in after this many rounds.
constexpr unsigned kPatience = 8;
constexpr std::size_t kMaxResident = 4096;

// A bijection on [0, count) that depends on the seed: cycle-walking over a Feistel network.
std::uint64_t permuted(std::uint64_t value, std::uint64_t count, std::uint64_t seed) {
  if (seed == 0 || count < 2) return value;
  const unsigned half = (static_cast<unsigned>(std::bit_width(count - 1)) + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = value >> half, right = value & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      std::uint64_t mixed = (right + round) * 0x9e3779b97f4a7c15u + seed;
      mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
      left ^= (mixed >> 32) & mask;
      std::swap(left, right);
    }
    value = (left << half) | right;
  } while (value >= count);
  return value;
}

Dim3 block_index(std::uint64_t number, const Dim3& grid) {
  return {static_cast<std::uint32_t>(number % grid.x),
          static_cast<std::uint32_t>(number / grid.x % grid.y),
          static_cast<std::uint32_t>(number / grid.x / grid.y)};
}

void place_threads(Launch& launch) {
  const Dim3& block = launch.config->block;
  const std::uint32_t threads = launch.threads_per_block;
  launch.geometry.resize((threads + kLanes - 1) / kLanes);
  for (std::uint32_t t = 0; t < launch.geometry.size() * kLanes; ++t) {
    WarpGeometry& warp = launch.geometry[t / kLanes];
    const std::uint32_t lane = t % kLanes;
    warp.thread[0][lane] = t % block.x;
    warp.thread[1][lane] = t / block.x % block.y;
    warp.thread[2][lane] = t / block.x / block.y;
    if (t < threads) warp.mask |= 1u << lane;
  }
}

std::string describe_wait(const Block& block, const Split& split) {
  if (split.barrier == kClusterBarrier)
    return fmt::format(
        "Deadlock: every thread of the cluster waits, {} of {} at its barrier; the"
        " wait",
        block.cluster->arrived, block.cluster->live_threads);
  const Barrier& barrier = block.barriers[split.barrier];
  const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block.live_threads;
  return fmt::format("Deadlock: every thread of the block waits, {} of {} at barrier {}; the wait",
                     barrier.arrived, expected, split.barrier);
}

class BlockRunner {
 public:
  BlockRunner(Launch& launch, Worker& worker) : launch_(launch), worker_(worker) {}

  // Runs blocks until there are none left or the launch is halted.
  void run();

 private:
  enum class Progress { kFinished, kAdvanced, kSpinning, kHalted };

  bool take_cluster();
  std::unique_ptr<Block> make_block();
  void start(Block& block, std::uint64_t number);
  void finish(std::unique_ptr<Block> block);
  void start_warp(Block& block, WarpContext& warp, const LoweredFunction& entry);
  void enter_block(WarpContext& warp);
  Progress run_round(Block& block);
  bool unstick_block(Block& block);
  static bool cluster_can_run(const Cluster& cluster);
  void raise_deadlock(Block& block);
  bool halted();

  Launch& launch_;
  Worker& worker_;
  std::vector<std::unique_ptr<Block>> spare_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<Cluster*> spare_clusters_;
  std::deque<std::unique_ptr<Block>> resident_;
};

bool BlockRunner::halted() {
  const std::atomic<bool>* cancel = launch_.config->cancel;
  if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
    const std::scoped_lock lock(launch_.mutex);
    if (!launch_.fault) {
      const KernelImage& image = *launch_.image;
      launch_.fault = Fault{};
      launch_.fault->kind = FaultKind::kTimeout;
      launch_.fault->kernel = image.executable().program().functions[image.entry()].name;
      launch_.fault->text = "kernel " + launch_.fault->kernel + " was cancelled";
    }
    launch_.halted.store(true, std::memory_order_relaxed);
  }
  return launch_.halted.load(std::memory_order_relaxed);
}

std::unique_ptr<Block> BlockRunner::make_block() {
  if (!spare_.empty()) {
    std::unique_ptr<Block> block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }
  auto block = std::make_unique<Block>();
  block->shared.resize(launch_.shared_bytes);
  block->warps.resize(launch_.geometry.size());
  for (std::uint32_t i = 0; i < block->warps.size(); ++i) {
    block->warps[i] = std::make_unique<WarpContext>();
    block->warps[i]->index = i;
  }
  return block;
}

// Makes the blocks of the next cluster resident, the first to run in front; false: none are left.
bool BlockRunner::take_cluster() {
  const std::uint64_t next = launch_.next_cluster.fetch_add(1, std::memory_order_relaxed);
  if (next >= launch_.cluster_count) return false;
  if (spare_clusters_.empty()) {
    clusters_.push_back(std::make_unique<Cluster>());
    spare_clusters_.push_back(clusters_.back().get());
  }
  Cluster* cluster = spare_clusters_.back();
  spare_clusters_.pop_back();
  const Dim3& shape = launch_.config->cluster;
  const Dim3& grid = launch_.config->grid;
  const Dim3 place =
      block_index(permuted(next, launch_.cluster_count, launch_.config->schedule_seed),
                  {grid.x / shape.x, grid.y / shape.y, grid.z / shape.z});
  const std::uint32_t count = shape.x * shape.y * shape.z;
  cluster->blocks.clear();
  cluster->arrived = 0;
  cluster->running = count;
  cluster->live_threads = count * launch_.threads_per_block;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    std::unique_ptr<Block> block = make_block();
    const Dim3 within = block_index(rank, shape);
    block->cluster = cluster;
    block->rank = rank;
    block->index = {place.x * shape.x + within.x, place.y * shape.y + within.y,
                    place.z * shape.z + within.z};
    start(*block, next * count + rank);
    cluster->blocks.push_back(block.get());
    resident_.insert(resident_.begin() + rank, std::move(block));
  }
  return true;
}

// The shared memory of a finished block stays until its cluster has finished.
void BlockRunner::finish(std::unique_ptr<Block> block) {
  Cluster* cluster = block->cluster;
  cluster->finished.push_back(std::move(block));
  if (--cluster->running != 0) return;
  for (auto& finished : cluster->finished)
    spare_.push_back(std::move(finished));
  cluster->finished.clear();
  spare_clusters_.push_back(cluster);
}

void BlockRunner::start(Block& block, std::uint64_t number) {
  block.live_threads = launch_.threads_per_block;
  block.started = 0;
  block.barriers.fill(Barrier{});
  if (!block.shared.empty()) std::memset(block.shared.data(), 0, block.shared.size());
  const LoweredFunction& entry = launch_.image->function(launch_.image->entry());
  block.order.resize(block.warps.size());
  const std::uint64_t seed = launch_.config->schedule_seed;
  for (std::uint32_t i = 0; i < block.order.size(); ++i)
    block.order[i] =
        static_cast<std::uint32_t>(permuted(i, block.order.size(), seed == 0 ? 0 : seed + number));
  for (auto& warp : block.warps)
    start_warp(block, *warp, entry);
}

void BlockRunner::start_warp(Block& block, WarpContext& warp, const LoweredFunction& entry) {
  warp.worker = &worker_;
  warp.block = &block;
  warp.parent = nullptr;
  warp.live = launch_.geometry[warp.index].mask;
  warp.mask = warp.live;
  warp.budget = kTimeSlice;
  warp.stop = Stop::kNone;
  warp.at_cluster_barrier = 0;
  warp.force_sync = false;
  warp.entered = false;
  warp.issued = 0;
  warp.slept_ns = 0;
  warp.hooked_spaces = launch_.hooked_spaces;
  warp.parked.clear();
  for (auto& record : warp.records)
    record->live = false;
  warp.frames.clear();
  if (warp.local_stride < entry.local_bytes) grow_local(warp, entry.local_bytes);
  Frame* frame = warp.frames.push(entry, entry.frame_bytes);
  frame->local_end = entry.local_bytes;
  warp.set_frame(frame);
  warp.parked.push_back({entry.ops.data(), warp.live, SplitState::kReady, 0, nullptr, frame});
}

void BlockRunner::enter_block(WarpContext& warp) {
  if (warp.entered) return;
  warp.entered = true;
  AccessHook* hook = launch_.config->hook;
  if (hook == nullptr || !hook->wants_blocks()) return;
  warp.mask = warp.live;
  hook->on_block_enter(warp, pc_of(warp, warp.parked[0].pc), warp.live);
}

BlockRunner::Progress BlockRunner::run_round(Block& block) {
  bool finished = true, advanced = false, runnable = false;
  for (const std::uint32_t i : block.order) {
    WarpContext& warp = *block.warps[i];
    if (warp.stop == Stop::kDone) continue;
    finished = false;
    const bool ready = std::any_of(warp.parked.begin(), warp.parked.end(),
                                   [](const Split& s) { return s.state == SplitState::kReady; });
    if (!ready) continue;
    runnable = true;
    enter_block(warp);
    if (worker_.epoch != launch_.memory->epoch()) {
      worker_.epoch = launch_.memory->epoch();
      worker_.cache.fill({});
    }
    run_warp(warp);
    advanced = advanced || warp.stop != Stop::kYield || !warp.spin_seen;
    if (warp.stop == Stop::kFault || halted()) return Progress::kHalted;
  }
  if (finished) return Progress::kFinished;
  if (!runnable) {
    if (unstick_block(block)) return Progress::kAdvanced;
    if (cluster_can_run(*block.cluster)) return Progress::kSpinning;
    raise_deadlock(block);
    return Progress::kHalted;
  }
  return advanced ? Progress::kAdvanced : Progress::kSpinning;
}

bool BlockRunner::unstick_block(Block& block) {
  return std::any_of(block.warps.begin(), block.warps.end(),
                     [](const auto& warp) { return unstick(*warp); });
}

bool BlockRunner::cluster_can_run(const Cluster& cluster) {
  const auto is_ready = [](const Split& split) { return split.state == SplitState::kReady; };
  return std::any_of(cluster.blocks.begin(), cluster.blocks.end(), [&](const Block* block) {
    return std::any_of(block->warps.begin(), block->warps.end(), [&](const auto& warp) {
      return std::any_of(warp->parked.begin(), warp->parked.end(), is_ready);
    });
  });
}

void BlockRunner::raise_deadlock(Block& block) {
  for (auto& warp : block.warps) {
    if (warp->live == 0 || warp->parked.empty()) continue;
    const Split& split = warp->parked[0];
    warp->set_frame(split.frame);
    raise(*warp, split.pc, FaultKind::kBarrierDeadlock,
          static_cast<std::uint32_t>(std::countr_zero(split.mask)), describe_wait(block, split));
    return;
  }
}

void BlockRunner::run() {
  const unsigned patience = launch_.config->cooperative ? 1 : kPatience;
  unsigned spun = 0;
  for (;;) {
    if (resident_.empty() || (spun >= patience && resident_.size() < kMaxResident)) {
      const bool more = !halted() && take_cluster();
      if (!more && resident_.empty()) return;
      spun = 0;
    }
    std::unique_ptr<Block> block = std::move(resident_.front());
    resident_.pop_front();
    switch (run_round(*block)) {
      case Progress::kHalted:
        return;
      case Progress::kFinished:
        finish(std::move(block));
        spun = 0;
        break;
      case Progress::kAdvanced:
        resident_.push_front(std::move(block));
        spun = 0;
        break;
      case Progress::kSpinning:
        // The others that are resident get their turn.
        resident_.push_back(std::move(block));
        ++spun;
        break;
    }
  }
}

void add_stats(LaunchStats& stats, const Worker& worker) {
  const Work& work = worker.work;
  stats.warp_instructions += work.warp_instructions;
  stats.lane_instructions += work.lanes[0];
  stats.fp32_lane_ops += work.lanes[1];
  stats.fp64_lane_ops += work.lanes[2];
  stats.integer_lane_ops += work.lanes[3];
  stats.global_sectors += work.global_sectors;
  stats.global_bytes += work.global_bytes;
  stats.shared_wavefronts += work.shared_wavefronts;
}

// The top bit stands for no space: device malloc and free.
std::uint64_t hooked_spaces(const AccessHook* hook) {
  if (hook == nullptr) return 0;
  return hook->wanted_spaces() | (hook->wants_heap() ? std::uint64_t{1} << 63 : 0);
}

void work(Launch& launch, Worker& worker) {
  const std::uint32_t host_mode = _mm_getcsr();
  _mm_setcsr(kDefaultMxcsr);
  worker.launch = &launch;
  BlockRunner(launch, worker).run();
  _mm_setcsr(host_mode);
}

}  // namespace

void grow_local(WarpContext& warp, std::uint32_t needed) {
  // An odd number of cache lines keeps lanes off the same cache sets.
  const std::uint32_t lines = (needed + 63) / 64 | 1;
  auto grown = std::make_unique<std::byte[]>(std::size_t{lines} * 64 * kLanes);
  for (unsigned lane = 0; lane < kLanes && warp.local_stride != 0; ++lane)
    std::memcpy(grown.get() + std::size_t{lane} * lines * 64,
                warp.local.get() + std::size_t{lane} * warp.local_stride, warp.local_stride);
  warp.local = std::move(grown);
  warp.local_stride = lines * 64;
}

Frame* enter_function(WarpContext& warp, const Op* op, const LoweredFunction& callee) {
  const std::uint32_t base = warp.frame->local_end;
  const std::uint32_t end = base + callee.local_bytes;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(warp.mask));
  if (end > kMaxLocalBytes || warp.frames.depth() > kMaxDepth) {
    raise(warp, op, FaultKind::kStackOverflow, lane,
          fmt::format("Stack overflow: {} nested calls use {} bytes of local memory",
                      warp.frames.depth(), end));
    return nullptr;
  }
  if (end > warp.local_stride) grow_local(warp, std::max(end, 2 * warp.local_stride));
  Reconvergence* record = make_record(warp);
  record->reconverge = op + 1;
  record->mask = warp.mask;
  record->parent = warp.parent;
  record->frame = warp.frame;
  Frame* frame = warp.frames.push(callee, callee.frame_bytes);
  frame->caller = warp.frame;
  frame->record = record;
  frame->local_base = base;
  frame->local_end = end;
  record->callee = frame;
  warp.parent = record;
  warp.set_frame(frame);
  return frame;
}

LaunchResult launch(const Executable& executable, const LaunchConfig& config,
                    AddressSpace& memory) {
  const auto& impl = static_cast<const ExecutableImpl&>(executable);
  Launch launch;
  launch.config = &config;
  launch.image = &impl.image(config.function);
  launch.memory = &memory;
  launch.parameters.assign(config.parameters.begin(), config.parameters.end());
  launch.parameters.resize(std::max<std::size_t>(
      launch.parameters.size(), impl.program().functions[config.function].parameter_bytes));
  launch.threads_per_block = config.block.x * config.block.y * config.block.z;
  const std::uint64_t blocks = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
  const std::uint64_t per_cluster =
      std::uint64_t{config.cluster.x} * config.cluster.y * config.cluster.z;
  launch.cluster_count = blocks / per_cluster;
  launch.shared_bytes = launch.image->static_shared_bytes();
  if (config.dynamic_shared_bytes != 0)
    launch.shared_bytes = launch.image->dynamic_shared_offset() + config.dynamic_shared_bytes;
  const auto workers = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      config.workers, 1, std::max<std::uint64_t>(launch.cluster_count, 1)));
  launch.shared_atomics = workers > 1;
  place_threads(launch);
  launch.hooked_spaces = hooked_spaces(config.hook);
  std::vector<Worker> states(workers);
  if (launch.hooked_spaces != 0)
    for (Worker& worker : states)
      worker.paths.resize(Worker::kCacheEntries);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i < workers; ++i)
    threads.emplace_back([&, i] { work(launch, states[i]); });
  work(launch, states[0]);
  for (std::thread& thread : threads)
    thread.join();
  LaunchResult result;
  result.fault = std::move(launch.fault);
  for (const Worker& worker : states)
    add_stats(result.stats, worker);
  result.stats.blocks = std::min(launch.next_cluster.load(), launch.cluster_count) * per_cluster;
  result.stats.warps = result.stats.blocks * launch.geometry.size();
  return result;
}

}  // namespace drgpum::emulator::exec
