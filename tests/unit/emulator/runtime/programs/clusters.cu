// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks: their barrier, each other's shared memory, ranks and shapes. Prints "right".

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace {

int failures = 0;

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

void expect(const char* what, int i, long long found, long long wanted) {
  if (found == wanted) return;
  if (++failures < 20) std::printf("%s at %d: %lld, not %lld\n", what, i, found, wanted);
}

constexpr int kBins = 96;

// Each block of the cluster holds a part of the bins; all add to all parts.
__global__ void histogram(const int* values, int count, int* bins) {
  __shared__ int part[kBins];
  cg::cluster_group cluster = cg::this_cluster();
  const int per_block = kBins / static_cast<int>(cluster.num_blocks());
  for (int i = threadIdx.x; i < kBins; i += blockDim.x)
    part[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int bin = values[i];
    int* home = cluster.map_shared_rank(part, bin / per_block);
    atomicAdd(home + bin % per_block, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x)
    atomicAdd(&bins[cluster.block_rank() * per_block + i], part[i]);
}

// Compiled for clusters of (2, 2): a ring that hands values on, through plain loads and stores.
__global__ void __cluster_dims__(2, 2, 1) ring(int* out) {
  __shared__ int mine;
  __shared__ int from_left;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  const dim3 place = cluster.block_index();
  if (threadIdx.x == 0) mine = 100 * (blockIdx.y * gridDim.x + blockIdx.x) + rank;
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(std::move(token));
  if (threadIdx.x == 0) {
    *cluster.map_shared_rank(&from_left, (rank + 1) % blocks) = mine;
    const int across = *cluster.map_shared_rank(&mine, (rank + 2) % blocks);
    out[4 * (blockIdx.y * gridDim.x + blockIdx.x) + 1] = across;
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    int* row = out + 4 * (blockIdx.y * gridDim.x + blockIdx.x);
    row[0] = from_left;
    row[2] = static_cast<int>(place.y * 2 + place.x - rank);
    row[3] = cluster.query_shared_rank(cluster.map_shared_rank(&mine, 3));
  }
}

void try_histogram() {
  std::vector<int> values(5000), wanted(kBins, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i * i % kBins);
    ++wanted[values[i]];
  }
  int *from = nullptr, *bins = nullptr;
  CHECK(cudaMalloc(&from, values.size() * sizeof(int)));
  CHECK(cudaMalloc(&bins, kBins * sizeof(int)));
  CHECK(cudaMemcpy(from, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
  for (const unsigned blocks : {1u, 2u, 4u, 8u}) {
    CHECK(cudaMemset(bins, 0, kBins * sizeof(int)));
    cudaLaunchConfig_t config{};
    config.gridDim = 16;
    config.blockDim = 64;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config));
    if (clusters < 1) expect("active clusters", static_cast<int>(blocks), clusters, 1);
    CHECK(cudaLaunchKernelEx(&config, histogram, static_cast<const int*>(from), static_cast<int>(values.size()), bins));
    std::vector<int> found(kBins);
    CHECK(cudaMemcpy(found.data(), bins, kBins * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < kBins; ++i)
      expect("bin", i, found[i], wanted[i]);
  }
}

void try_ring() {
  constexpr int kWide = 4, kHigh = 6;
  int* out = nullptr;
  CHECK(cudaMalloc(&out, kWide * kHigh * 4 * sizeof(int)));
  ring<<<dim3(kWide, kHigh), 32>>>(out);
  CHECK(cudaGetLastError());
  std::vector<int> found(kWide * kHigh * 4);
  CHECK(cudaMemcpy(found.data(), out, found.size() * sizeof(int), cudaMemcpyDeviceToHost));
  const auto block_of = [](int x, int y, int rank) {
    return (y / 2 * 2 + rank / 2) * kWide + x / 2 * 2 + rank % 2;
  };
  for (int y = 0; y < kHigh; ++y)
    for (int x = 0; x < kWide; ++x) {
      const int block = y * kWide + x, rank = y % 2 * 2 + x % 2;
      const int left = (rank + 3) % 4, across = (rank + 2) % 4;
      expect("left", block, found[4 * block], 100 * block_of(x, y, left) + left);
      expect("across", block, found[4 * block + 1], 100 * block_of(x, y, across) + across);
      expect("place", block, found[4 * block + 2], 0);
      expect("rank", block, found[4 * block + 3], 3);
    }
  ring<<<dim3(3, 2), 32>>>(out);  // no multiple of the cluster
  expect("uneven grid", 0, cudaGetLastError(), cudaErrorInvalidClusterSize);
}

}  // namespace

int main() {
  try_histogram();
  try_ring();
  CHECK(cudaDeviceSynchronize());
  if (failures == 0) std::puts("right");
  return failures == 0 ? 0 : 1;
}
